package conformance

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coregx/ahocorasick"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/stretchr/testify/require"
)

// BenchmarkKnownValues finds 100 values in 100 KB of source code that has none
// of them: redact in all their spellings, the others as they are. Of the
// Aho-Corasick libraries tried, the one here was the fastest.
func BenchmarkKnownValues(b *testing.B) {
	text := sourceCode(b, 100<<10)
	random := rand.New(rand.NewPCG(1, 2))
	var values []redact.Value
	var plain, replaced []string
	for i := range 100 {
		key := fmt.Sprintf("sk-%016x+/%016x", random.Uint64(), random.Uint64())
		values = append(values, redact.Value{Name: fmt.Sprint("key", i), Secret: redact.NewSecret(key)})
		plain, replaced = append(plain, key), append(replaced, key, "[REDACTED]")
	}
	known, err := redact.New(values...)
	require.NoError(b, err)
	known = known.WithRules(redact.NoRules)
	library, err := ahocorasick.NewBuilder().AddStrings(plain).SetMatchKind(ahocorasick.LeftmostLongest).Build()
	require.NoError(b, err)
	replacer := strings.NewReplacer(replaced...)
	for name, find := range map[string]func(){
		"redact":              func() { known.Text(text, nil) },
		"coregx/ahocorasick":  func() { library.FindAllOverlapping([]byte(text)) },
		"strings.NewReplacer": func() { replacer.Replace(text) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				find()
			}
		})
	}
}

// sourceCode is n bytes of our own.
func sourceCode(b *testing.B, n int) string {
	b.Helper()
	files, err := filepath.Glob("../session/*.go")
	require.NoError(b, err)
	var text strings.Builder
	for i := 0; text.Len() < n; i++ {
		source, err := os.ReadFile(files[i%len(files)])
		require.NoError(b, err)
		text.Write(source)
	}
	return text.String()[:n]
}
