package redact_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/redact"
)

func keys(n int) []redact.Value {
	rnd := rand.New(rand.NewPCG(1, 2))
	out := make([]redact.Value, n)
	for i := range out {
		key := fmt.Sprintf("sk-%016x+/%016x", rnd.Uint64(), rnd.Uint64())
		out[i] = redact.Value{Name: fmt.Sprint("key", i), Secret: redact.NewSecret(key)}
	}
	return out
}

// knowing returns a Redactor of n keys, and of rules.
func knowing(tb testing.TB, n int, rules redact.Rules) *redact.Redactor {
	tb.Helper()
	r, err := redact.New(keys(n)...)
	require.NoError(tb, err)
	return r.WithRules(rules)
}

// code is n bytes of source code, our own, without the lines that redaction
// would change.
func code(tb testing.TB, n int) string {
	tb.Helper()
	files, err := filepath.Glob("../session/*.go")
	require.NoError(tb, err)
	require.NotEmpty(tb, files)
	r := knowing(tb, 0, redact.StrictRules)
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		source, err := os.ReadFile(files[i%len(files)])
		require.NoError(tb, err)
		for line := range strings.Lines(string(source)) {
			if !r.Contains(line) {
				b.WriteString(line)
			}
		}
	}
	return b.String()[:n]
}

func BenchmarkNew(b *testing.B) {
	for _, n := range []int{1, 100, 1000} {
		values := keys(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := redact.New(values...); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkText is of clean text: 100 values in all their spellings, the
// rules, and both, beside what a copy and a search for one byte take.
func BenchmarkText(b *testing.B) {
	for _, n := range []int{2 << 10, 100 << 10, 10 << 20} {
		text := code(b, n)
		for name, r := range map[string]*redact.Redactor{
			"values": knowing(b, 100, redact.NoRules), "rules": knowing(b, 0, redact.DefaultRules), "both": knowing(b, 100, redact.DefaultRules),
		} {
			b.Run(fmt.Sprintf("%s, %d", name, n), func(b *testing.B) {
				b.SetBytes(int64(n))
				b.ReportAllocs()
				for b.Loop() {
					r.Text(text, nil)
				}
			})
		}
		floors(b, text)
	}
}

func floors(b *testing.B, text string) {
	raw := []byte(text)
	b.Run(fmt.Sprintf("floor, a copy, %d", len(text)), func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			copy(raw, text)
		}
	})
	b.Run(fmt.Sprintf("floor, IndexByte, %d", len(text)), func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			bytes.IndexByte(raw, 0xff)
		}
	})
}

func BenchmarkLeakyText(b *testing.B) {
	r := knowing(b, 100, redact.DefaultRules)
	text := code(b, 100<<10)
	leaky := strings.ReplaceAll(text, "Handler", keys(8)[7].Secret.Reveal())
	b.SetBytes(int64(len(leaky)))
	for b.Loop() {
		r.Text(leaky, nil)
	}
}

// BenchmarkHostile shows the cost of a byte not to rise with the length.
func BenchmarkHostile(b *testing.B) {
	values, err := redact.New(hostileValues()...)
	require.NoError(b, err)
	rules := knowing(b, 100, redact.StrictRules)
	for _, n := range []int{10_000, 1_000_000} {
		for name, text := range hostileTexts(n) {
			benchmarkOne(b, fmt.Sprintf("values/%s, %d", name, n), values, text)
		}
		for piece, text := range hostileKeys(n) {
			benchmarkOne(b, fmt.Sprintf("rules/%s, %d", piece, n), rules, text)
		}
	}
}

func benchmarkOne(b *testing.B, name string, r *redact.Redactor, text string) {
	b.Run(name, func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			r.Text(text, nil)
		}
	})
}

func BenchmarkJSON(b *testing.B) {
	r := knowing(b, 100, redact.DefaultRules)
	raw := []byte(`[` + strings.Repeat(`{"role":"user","text":"one\ntwo"},`, 3000) + `0]`)
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		r.JSON(raw, nil)
	}
}

// BenchmarkStreamDelta is of source code in deltas of four bytes.
func BenchmarkStreamDelta(b *testing.B) {
	text := code(b, 1<<20)
	for name, r := range map[string]*redact.Redactor{
		"values": knowing(b, 100, redact.NoRules), "rules": knowing(b, 0, redact.DefaultRules), "both": knowing(b, 100, redact.DefaultRules),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			s, i := r.Stream(), 0
			for b.Loop() {
				s.Write(text[i : i+4])
				i = (i + 4) % len(text)
			}
		})
	}
	b.Run("floor, a copy", func(b *testing.B) {
		var out []byte
		i := 0
		for b.Loop() {
			out = append(out[:0], text[i:i+4]...)
			i = (i + 4) % len(text)
		}
	})
}

// heldBack is how many bytes are held back after each delta of four, sorted.
func heldBack(r *redact.Redactor, text string) []int {
	s, in, out := r.Stream(), 0, 0
	var held []int
	for i := 0; i+4 <= len(text); i += 4 {
		out += len(s.Write(text[i : i+4]))
		in += 4
		held = append(held, in-out)
	}
	slices.SortFunc(held, cmp.Compare[int])
	return held
}

func TestStreamHoldsLittleBackOfSourceCode(t *testing.T) {
	held := heldBack(knowing(t, 100, redact.DefaultRules), code(t, 1<<20))
	t.Logf("nothing after %d of %d deltas, p99 %d, most %d", slices.IndexFunc(held, func(n int) bool { return n > 0 }), len(held), held[len(held)*99/100], held[len(held)-1])
	require.LessOrEqual(t, held[len(held)*99/100], 2)
}
