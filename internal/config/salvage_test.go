package config

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a file wanted hidden is hidden also while it is complained about.
func TestSecretsOfABadFile(t *testing.T) {
	cases := map[string]string{
		"an unknown key":                     "provder: x\nredact: {env: [TOKEN]}\n",
		"a key twice":                        "model: a\nmodel: b\nredact: {env: [TOKEN]}\n",
		"a misspelt key of redact":           "redact: {evn: [TOKEN]}\n",
		"a wrong shape":                      "redact: {env: TOKEN}\n",
		"a wrong shape of one":               "redact: {env: [{name: x, env: TOKEN, shrot: true}, 7]}\n",
		"its short form":                     "provder: x\nredactEnv: TOKEN\n",
		"a key's variable":                   "provder: x\nproviders: {openai: {apiKeyEnv: TOKEN}}\n",
		"a syntax error in front":            "system: \"x\nredact:\n  env:\n  - TOKEN\n",
		"a syntax error below":               "redact:\n  env:\n  - TOKEN\nsystem: [\n",
		"a tab":                              "context:\n\tlayout: x\nredact:\n  env: [TOKEN]\n",
		"two documents":                      "redact: {env: [TOKEN]}\n---\na: b\n",
		"JSON":                               `{"provder":"x","redact":{"env":["TOKEN"]}}`,
		"JSON that ends too early":           `{"redact":{"env":["TOKEN"]},"system":"`,
		"JSON that ends within":              `{"redact":{"env":["TOKEN",`,
		"JSON that is wrong behind":          "{\"redact\":{\"env\":[{\"env\":\"TOKEN\"}]},\n\t\"a\" \"b\"}",
		"an alias":                           "x: &x [TOKEN]\nredact: {env: *x}\n",
		"an alias within itself":             "redact: {env: &x [TOKEN, *x]}\n",
		"values that fail a check":           "redact: {env: [TOKEN, \"no name\"]}\n",
		"a value that is too short to hide":  "redact: {env: [SHORT, TOKEN]}\n",
		"a session that is named after it":   "session: t0k3n-t0k3n\nredact: {env: [TOKEN]}\n",
		"an injector that is named after it": "redact: {env: [TOKEN]}\ninjectors: [{name: t0k3n-t0k3n, when: every_turn, instructions: x}]\n",
		"a base list that holds it":          "redact: {env: [TOKEN]}\ninstructionInjectors: [a, t0k3n-t0k3n]\n",
		"a name of the base list, otherwise": "redact: {env: [TOKEN]}\ninstruction: t0k3n-t0k3n\n",
		"a model that is named after it":     "redact: {env: [TOKEN]}\nmodel: x/t0k3n-t0k3n\n",
		"a profile that is named after it":   "redact: {env: [TOKEN]}\nprofile: t0k3n-t0k3n\n",
	}
	for name, file := range cases {
		t.Run(name, func(t *testing.T) {
			e := environment{"TOKEN": "t0k3n-t0k3n", "SHORT": "abc", "redact": "unrelated"}
			c, err := load(t, file, e)
			require.Error(t, err)
			assert.True(t, c.Redactor.Contains("t0k3n-t0k3n"))
			assert.NotContains(t, e, "TOKEN", "no child inherits it")
			assert.Contains(t, e, "redact")
		})
	}
}

func TestS2NamesHoldNoSecret(t *testing.T) {
	for key, args := range map[string][]string{
		"session":     {"--session", "t0k3n-t0k3n"},
		"profile":     {"--profile", "a.t0k3n-t0k3n"},
		"model":       {"--model", "t0k3n-t0k3n"},
		"instruction": {"--instruction", "a", "--instruction", "t0k3n-t0k3n"},
	} {
		t.Run(key, func(t *testing.T) {
			_, err := Load(flags(t, append(args, "--redact-env", "TOKEN")...), environment{"TOKEN": "t0k3n-t0k3n"}.env())
			var bad *Error
			require.ErrorAs(t, err, &bad)
			assert.Equal(t, key, bad.Key)
			assert.NotContains(t, bad.Error(), "t0k3n")
		})
	}
	_, err := load(t, "redact: {env: [TOKEN]}\ninstructionInjectors:\n- a\n- t0k3n-t0k3n\n", environment{"TOKEN": "t0k3n-t0k3n"})
	var bad *Error
	require.ErrorAs(t, err, &bad)
	assert.Equal(t, []any{"instructionInjectors[1]", 4, 3}, []any{bad.Key, bad.Line, bad.Column})
}
