package plain_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/prism-rpc/prism-rpc/internal/plain"
)

func TestText(t *testing.T) {
	for claim, c := range map[string]struct {
		in   string
		max  int
		want string
	}{
		"text that is fit stays":          {"a b\tc\nd é 好", 100, "a b\tc\nd é 好"},
		"control characters are shown":    {"a\x00\x1b[31m\r\x7f", 100, `a\u0000\u001b[31m\u000d\u007f`},
		"C1 controls are shown":           {"a\u0085b\u009b", 100, `a\u0085b\u009b`},
		"bidi overrides are shown":        {"a\u202eb\u2066", 100, `a\u202eb\u2066`},
		"invisible characters are shown":  {"a\u200bb\ufeff\u00ad\u3164", 100, `a\u200bb\ufeff\u00ad\u3164`},
		"tag characters are shown":        {"\U000e0041", 100, `\U000e0041`},
		"line separators are shown":       {"a\u2028b", 100, `a\u2028b`},
		"invalid bytes are shown":         {"a\xff\xc3", 100, `a\xff\xc3`},
		"a real U+FFFD stays":             {"a\ufffd", 100, "a\ufffd"},
		"exactly as long as it may be":    {"abcdef", 6, "abcdef"},
		"longer than it may be":           {"abcdefg", 6, "abc…"},
		"a cut never splits a character":  {"éééé", 7, "éé…"},
		"an escape is never cut":          {"ab\x00cdefgh", 8, "ab…"},
		"an escape counts as it is shown": {"\x00\x00", 8, `…`},
		"escapes that just fit":           {"\x00\x00", 12, `\u0000\u0000`},
		"empty":                           {"", 10, ""},
	} {
		assert.Equal(t, c.want, plain.Text(c.in, c.max), claim)
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"", "a\x00", "é", "\xff\xfe", "a\u202eb", strings.Repeat("好", 50), "\U000e0041\u200d"} {
		f.Add(s, 20)
	}
	f.Fuzz(func(t *testing.T, s string, max int) {
		if max < 3 || max > 1<<16 {
			return
		}
		got := plain.Text(s, max)
		assert.True(t, utf8.ValidString(got))
		assert.LessOrEqual(t, len(got), max)
		assert.Equal(t, got, plain.Text(got, max), "text that is fit stays")
	})
}
