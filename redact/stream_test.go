package redact_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/redact"
)

func TestStreamShowsAtOnceWhatIsDecided(t *testing.T) {
	r := redactor(t, value("", "abcdefgh"), value("", "abcdefghij"), short("", "pin")).WithRules(redact.NoRules)
	for name, c := range map[string]struct{ chunks, shown []string }{
		"clean text":                     {[]string{"one ", "two"}, []string{"one ", "two", ""}},
		"the beginning of a value waits": {[]string{"xab", "c", "x"}, []string{"x", "", "abcx", ""}},
		"only the last one may wait":     {[]string{"abcabc"}, []string{"abc", "abc"}},
		"a decided value":                {[]string{"abcdefgh", "x"}, []string{"", "[REDACTED]x", ""}},
		"a longer one":                   {[]string{"abcdefgh", "ij", "x"}, []string{"", "[REDACTED]", "x", ""}},
		"one marker for what touches":    {[]string{"abcdefghij", "abcdefghij", "x"}, []string{"[REDACTED]", "", "x", ""}},
		"a short value waits for a byte": {[]string{"a pin", " pin", "s"}, []string{"a ", "[REDACTED] ", "pins", ""}},
		"half a character waits":         {[]string{"x\xc3", "\xa9"}, []string{"x", "é", ""}},
		"empty chunks":                   {[]string{"", "ab", "", "x"}, []string{"", "", "", "abx", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			s := r.Stream()
			var shown []string
			for _, chunk := range c.chunks {
				shown = append(shown, s.Write(chunk))
			}
			assert.Equal(t, c.shown, append(shown, s.Flush()))
		})
	}
}

func TestStreamCutOffAtTheEnd(t *testing.T) {
	const secret = "sk-0123456789zyxwvutsrq" // 23 bytes
	r := redactor(t, value("k", secret), value("", "abcdefgh"))
	for name, c := range map[string]struct {
		tail  int
		shown string
	}{
		"under half of it":     {11, "sk-01234567"},
		"half of it":           {12, "[REDACTED:k]"},
		"all but a byte":       {22, "[REDACTED:k]"},
		"all of it":            {23, "[REDACTED:k]"},
		"nothing":              {0, ""},
		"a byte of beginning":  {1, "s"},
		"four, a common start": {4, "sk-0"},
	} {
		t.Run(name, func(t *testing.T) {
			s := r.Stream()
			shown := s.Write("x " + secret[:c.tail])
			assert.Equal(t, "x "+c.shown, shown+s.Flush())
			if c.tail < len(secret) {
				assert.Equal(t, "x "+secret[:c.tail], r.Text("x "+secret[:c.tail], nil), "Text leaves a beginning")
			}
		})
	}
	t.Run("seven of eight bytes are under the least", func(t *testing.T) {
		s := r.Stream()
		assert.Equal(t, "abcdefg", s.Write("abcdefg")+s.Flush())
	})
	t.Run("a short value ends where it begins", func(t *testing.T) {
		with, err := r.With(short("n", "pin"))
		require.NoError(t, err)
		s := with.Stream()
		shown := s.Write("pin" + secret[:15] + ". pin" + secret[:15])
		assert.Equal(t, "pin"+secret[:15]+". [REDACTED:n]", shown+s.Flush())
	})
	t.Run("glued to a value: one marker", func(t *testing.T) {
		s := r.Stream()
		assert.Equal(t, "[REDACTED]", s.Write("abcdefgh"+secret[:15])+s.Flush())
		assert.Equal(t, []redact.Count{{Name: "", Count: 1}}, s.Tally().Counts())
	})
}

func TestStreamBeginsAnewAfterFlush(t *testing.T) {
	r := redactor(t, value("k", "abcdefgh"))
	s := r.Stream()
	assert.Equal(t, "abcd", s.Write("abcd")+s.Flush())
	assert.Equal(t, "efgh", s.Write("efgh")+s.Flush())
	assert.Equal(t, "[REDACTED:k]", s.Write("abcdefgh")+s.Flush())
	assert.Equal(t, []redact.Count{{Name: "k", Count: 1}}, s.Tally().Counts())
}

func TestHostileTextIsRedactedRight(t *testing.T) {
	r := redactor(t, hostileValues()...)
	for _, text := range hostileTexts(100_000) {
		text += "."
		s := r.Stream()
		var out strings.Builder
		for chunk := range strings.SplitAfterSeq(text, "b") {
			out.WriteString(s.Write(chunk))
		}
		out.WriteString(s.Flush())
		assert.True(t, r.Text(text, nil) == out.String(), "a stream is the whole")
	}
}

// hostileValues are such that hostileTexts begin many of them all the time.
func hostileValues() []redact.Value {
	return []redact.Value{
		value("", strings.Repeat("a/", 500)+"!"),
		value("", strings.Repeat("ab", 300)+"!"),
		value("", strings.Repeat("ab", 10_000)+"!"),
		short("", "a"),
	}
}

// A value of which a text has the beginning over and over costs no more for
// being long.
func TestHostileTextForALongValue(t *testing.T) {
	r := redactor(t, value("k", strings.Repeat("ab", 50_000)+"!"))
	text := strings.Repeat("ab", 500_000)
	assert.False(t, r.Contains(text))
	assert.Equal(t, text[:900_000]+"[REDACTED:k]", r.Text(text+"!", nil))
}

func hostileTexts(n int) map[string]string {
	return map[string]string{
		"beginnings":     strings.Repeat("ab", n/2),
		"short values":   strings.Repeat("a/", n/2),
		"whole values":   strings.Repeat(strings.Repeat("a/", 500)+"!", n/1001),
		"all but a byte": strings.Repeat(strings.Repeat("ab", 300)+"?", n/601),
	}
}
