package config

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseWritesTheSameValuesAsJSON(t *testing.T) {
	cases := map[string]struct{ yaml, json string }{
		"an empty file":              {"", `{}`},
		"a comment alone":            {"# nothing\n", `{}`},
		"a byte order mark":          {"\ufeffa: b\n", `{"a":"b"}`},
		"CRLF":                       {"a: b\r\nc: d\r\n", `{"a":"b","c":"d"}`},
		"JSON":                       {`{"a": [1, true, null, "x\ty"]}`, `{"a":[1,true,null,"x\ty"]}`},
		"words that YAML 1.1 bends":  {"a: yes\nb: off\nc: true\n", `{"a":"yes","b":"off","c":true}`},
		"numbers of all kinds":       {"a: 0x1F\nb: 1_000\nc: 1.5\nd: 0o17\n", `{"a":31,"b":1000,"c":1.5,"d":15}`},
		"a date stays text":          {"a: 2024-08-06\n", `{"a":"2024-08-06"}`},
		"a block of text":            {"a: |\n  one\n  two\n", `{"a":"one\ntwo\n"}`},
		"an alias stands in full":    {"a: &x {b: c}\nd: *x\n", `{"a":{"b":"c"},"d":{"b":"c"}}`},
		"quotes and separators":      {"a: \"\u2028\\\"\\\\\"\n", "{\"a\":\"\u2028\\\"\\\\\"}"},
		"an explicit string tag":     {"a: !!str 12\n", `{"a":"12"}`},
		"a key that must be escaped": {"'a\"b': 1\n", `{"a\"b":1}`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			doc, err := parse("f", []byte(c.yaml))
			require.NoError(t, err)
			assert.JSONEq(t, c.json, string(doc.json))
		})
	}
}

func TestParseRefuses(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for i := 'b'; i < 'k'; i++ {
		prev := string(i - 1)
		bomb += string(i) + ": &" + string(i) + " [" + strings.Repeat("*"+prev+",", 9) + "*" + prev + "]\n"
	}
	cases := map[string]struct {
		yaml         string
		line, column int
		key          string
	}{
		"a key twice":                   {"a: 1\nb: 2\na: 3\n", 3, 1, "a"},
		"a key twice, below":            {"a:\n  - b: 1\n    b: 2\n", 3, 5, "a[0].b"},
		"a merge key":                   {"a: &x {b: 1}\nc:\n  <<: *x\n", 3, 3, "c"},
		"a number as a key":             {"a:\n  1: x\n", 2, 3, "a"},
		"a list as a key":               {"? [a]\n: b\n", 1, 3, ""},
		"two documents":                 {"a: 1\n---\nb: 2\n", 0, 0, ""},
		"a list at the root":            {"- a\n", 1, 1, ""},
		"text at the root":              {"hello\n", 1, 1, ""},
		"a tag":                         {"a: !go x\n", 1, 4, "a"},
		"binary":                        {"a: !!binary aGk=\n", 1, 4, "a"},
		"infinity":                      {"a: .inf\n", 1, 4, "a"},
		"aliases that grow without end": {bomb, 1, 26, ""},
		"an alias within itself":        {"a: &x [*x]\n", 1, 4, ""},
		"nesting without end":           {"a: " + strings.Repeat("[", 100) + strings.Repeat("]", 100), 1, 68, ""},
		"Latin-1":                       {"a: ok\nb: caf\xe9\n", 2, 7, ""},
		"UTF-16":                        {"\xff\xfea\x00:\x00", 1, 1, ""},
		"a NUL":                         {"a: b\x00\n", 1, 5, ""},
		"a tab as indentation":          {"a:\n\tb: 1\n", 2, 2, ""},
		"an open quote":                 {"a: \"b\n", 2, 1, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := parse("f.yaml", []byte(c.yaml))
			var bad *Error
			require.ErrorAs(t, err, &bad)
			assert.Equal(t, "f.yaml", bad.Path)
			assert.Equal(t, [2]int{c.line, c.column}, [2]int{bad.Line, bad.Column}, bad.Error())
			if c.key != "" {
				assert.Equal(t, c.key, bad.Key)
			}
			assert.NotEmpty(t, bad.Message)
			assert.NotContains(t, bad.Error(), "\n")
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"provider: mock\n", "a: &x [*x]\n", "? {a: b}\n: c\n", "a: !!int x\n", "a: !!float \"\"\n", "<<: {a: b}\n",
		"a: \"\\ud800\"\n", "\ufeff%YAML 1.2\n---\na: 1\n", "&a a: *a\n", "a: 99999999999999999999999\n", "--- |\n x\n...\n",
		"{\"a\":\u0085\"b\"}", "a: 0x\nb: +1\nc: 1e999\n", "injectors: [{name: 1, when: []}]\n", "a: !!null x\nb: !!bool y\n", "!!map a: b", "a: !!str [b]",
		"{\t\"a\": \"\\ud83d\\ude00\\/\"}", "{\"a\":[1e999,-0,1E+2]}", "\ufeff{\"<<\":{}}", "{\"a\":\"\\ud83d", "[", "{\"redact\":{\"env\":[{\"env\":\"A\",", "{a: &x {b: *x}}",
		"redact: &x {env: [*x, A]}\nb: [\n", "redactEnv: &x\n- *x\n- A\n", "{\"redact\":7}", "redact:\n---\nredact:\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, s := range salvage(data, environment{"A": "value"}.env()) {
			require.Equal(t, "A", s.Env)
		}
		doc, err := parse("f", data)
		if err != nil {
			var bad *Error
			require.ErrorAs(t, err, &bad)
			return
		}
		require.True(t, json.Valid(doc.json), "%q", doc.json)
		var s Settings
		if err := doc.decode(&s); err != nil {
			var bad *Error
			require.ErrorAs(t, err, &bad)
			require.Positive(t, bad.Line, bad.Error())
			require.Positive(t, bad.Column, bad.Error())
		}
	})
}
