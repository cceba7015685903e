package predicate_test

import (
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject/predicate"
	"github.com/prism-rpc/prism-rpc/schema"
)

func say(text string) []schema.ContentBlock { return []schema.ContentBlock{schema.TextBlock(text)} }

func messages(list ...schema.Message) func() iter.Seq[schema.Message] {
	return func() iter.Seq[schema.Message] { return slices.Values(list) }
}

// facts are those that most expressions here are asked about.
var facts = predicate.Facts{
	Input: []schema.ContentBlock{
		schema.TextBlock("Please answer as JSON"),
		{Type: "resource_link", Name: "main.go", URI: "file:///src/main.go#L10"},
		{Type: "resource", Resource: &schema.Resource{URI: "https://h/a%20b.md?x=1", Text: "# A Title"}},
	},
	Turn: 3, Step: 2, SessionID: "s1",
	Metadata: jsontext.Value(`{"lang":"Go","n":4,"urgent":true,"tags":["a","B"],"user":{"name":"Zoë"},"none":null}`),
	Recent: messages(
		schema.Message{Role: "user", Content: say("first question")},
		schema.Message{Role: "assistant", Content: say("an answer in YAML")},
	),
}

const aLongTime = time.Minute

func eval(t testing.TB, source string, f predicate.Facts) (bool, error) {
	t.Helper()
	p, err := predicate.Compile(source)
	require.NoError(t, err, source)
	return p.Eval(predicate.NewTurn(f, aLongTime))
}

func TestP8_what_an_expression_says(t *testing.T) {
	for source, want := range map[string]bool{
		`true`: true, `not true`: false, `!(1 > 2)`: true,

		`input matches "(?i)json"`:                         true,
		`input matches "(?i)yaml|(?i)json"`:                true,
		`input matches "(?i)xml|(?i)toml"`:                 false,
		`input matches "^Please .* JSON\n"`:                true,
		`input matches "json"`:                             false,
		`not (input matches "(?i)xml")`:                    true,
		`input contains "a title"`:                         false,
		`lower(input) contains "a title"`:                  true,
		`input startsWith "Please"`:                        true,
		`trim("  x ") == "x"`:                              true,
		`upper("ß") == "SS" or upper("x") == "X"`:          true,
		`"x" | upper() == "X"`:                             true,
		`content matches "(?i)\"type\":\"RESOURCE_LINK\""`: true,
		`content matches "(?i)A TITLE"`:                    true,

		`any(paths, # endsWith ".go")`:        true,
		`any(paths, # == "/a b.md")`:          true,
		`all(paths, # startsWith "/")`:        true,
		`none(paths, # endsWith ".py")`:       true,
		`one(paths, # endsWith ".md")`:        true,
		`count(paths, # contains "a") == 2`:   true,
		`len(paths) == 2 and len(kinds) == 3`: true,
		`"resource" in kinds`:                 true,
		`"image" in kinds`:                    false,
		`"image" not in kinds`:                true,
		`paths[0] == "/src/main.go"`:          true,
		`paths[-1] endsWith ".md"`:            true,
		`paths[9] == nil`:                     true,
		`turn == 3 && step == 2`:              true,
		`trivial`:                             false,
		`not trivial and turn > 1`:            true,
		`turn % 3 == 0`:                       true,
		`turn in [1, 3, 5]`:                   true,
		`2 < turn < 4`:                        true,
		`-turn + 1.5 * 2 - 4 / 8 == -0.5`:     true,
		`sessionId == "s1" or turn / 0 == 1`:  true,
		`sessionId != "s1" and turn / 0 == 1`: false,
		`len("日本") == 2`:                      true,
		`"a" < "b" and "b" >= "b"`:            true,

		`metadata.lang == "Go"`:                       true,
		`metadata["lang"] matches "(?i)^go$"`:         true,
		`metadata.lang matches "(?i)GO"`:              true,
		`metadata.n + 1 == 5`:                         true,
		`metadata.n > 3`:                              true,
		`metadata.urgent == true`:                     true,
		`metadata.user.name == "Zoë"`:                 true,
		`metadata?.nobody?.name == "Zoë"`:             false,
		`metadata.nobody.name == nil`:                 true,
		`metadata.nobody contains "x"`:                false,
		`metadata.nobody > 1 or metadata.nobody <= 1`: false,
		`len(metadata.nobody) == 0`:                   true,
		`lower(metadata.nobody) == nil`:               true,
		`"x" in metadata.nobody`:                      false,
		`all(metadata.nobody, # == 1)`:                true,
		`any(metadata.tags, lower(#) == "b")`:         true,
		`"B" in metadata.tags`:                        true,
		`"none" in metadata and "x" not in metadata`:  true,
		`len(metadata) == 6`:                          true,
		`metadata.n == "4"`:                           false,

		`any(history, .role == "assistant" and .text contains "YAML")`: true,
		`any(history, {#.text matches "^first"})`:                      true,
		`count(history, .role == "user") == 1`:                         true,
		`len(history) == 2`:                                            true,
	} {
		t.Run(source, func(t *testing.T) {
			got, err := eval(t, source, facts)
			require.NoError(t, err)
			assert.Equal(t, want, got)
		})
	}
}

func TestP8_facts_that_a_turn_does_not_have(t *testing.T) {
	for source, want := range map[string]bool{
		`input == ""`: true, `len(paths) == 0`: true, `len(history) == 0`: true, `len(metadata) == 0`: true,
		`metadata.x == nil`: true, `any(history, true)`: false,
	} {
		got, err := eval(t, source, predicate.Facts{})
		require.NoError(t, err, source)
		assert.Equal(t, want, got, source)
	}
}

func TestP10_what_can_only_fail_when_it_runs(t *testing.T) {
	for _, source := range []string{
		`metadata.lang + 1 == 2`, `metadata.lang + metadata.lang == 2`, `-metadata.lang == 1`, `metadata.lang > 1`,
		`turn / (turn - 3) == 1`, `turn % 0 == 1`, `any(metadata.lang, true)`, `metadata.n contains "x"`,
		`metadata.n matches "x"`, `metadata.tags == 1`, `lower(metadata.n) == "x"`, `len(metadata.n) == 1`,
		`1 in metadata.n`, `metadata.n.x == 1`, `metadata.tags.x == 1`,
	} {
		_, err := eval(t, source, facts)
		require.Error(t, err, source)
		assert.NotErrorIs(t, err, predicate.ErrBudget, source)
	}
}

func TestI11_what_is_refused_when_it_is_registered(t *testing.T) {
	tests := map[string]struct {
		source string
		column int
	}{
		"reduce that doubles a string":        {`len(reduce(1..200, #acc + #acc, "ab")) > 0`, 5},
		"all in all":                          {`all(kinds, all(kinds, true))`, 12},
		"any in the pipe in any":              {`any(kinds, (kinds | any(true)))`, 21},
		"repeat":                              {`len(repeat("x", 1000)) > 1`, 5},
		"a range":                             {`len(1..10) > 1`, 6},
		"let":                                 {`let a = "x"; a == input`, 5},
		"several expressions":                 {`true; true`, 1},
		"a power":                             {`2 ** 9 > 1`, 3},
		"another power":                       {`2 ^ 9 > 1`, 3},
		"text is not added":                   {`input + input == "x"`, 7},
		"nor text and a number":               {`len(kinds) + input > 1`, 12},
		"a pattern made when it runs":         {`input matches input`, 15},
		"a pattern that is none":              {`input matches "("`, 15},
		"a pattern that is long":              {`input matches "` + strings.Repeat("x", 1025) + `"`, 15},
		"a pattern that repeats too much":     {`input matches "((a{1,100}){1,100})"`, 15},
		"classes that repeat too much":        {`input matches "(?:[a-y][b-z][c-y]){1000}"`, 15},
		"a clock":                             {`now().Year() > 1`, 7},
		"a function of somebody's":            {`exec("x")`, 1},
		"a method":                            {`input.Len() > 1`, 7},
		"a slice":                             {`input[0:1] == "x"`, 6},
		"a map":                               {`{a: 1} == 1`, 1},
		"map":                                 {`len(map(kinds, #)) == 1`, 5},
		"filter":                              {`len(filter(kinds, true)) == 1`, 5},
		"a conditional":                       {`turn > 1 ? true : false`, 23},
		"if":                                  {`if true { true } else { true }`, 1},
		"coalescing":                          {`(metadata.x ?? 1) == 1`, 13},
		"a number":                            {`turn`, 1},
		"text":                                {`input`, 1},
		"a value of unknown type":             {`metadata.x`, 10},
		"a value of unknown type in logic":    {`true and metadata.x`, 19},
		"an unknown variable":                 {`inptu contains "x"`, 1},
		"an index of the element":             {`any(kinds, #index > 1)`, 12},
		"an element outside a list":           {`# == 1`, 1},
		"a number compared with text":         {`turn == "1"`, 6},
		"lists compared":                      {`kinds == paths`, 7},
		"text in text":                        {`"a" in input`, 5},
		"a number in a list of texts":         {`1 in paths`, 3},
		"a list that is computed":             {`1 in [turn]`, 7},
		"contains of a number":                {`turn contains "x"`, 6},
		"lower of a number":                   {`lower(1) == "x"`, 1},
		"len of a number":                     {`len(1) == 1`, 1},
		"two arguments":                       {`len(input, 2) == 1`, 1},
		"trim of characters":                  {`trim(input, "x") == ""`, 1},
		"a condition that is none":            {`any(kinds, 1)`, 12},
		"count without a condition":           {`count(kinds) == 1`, 1},
		"something else of a message":         {`any(history, .content == "x")`, 15},
		"a message by its number":             {`history[0].text == "x"`, 9},
		"a member of text":                    {`input.x == 1`, 7},
		"nothing":                             {` `, 1},
		"half an expression":                  {`input matches`, 13},
		"columns are in code points":          {`"日本語" == 1`, 7},
		"quotes that don't end":               {`input == "x`, 12},
		"not UTF-8":                           {"\xff == 1", 1},
		"too long":                            {`input == "` + strings.Repeat("x", 5000) + `"`, 1},
		"thousands of parentheses":            {strings.Repeat("(", 2000) + "true" + strings.Repeat(")", 2000), 65},
		"thousands of brackets":               {strings.Repeat("[", 4000), 65},
		"thousands of negations":              {strings.Repeat("not ", 1000) + "true", 257},
		"thousands of exclamation marks":      {strings.Repeat("!", 4000) + "true", 65},
		"more than 200 parts":                 {"true" + strings.Repeat(" and true", 150), 906},
		"comparisons that share their middle": {shared(20), 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := predicate.Compile(tt.source)
			var bad *predicate.Error
			require.ErrorAs(t, err, &bad)
			assert.Equal(t, 1, bad.Line)
			if tt.column > 0 {
				assert.Equal(t, tt.column, bad.Column, bad.Message)
			}
			assert.NotContains(t, bad.Message, "\n")
		})
	}
}

// shared is a small source whose syntax tree, walked, is 2^depth large: the
// middle of a chain of comparisons stands in it twice.
func shared(depth int) string {
	s := "1"
	for range depth {
		s = "1 < (" + s + ") < 1"
	}
	return s
}

func TestI11_an_error_names_its_line(t *testing.T) {
	_, err := predicate.Compile("turn > 1 and\n  inptu == \"x\"")
	var bad *predicate.Error
	require.ErrorAs(t, err, &bad)
	assert.Equal(t, []int{2, 3}, []int{bad.Line, bad.Column})
}

func TestI11_facts_are_bounded(t *testing.T) {
	many := make([]schema.ContentBlock, 5000)
	for i := range many {
		many[i] = schema.ContentBlock{Type: "resource_link", Name: "n", URI: "file:///a.go"}
	}
	long := make([]schema.Message, 300)
	for i := range long {
		long[i] = schema.Message{Role: "user", Content: say(strings.Repeat("ä", 2<<10))}
	}
	long[299].Content = say("newest")
	f := predicate.Facts{Input: append(say(strings.Repeat("日", 200_000)), many...), Recent: messages(long...)}
	for _, source := range []string{
		`len(input) == 87381`, `len(paths) == 1000`, `len(kinds) == 1000`,
		`len(history) == 65 and any(history, .text == "newest")`,
	} {
		got, err := eval(t, source, f)
		require.NoError(t, err)
		assert.True(t, got, source)
	}
}

func TestI11_the_dialogue_is_read_only_when_it_is_asked_about(t *testing.T) {
	read := 0
	f := facts
	f.Recent = func() iter.Seq[schema.Message] { read++; return slices.Values([]schema.Message{}) }
	turn := predicate.NewTurn(f, aLongTime)
	for i, source := range []string{`turn == 3 or len(history) > 0`, `len(history) == 0`, `none(history, true)`} {
		p, err := predicate.Compile(source)
		require.NoError(t, err)
		_, err = p.Eval(turn)
		require.NoError(t, err)
		assert.Equal(t, min(i, 1), read)
	}
}
