package redact

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// regexp writes the rule as a regular expression, but for what must stand
// before its keyword.
func (r *rule) regexp() string {
	quoted := make([]string, len(r.keywords))
	for i, k := range r.keywords {
		quoted[i] = regexp.QuoteMeta(k)
	}
	out := "(?:" + strings.Join(quoted, "|") + ")"
	if r.fold {
		out = "(?i)" + out
	}
	for _, p := range r.parts {
		switch {
		case p.run == nil:
			out += regexp.QuoteMeta(p.literal)
		case p.before != 0:
			out += fmt.Sprintf("%s+%c", p.run.regexp(), p.before)
		case p.max > 0:
			out += fmt.Sprintf("%s{%d,%d}", p.run.regexp(), p.min, p.max)
		default:
			out += fmt.Sprintf("%s{%d,}", p.run.regexp(), p.min)
		}
	}
	return out
}

func (c *class) regexp() string {
	var b strings.Builder
	for i := range 128 {
		if c[i] {
			fmt.Fprintf(&b, `\x%02x`, i)
		}
	}
	if c[200] {
		b.WriteString(`\x{80}-\x{10ffff}`)
	}
	return "[" + b.String() + "]"
}

func TestRulesAsRegexpsFindTheirExamples(t *testing.T) {
	for _, r := range strictRules().rules {
		re := regexp.MustCompile(r.regexp())
		found := false
		for _, e := range examples[r.name] {
			found = found || re.MatchString(e.before+e.secret+e.after)
		}
		assert.True(t, found, r.name)
	}
}

// BenchmarkRules are the rules as they are, beside a regular expression for
// each, on 100 KB of source code.
func BenchmarkRules(b *testing.B) {
	source, err := os.ReadFile("../session/session.go")
	require.NoError(b, err)
	text := strings.Repeat(string(source), 20)[:100<<10]
	b.Run("rules", func(b *testing.B) {
		r := (*Redactor)(nil).WithRules(DefaultRules)
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			r.Contains(text)
		}
	})
	b.Run("a regexp for each", func(b *testing.B) {
		var all []*regexp.Regexp
		for _, r := range defaultRules().rules {
			all = append(all, regexp.MustCompile(r.regexp()))
		}
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			for _, re := range all {
				re.FindAllStringIndex(text, -1)
			}
		}
	})
}
