package inject_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
)

func TestP7_a_contribution_from_outside(t *testing.T) {
	for name, tt := range map[string]struct {
		raw  string
		want inject.Contribution
	}{
		"null is not now":          {" null ", inject.Contribution{}},
		"an empty object":          {"{}", inject.Contribution{}},
		"instructions":             {`{"instructions":"Answer in JSON."}`, inject.Contribution{Instructions: "Answer in JSON."}},
		"a null field is none":     {`{"instructions":null,"contextBlocks":null}`, inject.Contribution{}},
		"its own timing":           {`{"instructions":"x","when":"first_turn"}`, inject.Contribution{Instructions: "x", When: "first_turn"}},
		"a block of text":          {`{"contextBlocks":[{"title":"a","content":"b"}]}`, inject.Contribution{ContextBlocks: []schema.ContextBlock{textBlock("a", "b")}}},
		"a block of blocks":        {`{"contextBlocks":[{"title":"a","content":[{"type":"text","text":"b"}]}]}`, inject.Contribution{ContextBlocks: []schema.ContextBlock{textBlock("a", "b")}}},
		"a lone surrogate":         {`{"instructions":"\ud800"}`, inject.Contribution{Instructions: "\uFFFD"}},
		"_meta is not named":       {`{"instructions":"x","_meta":{"a":1}}`, inject.Contribution{Instructions: "x"}},
		"a predicate of its own":   {`{"instructions":"x","predicate":"false"}`, inject.Contribution{Instructions: "x", Ignored: []string{"predicate"}}},
		"names are case-sensitive": {`{"Instructions":"x"}`, inject.Contribution{Ignored: []string{"Instructions"}}},
		"fields at every depth": {`{"tools":[{}],"contextBlocks":[{"title":"a","content":[{"type":"text","text":"b","x":{"y":1}}],"role":"system"}],"model":"m"}`,
			inject.Contribution{ContextBlocks: []schema.ContextBlock{textBlock("a", "b")}, Ignored: []string{"contextBlocks[0].content[0].x", "contextBlocks[0].role", "model", "tools"}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := inject.DecodeContribution([]byte(tt.raw))
			require.NoError(t, err)
			assert.Equal(t, tt.want.Instructions, got.Instructions)
			assert.Equal(t, tt.want.ContextBlocks, got.ContextBlocks)
			assert.Equal(t, tt.want.When, got.When)
			assert.Equal(t, tt.want.Ignored, got.Ignored)
		})
	}
}

func TestP10_a_contribution_from_outside_that_is_a_fault(t *testing.T) {
	long := strings.Repeat("x", schema.MaxInjectorBytes+1)
	for name, tt := range map[string]struct {
		raw string
		is  error // nil: a *schema.ParamsError
	}{
		"nothing":                 {"", inject.ErrNotJSON},
		"no JSON":                 {"instructions", inject.ErrNotJSON},
		"cut off":                 {`{"instructions":"x"`, inject.ErrNotJSON},
		"two values":              {`{} {}`, inject.ErrNotJSON},
		"text behind it":          {`{}x`, inject.ErrNotJSON},
		"a field twice":           {`{"instructions":"x","instructions":"y"}`, inject.ErrNotJSON},
		"a smuggled field twice":  {`{"tools":1,"tools":2}`, inject.ErrNotJSON},
		"junk that is skipped":    {`{"tools":[1,}`, inject.ErrNotJSON},
		"bytes that are no UTF-8": {"{\"instructions\":\"\xff\"}", inject.ErrNotUTF8},
		"an array":                {`[]`, nil},
		"a string":                {`"Answer in JSON."`, nil},
		"a number":                {`1`, nil},
		"false":                   {`false`, nil},
		"instructions of a list":  {`{"instructions":["x"]}`, nil},
		"instructions of a map":   {`{"instructions":{"text":"x"}}`, nil},
		"blocks of an object":     {`{"contextBlocks":{"title":"a","content":"b"}}`, nil},
		"a block of text alone":   {`{"contextBlocks":["b"]}`, nil},
		"a block without content": {`{"contextBlocks":[{"title":"a"}]}`, nil},
		"a kind of block":         {`{"contextBlocks":[{"content":[{"type":"tool_use"}]}]}`, nil},
		"a timing of a number":    {`{"when":1}`, nil},
		"an unknown timing":       {`{"instructions":"x","when":"always"}`, inject.ErrWhen},
		"too long":                {`{"instructions":"` + long + `"}`, inject.ErrTooLarge},
		"NUL":                     {`{"instructions":"a\u0000b"}`, inject.ErrNUL},
		"too many blocks":         {`{"contextBlocks":[` + strings.Repeat(`{"content":""},`, 64) + `{"content":""}]}`, nil},
		"blocks too long":         {`{"contextBlocks":[{"content":"` + long + `"}]}`, nil},
		"too many pieces":         {`{"contextBlocks":[{"content":[` + strings.Repeat(`{"type":"text"},`, 1000) + `{"type":"text"}]}]}`, inject.ErrManyOf},
		"too large as a whole":    {`{"tools":"` + strings.Repeat("x", 2<<20) + `"}`, inject.ErrTooLarge},
		"nested without end":      {strings.Repeat(`{"tools":`, 20_000), inject.ErrNotJSON},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := inject.DecodeContribution([]byte(tt.raw))
			if tt.is == nil {
				assert.ErrorAs(t, err, new(*schema.ParamsError))
				return
			}
			assert.ErrorIs(t, err, tt.is)
		})
	}
}

func TestP7_ignored_fields_are_named_bounded_sorted_and_fit_to_be_shown(t *testing.T) {
	fields := map[string]int{"\x1b[2J\u202e": 1, "hunter2-token": 1, "z" + strings.Repeat("y", 500): 1}
	for i := range 100 {
		fields[fmt.Sprintf("y%03d", i)] = i
	}
	raw, err := json.Marshal(map[string]any{"instructions": "x"})
	require.NoError(t, err)
	c, err := inject.DecodeContribution(smuggle(t, raw, fields))
	require.NoError(t, err)
	assert.Len(t, c.Ignored, 32)
	assert.True(t, slices.IsSorted(c.Ignored))

	red, err := redact.New(redact.Value{Secret: redact.NewSecret("hunter2-token")})
	require.NoError(t, err)
	given := inject.Func("x", func(context.Context, inject.Context) (inject.Contribution, error) { return c, nil })
	applied, _, err := evaluate(t.Context(), []inject.Resolved{{Name: "x", Injector: given}}, inject.Context{}, red, nil, inject.Options{})
	require.NoError(t, err)
	require.Len(t, applied, 1)
	told := applied[0].Injected()[0].Ignored
	assert.Equal(t, []string{`\u001b[2J\u202e`, "[REDACTED]", "y000"}, told[:3])
	assert.Len(t, told, 32)
}

// smuggle adds fields to a JSON object.
func smuggle[V any](t *testing.T, raw []byte, fields map[string]V) []byte {
	more, err := json.Marshal(fields, json.Deterministic(true))
	require.NoError(t, err)
	raw = slices.Clone(raw[:len(raw)-1])
	if len(bytes.TrimSpace(raw)) > 1 {
		raw = append(raw, ',')
	}
	return append(raw, more[1:]...)
}

// What is smuggled into an object changes nothing else of the contribution.
func FuzzDecodeContribution(f *testing.F) {
	for _, seed := range []string{
		`null`, `{}`, `{ }`, `{"instructions":"x","when":"on_input"}`, `{"tools":[]}`, `{"contextBlocks":[{"content":[{"type":"resource","resource":{"uri":"u","x":1}}]}]}`,
		`{"contextBlocks":[{"id":"a","priority":3,"metadata":{"a":[1]},"content":"b","_meta":1}],"\u0000":2}`, `{"instructions":"\ud800"}`, `[`, `{"a":1,"a":2}`, "\xff",
	} {
		f.Add([]byte(seed), "tools")
	}
	f.Fuzz(func(t *testing.T, raw []byte, field string) {
		c, err := inject.DecodeContribution(raw)
		if err != nil {
			return
		}
		assert.NoError(t, c.Check())
		assert.LessOrEqual(t, len(c.Ignored), 32)
		known := []string{"instructions", "contextBlocks", "when", "_meta"}
		if raw = trimmed(raw); raw[0] != '{' || slices.Contains(known, strings.ToValidUTF8(field, "\uFFFD")) || len(c.Ignored) > 0 {
			return
		}
		with, err := inject.DecodeContribution(smuggle(t, raw, map[string]string{strings.ToValidUTF8(field, "\uFFFD"): "x"}))
		require.NoError(t, err)
		assert.Equal(t, []string{strings.ToValidUTF8(field, "\uFFFD")}, with.Ignored)
		with.Ignored = nil
		assert.Equal(t, c, with)
	})
}

func trimmed(raw []byte) []byte { return []byte(strings.Trim(string(raw), " \t\r\n")) }

func TestP7_smuggled_fields_do_not_exist_in_the_types(t *testing.T) {
	smuggled := map[string]any{"tools": []any{map[string]any{"name": "sh"}}, "skills": []any{"x"}, "permissions": map[string]any{"all": true},
		"execute": "rm -rf /", "model": "other", "options": map[string]any{"temperature": 2}, "apiKey": "k"}
	plain := []byte(`{"instructions":"Answer in JSON.","contextBlocks":[{"title":"Repo","content":"A monorepo."}],"when":"every_turn"}`)
	without, err := inject.DecodeContribution(plain)
	require.NoError(t, err)
	with, err := inject.DecodeContribution(smuggle(t, plain, smuggled))
	require.NoError(t, err)
	assert.Equal(t, slices.Sorted(maps.Keys(smuggled)), with.Ignored)
	with.Ignored = nil
	assert.Equal(t, without, with)
}
