package predicate_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/expr-lang/expr"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject/predicate"
	"github.com/prism-rpc/prism-rpc/schema"
)

// large are facts at the bounds of what an expression may see.
func large() predicate.Facts {
	numbers := strings.TrimSuffix(strings.Repeat("1,", 30_000), ",")
	dialogue := make([]schema.Message, 100)
	for i := range dialogue {
		dialogue[i] = schema.Message{Role: "user", Content: say(strings.Repeat("aB", 2000))}
	}
	return predicate.Facts{
		Input:    say(strings.Repeat("aBc İ", 50_000)),
		Metadata: jsontext.Value(`{"xs":[` + numbers + `]}`),
		Recent:   messages(dialogue...),
	}
}

// heavy are expressions that are taken and would run for long.
var heavy = []string{
	`all(metadata.xs, not (input matches "x*y"))`,
	`all(metadata.xs, not (input matches "(a|b|c| )*[^a]{1,400}z"))`,
	`all(metadata.xs, lower(input) != upper(input))`,
	`all(metadata.xs, # in metadata.xs and len(input) > 1 and not (input contains "xyz"))`,
	`all(metadata.xs, 2 not in metadata.xs)`,
	`all(history, not (.text matches "(?i)zz" or lower(.text) matches "zz"))` + strings.Repeat(` and all(history, lower(upper(.text)) != "")`, 12),
	`input matches "(?:(?:a|[^b]){1,20}){1,20}$"`,
	strings.Repeat(`lower(`, 60) + `input` + strings.Repeat(`)`, 60) + ` == ""`,
}

func TestI11_what_takes_long_is_stopped(t *testing.T) {
	const budget = 50 * time.Millisecond
	for _, source := range heavy {
		p, err := predicate.Compile(source)
		require.NoError(t, err, source)
		turn := predicate.NewTurn(large(), budget)
		allocated, took := cost(func() { _, err = p.Eval(turn) })
		if err != nil {
			assert.ErrorIs(t, err, predicate.ErrBudget, source)
		}
		assert.Less(t, took, 20*budget, source)
		assert.Less(t, allocated, uint64(64<<20), source)
	}
}

func TestI11_a_turn_has_one_budget(t *testing.T) {
	p, err := predicate.Compile(heavy[0])
	require.NoError(t, err)
	quick, err := predicate.Compile(`turn == 0`)
	require.NoError(t, err)
	turn := predicate.NewTurn(large(), time.Millisecond)
	_, err = p.Eval(turn)
	require.ErrorIs(t, err, predicate.ErrBudget)
	_, err = quick.Eval(turn)
	assert.ErrorIs(t, err, predicate.ErrBudget)
}

// cost is what f allocates, and how long it takes.
func cost(f func()) (uint64, time.Duration) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	f()
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, took
}

func FuzzHostile(f *testing.F) {
	for _, s := range heavy {
		f.Add(s)
	}
	for _, s := range []string{
		`input matches "(?i)json" and turn > 1`, `any(paths, # endsWith ".go")`, `len(reduce(1..200, #acc + #acc, "ab")) > 0`,
		`all(kinds, all(kinds, true))`, `len(repeat("x", 1000)) > 1`, `let a = "x"; a == input`, `2 ** 9 > 1`, `1..9 == 1`,
		strings.Repeat("(", 500) + "true" + strings.Repeat(")", 500), shared(20), strings.Repeat("-", 300) + "1 == 1",
		`metadata.xs[0] == 1`, `metadata?.a?.["b"] == nil`, `"日" in kinds`, "`raw` == 'x'", `/* c */ true // d`, `any(history, {.text == ""})`,
		`input matches "((a{1,100}){1,100})"`, `b"x" == "x"`, `0x1F > 1e300`, "\x00", `any(`, `| lower()`, `input | lower() | len() > 1`,
	} {
		f.Add(s)
	}
	facts := large()
	f.Fuzz(func(t *testing.T, source string) {
		var p *predicate.Program
		var err error
		allocated, took := cost(func() {
			if p, err = predicate.Compile(source); err == nil {
				_, _ = p.Eval(predicate.NewTurn(facts, 20*time.Millisecond)) // it may fail; it must come back
			}
		})
		assert.Less(t, took, 5*time.Second)
		assert.Less(t, allocated, uint64(64<<20))
		if err != nil {
			var bad *predicate.Error
			require.ErrorAs(t, err, &bad)
			assert.Positive(t, bad.Line*bad.Column)
		}
	})
}

// What is taken means what the language's own machine makes of it.
func TestP8_agrees_with_the_language(t *testing.T) {
	atoms := []string{
		`input contains "JSON"`, `input matches "(?i)json"`, `turn > 2`, `turn % 2 == 1`, `step * 2 - 1 <= turn / 2`, `sessionId == "s1"`,
		`any(paths, # endsWith ".go")`, `all(kinds, len(#) > 4)`, `none(paths, # contains "x")`, `one(kinds, # == "text")`,
		`count(kinds, # startsWith "re") == 2`, `lower(input) startsWith "please"`, `trim(upper(sessionId)) == "S1"`, `"text" in kinds`,
		`turn not in [1, 2]`, `1 < turn < 3`, `-turn < +step`, `metadata.lang == "Go"`, `metadata.none == nil`, `any(history, .role == "user")`,
		`len(kinds) == 3`, `paths[0] contains "main"`,
	}
	env := map[string]any{
		"input": "Please answer as JSON\nmain.go <file:///src/main.go#L10>\n<https://h/a%20b.md?x=1>\n# A Title", "turn": 3, "step": 2, "sessionId": "s1",
		"paths": []string{"/src/main.go", "/a b.md"}, "kinds": []string{"text", "resource_link", "resource"},
		"metadata": map[string]any{"lang": "Go", "none": nil},
		"history":  []map[string]string{{"role": "user", "text": "first question"}, {"role": "assistant", "text": "an answer in YAML"}},
	}
	for i, a := range atoms {
		for j, b := range atoms {
			source := fmt.Sprintf([]string{`%s and %s`, `%s or not (%s)`, `(%s) == (%s)`, `not (%s) && !(%s)`}[(i+j)%4], a, b)
			got, err := eval(t, source, facts)
			require.NoError(t, err, source)
			want, err := expr.Eval(source, env)
			require.NoError(t, err, source)
			assert.Equal(t, want, got, source)
		}
	}
}
