package predicate_test

import (
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject/predicate"
	"github.com/prism-rpc/prism-rpc/schema"
)

// What is looked for before a pattern is run decides nothing that the pattern
// itself would decide otherwise.
func TestP8_a_pattern_says_what_the_language_s_own_says(t *testing.T) {
	patterns := []string{
		`\bjson\b`, `json`, `(?i)json`, `JSON|yaml`, `(json)+`, `(json)*`, `(json)?x`, `(?:json){2}`, `(?:json){0,2}$`, `j.on`, `^json`, `a(?:json|yaml)b`,
		`(?i)k\b`, `ſ`, `(?i)straſse`, `[jJ]son`, `js+on`, `(?i:J)son`, `json$`, `(?s).*json.*`, `x|`, ``, `\pL+json`, `(a|b)json(c|d)`, `日本|\bjson`,
	}
	texts := []string{"", "json", "JSON", "a json b", "ajsonb", "yaml", "jsonjson", "x", "joon", "\u212a", "K", "straSse STRASSE", "\u017f", "日本語", "bjsond", "jsson", "j son"}
	for _, pattern := range patterns {
		program, err := predicate.Compile(`input matches ` + strconv.Quote(pattern))
		require.NoError(t, err, pattern)
		for _, text := range texts {
			got, err := program.Eval(predicate.NewTurn(predicate.Facts{Input: []schema.ContentBlock{schema.TextBlock(text)}}, aLongTime))
			require.NoError(t, err)
			assert.Equal(t, regexp.MustCompile(pattern).MatchString(text), got, "%q in %q", pattern, text)
		}
	}
}
