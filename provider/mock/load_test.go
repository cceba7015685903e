package mock

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/schema"
)

const everything = `
- {deltas: [Hel, lo.], delayMs: 20, usage: {inputTokens: 10, outputTokens: 2}}
- {thinking: "…", text: "…", stopReason: max_tokens}
- {error: {class: rate_limit, status: 429, retryAfterMs: 1000}, times: 2}
- {deltas: [par], then: cut}          # cut | stall | reset | ignore_cancel
- {match: "(?i)json", text: "{}", repeat: true}
`

func TestLoadScript(t *testing.T) {
	got, err := LoadScript(strings.NewReader(everything))
	require.NoError(t, err)
	require.Len(t, got, 5)
	in, out := int64(10), int64(2)
	assert.Equal(t, Entry{Deltas: []string{"Hel", "lo."}, Delay: 20 * time.Millisecond, Usage: &schema.Usage{InputTokens: &in, OutputTokens: &out}}, got[0])
	assert.Equal(t, Entry{Thinking: "…", Text: "…", StopReason: schema.StopMaxTokens}, got[1])
	assert.Equal(t, Entry{Error: &provider.Error{Class: provider.ClassRateLimit, Status: 429, RetryAfter: time.Second, Message: "scripted failure"}, Times: 2}, got[2])
	assert.Equal(t, Entry{Deltas: []string{"par"}, Then: Cut}, got[3])
	assert.Equal(t, "(?i)json", got[4].Match.String())
	assert.True(t, got[4].Repeat)
}

func TestAScriptMayBeEmpty(t *testing.T) {
	for _, in := range []string{"", "\n", "# nothing\n", "---\n", "null\n", "[]\n"} {
		got, err := LoadScript(strings.NewReader(in))
		assert.NoError(t, err, in)
		assert.Empty(t, got, in)
	}
}

func TestAScriptMayShareValues(t *testing.T) {
	got, err := LoadScript(strings.NewReader("- deltas: &d [a, b]\n- deltas: *d\n"))
	require.NoError(t, err)
	assert.Equal(t, got[0].Deltas, got[1].Deltas)
}

func TestLoadScriptNamesWhatIsWrong(t *testing.T) {
	for name, row := range map[string]struct {
		in         string
		line       int
		key        string
		suggestion string
	}{
		"a misspelt key":             {"- {text: a}\n- {delta: [a]}", 2, "delta", "deltas"},
		"a key in another case":      {"- Text: a", 1, "Text", "text"},
		"a key like no other":        {"- foo: a", 1, "foo", ""},
		"a misspelt key inside":      {"- error:\n    class: auth\n    statu: 401", 3, "error.statu", "status"},
		"a key twice":                {"- text: a\n  text: b", 2, "text", ""},
		"a merge key":                {"- &a {text: a}\n- {<<: *a}", 2, "<<", ""},
		"a number where text is":     {"- text: 5", 1, "text", ""},
		"a number in a list of text": {"- deltas:\n  - a\n  - 5", 3, "deltas[1]", ""},
		"text where a list is":       {"- deltas: a", 1, "deltas", ""},
		"text where a number is":     {`- delayMs: "5"`, 1, "delayMs", ""},
		"a fraction":                 {"- delayMs: 5.5", 1, "delayMs", ""},
		"a negative time":            {"- delayMs: -1", 1, "delayMs", ""},
		"a count past 2^53":          {"- usage: {inputTokens: 9007199254740993}", 1, "usage.inputTokens", ""},
		"no times":                   {"- times: 0", 1, "times", ""},
		"text where a switch is":     {`- repeat: "true"`, 1, "repeat", ""},
		"an unknown class":           {"- error: {class: rate_limits}", 1, "error.class", "rate_limit"},
		"an error without class":     {"- error: {status: 500}", 1, "error.class", ""},
		"a status out of range":      {"- error: {class: auth, status: 4010}", 1, "error.status", ""},
		"an unknown fault":           {"- then: stalls", 1, "then", "stall"},
		"a stop reason of the turn":  {"- stopReason: cancelled", 1, "stopReason", ""},
		"a bad regular expression":   {`- match: "(?!x)"`, 1, "match", ""},
		"deltas and text":            {"- {deltas: [a], text: b}", 1, "text", ""},
		"error and fault":            {"- {error: {class: auth}, then: cut}", 1, "then", ""},
		"times and repeat":           {"- {times: 2, repeat: true}", 1, "repeat", ""},
		"a mapping at the top":       {"text: a", 1, "", ""},
		"an entry that is text":      {"- a", 1, "", ""},
		"no YAML":                    {"- a: b\n- c: d: e", 2, "", ""},
		"two documents":              {"- text: a\n---\n- text: b", 0, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := LoadScript(strings.NewReader(row.in))
			var bad *ScriptError
			require.ErrorAs(t, err, &bad)
			assert.Equal(t, row.line, bad.Line)
			assert.Equal(t, row.key, bad.Key)
			assert.Equal(t, row.suggestion, bad.Suggestion)
		})
	}
}

func FuzzLoadScript(f *testing.F) {
	for _, seed := range []string{everything, "- &a [*a]", "- deltas: &a [*a]", "? [a]: b", "- {error: &e {class: auth}}\n- {error: *e}", "--- |\n a", "- !!binary aGk=", "- text: !!str 5", "%YAML 9.9\n---\n- a", "\x00", "- usage: null"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		entries, err := LoadScript(strings.NewReader(in))
		var bad *ScriptError
		if err != nil && !assert.ErrorAs(t, err, &bad) {
			return
		}
		for _, e := range entries {
			assert.False(t, e.Error != nil && !e.Error.Class.Valid())
		}
	})
}
