package config

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseReadsJSON(t *testing.T) {
	cases := map[string]struct{ text, json string }{
		"a surrogate pair":              {`{"a":"\ud83d\ude00"}`, `{"a":"😀"}`},
		"half a surrogate pair":         {`{"a":"\ud83d"}`, `{"a":"�"}`},
		"an escaped slash":              {`{"a":"http:\/\/h\/v1"}`, `{"a":"http://h/v1"}`},
		"tabs that indent":              {"{\n\t\"a\": {\n\t\t\"b\": [\n\t\t\t1,\n\t\t\t2\n\t\t]\n\t}\n}\n", `{"a":{"b":[1,2]}}`},
		"a byte order mark":             {"\ufeff {\"a\":1}", `{"a":1}`},
		"all kinds":                     {`{"a":[null,true,false,-0.5e1,"",{}],"b":9007199254740993}`, `{"a":[null,true,false,-5,"",{}],"b":9007199254740993}`},
		"text that YAML would bend":     {`{"a":"0x1f","b":"null","c":"<<","d":"2024-08-06","e":"*x"}`, `{"a":"0x1f","b":"null","c":"<<","d":"2024-08-06","e":"*x"}`},
		"a key that YAML would merge":   {`{"<<":{"a":1}}`, `{"<<":{"a":1}}`},
		"YAML's flow style":             {"{a: b, c: [d,],} # so be it\n", `{"a":"b","c":["d"]}`},
		"an escaped key":                {`{"\u0061":1}`, `{"a":1}`},
		"nothing inside":                {"{}", `{}`},
		"CRLF and blank lines in front": {"\r\n\r\n{\"a\":1}\r\n", `{"a":1}`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			doc, err := parse("f", []byte(c.text))
			require.NoError(t, err)
			assert.JSONEq(t, c.json, string(doc.json))
		})
	}
}

func TestParseSaysWhereInJSON(t *testing.T) {
	cases := map[string]struct {
		text         string
		line, column int
		key          string
	}{
		"a key twice":            {"{\n\t\"a\": 1,\n\t\"\\u0061\": 2\n}", 3, 2, "a"},
		"a list at the root":     {"[1]", 1, 1, ""},
		"a missing comma":        {"{\n\t\"a\": 1\n\t\"b\": 2\n}", 3, 2, ""},
		"a word":                 {"{\n\t\"ä\": hunter2-hunter2,\n\t\"b\" 1}", 2, 7, ""},
		"an open end":            {"{\n\t\"a\": [1,", 2, 10, ""},
		"an open string":         {"{\n\t\"a\": \"hunter2-hunter2", 2, 23, ""},
		"two values":             {"{\"a\":1}\n\t{\"b\":2}", 2, 2, ""},
		"nesting without end":    {"{\"a\":\t" + strings.Repeat("[", 100) + strings.Repeat("]", 100) + "}", 1, 71, "a" + strings.Repeat("[0]", 64)},
		"nesting past all bound": {"{\"a\":\t" + strings.Repeat("[", 20_000), 1, 10_006, ""},
		"an unknown escape":      {"{\t\"a\": \"\\hunter2-hunter2\"}", 1, 9, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := parse("f.json", []byte(c.text))
			var bad *Error
			require.ErrorAs(t, err, &bad)
			assert.Equal(t, [2]int{c.line, c.column}, [2]int{bad.Line, bad.Column}, bad.Error())
			assert.Equal(t, c.key, bad.Key)
			assert.NotContains(t, bad.Error(), "hunter2", "no value of the file")
		})
	}
}

func TestLoadJSON(t *testing.T) {
	c, err := load(t, "{\n\t\"provider\": \"mock\",\n\t\"system\": \"\\ud83d\\ude00\",\n\t\"baseUrl\": \"http:\\/\\/h\\/v1\"\n}", environment{})
	require.NoError(t, err)
	assert.Equal(t, "😀", c.System)
	assert.Equal(t, "http://h/v1", c.BaseURL)

	for text, want := range map[string]place{
		"{\n\t\"provder\": \"mock\"}":                         {2, 2},
		"{\n\t\"injectors\": [\n\t\t{\"name\": 1}\n\t]}":      {3, 12},
		"{\"system\": \"\\ud83d\\ude00\", \"maxFrame\": 1}\n": {1, 40},
	} {
		_, err := load(t, text, environment{})
		var bad *Error
		require.ErrorAs(t, err, &bad)
		assert.Equal(t, want, place{bad.Line, bad.Column}, bad.Error())
	}
}

func TestNoErrorHoldsAValue(t *testing.T) {
	const value = "hunter2-hunter2"
	for name, file := range map[string]string{
		"an alias":               "system: *" + value + "\n",
		"a tag":                  "system: !" + value + " x\n",
		"a tag handle":           "system: !" + value + "!x y\n",
		"an open quote":          "system: \"" + value + "\n",
		"a directive":            "%" + value + "\n---\na: b\n",
		"an escape":              "system: \"\\" + value + "\"\n",
		"text at the root":       value + "\n",
		"text where a list is":   "injectors: " + value + "\n",
		"text where a size is":   "maxFrame: " + value + "\n",
		"text where a word is":   "framing: " + value + "\n",
		"text where a time is":   "drainTimeout: " + value + "\n",
		"text where an age is":   "retain: " + value + "\n",
		"text where a switch is": "providers: {openai: {allowInsecure: " + value + "}}\n",
		"a URL":                  "baseUrl: " + value + "\n",
		"a session":              "session: \"../" + value + "\"\n",
		"a variable":             "redact: {env: [\"" + value + "!\"]}\n",
		"an injector's name":     "instructionInjectors: [\"" + value + "\", \"" + value + "\"]\n",
		"a placement":            "injectors: [{name: a, when: every_turn, placement: " + value + ", instructions: x}]\n",
		"binary":                 "system: !!binary " + value + "\n",
		"an integer":             "maxFrame: !!int " + value + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(t, file, environment{})
			require.Error(t, err)
			assert.NotContains(t, err.Error(), "hunter2")
		})
	}
}
