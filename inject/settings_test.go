package inject_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/schema"
)

// fromSpec is the injector of a spec that is right.
func fromSpec(t testing.TB, spec schema.InjectorSpec) inject.Injector {
	t.Helper()
	if spec.Name == "" {
		spec.Name = "x"
	}
	if spec.When == "" {
		spec.When = schema.WhenEveryTurn
	}
	inj, err := inject.FromSpec(spec)
	require.NoError(t, err)
	return inj
}

func onInput(expression string) schema.InjectorSpec {
	return schema.InjectorSpec{When: "on_input", Predicate: expression, Instructions: "text"}
}

func TestP8_a_predicate_is_data(t *testing.T) {
	tests := map[string]struct {
		spec schema.InjectorSpec
		turn inject.Context
		want bool
	}{
		"it says yes":              {onInput(`input matches "(?i)json"`), inject.Context{Input: say2("as JSON")}, true},
		"it says no":               {onInput(`input matches "(?i)json"`), inject.Context{Input: say2("as text")}, false},
		"a zero turn is the first": {onInput(`turn == 1 and step == 1`), inject.Context{}, true},
		"the session":              {onInput(`sessionId == "s"`), inject.Context{SessionID: "s"}, true},
		"metadata":                 {onInput(`metadata.lang == "go"`), inject.Context{Metadata: jsontext.Value(`{"lang":"go"}`)}, true},
		"history": {onInput(`any(history, .role == "assistant" and .text == "a")`), inject.Context{History: slices.Values([]schema.Message{
			{Role: "user", Content: say2("q")}, {Role: "assistant", Content: say2("a")}})}, true},
		"a trivial input, R4":   {onInput("trivial"), inject.Context{Input: say2("ok"), Trivial: true}, true},
		"a substantive input":   {onInput("trivial"), inject.Context{Input: say2("why?")}, false},
		"first_turn ignores it": {schema.InjectorSpec{When: "first_turn", Predicate: `false`, Instructions: "text"}, inject.Context{Turn: 1}, true},
		"every_turn ignores it": {schema.InjectorSpec{When: "every_turn", Predicate: `false`, Instructions: "text"}, inject.Context{Turn: 4}, true},
		"on_input without one":  {onInput(""), inject.Context{Turn: 4}, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			inj := fromSpec(t, tt.spec)
			applied, skipped := apply(t, tt.turn, inj)
			assert.Empty(t, skipped)
			assert.Equal(t, tt.want, len(applied) == 1)

			wrapped := inject.Func("w", inj.Apply)
			applied, _ = apply(t, tt.turn, wrapped)
			assert.Equal(t, tt.want, len(applied) == 1, "an injector that asks another one keeps its condition")
		})
	}
}

func say2(text string) []schema.ContentBlock { return []schema.ContentBlock{schema.TextBlock(text)} }

func TestP29_the_third_injector_is_data(t *testing.T) {
	inj := fromSpec(t, schema.InjectorSpec{
		Name: "on-json", When: "on_input", Predicate: `content matches "(?i)json"`, Instructions: "Reply with JSON."})
	resource := schema.ContentBlock{Type: "resource", Resource: &schema.Resource{URI: "file:///a", Text: "as jSoN"}}
	for _, input := range [][]schema.ContentBlock{say2("as JSON"), say2("jSON?"), {schema.TextBlock("hi"), resource}} {
		applied, _ := apply(t, inject.Context{Turn: 7, Input: input}, inj)
		require.Len(t, applied, 1)
		assert.Equal(t, "Reply with JSON.", applied[0].Instructions)
	}
	applied, _ := apply(t, inject.Context{Turn: 7, Input: say2("as text")}, inj)
	assert.Empty(t, applied)
}

func TestI11_a_bad_predicate_is_refused_with_its_place(t *testing.T) {
	for _, when := range []schema.When{"first_turn", "every_turn", "on_input"} {
		spec := schema.InjectorSpec{Name: "x", When: when, Predicate: `turn > 1 and inptu == ""`, Instructions: "text"}
		_, err := inject.FromSpec(spec)
		var bad *schema.ParamsError
		require.ErrorAs(t, err, &bad)
		assert.Equal(t, "predicate", bad.Errors[0].Field)
		assert.True(t, strings.HasPrefix(bad.Errors[0].Message, "column 14: "), bad.Errors[0].Message)
	}
}

func TestP10_a_predicate_that_fails_skips_its_injector(t *testing.T) {
	bad, good := onInput(`metadata.n + 1 == 2`), onInput(`true`)
	bad.Name, good.Name = "bad", "good"
	applied, skipped := apply(t, inject.Context{}, fromSpec(t, bad), fromSpec(t, good))
	assert.Equal(t, []string{"good"}, names(applied))
	require.Len(t, skipped, 1)
	assert.Equal(t, []any{"bad", schema.ReasonError}, []any{skipped[0].Name, skipped[0].Reason})
}

func TestP10_predicates_share_their_time(t *testing.T) {
	first, second := onInput(`len(history) == 0`), onInput(`true`)
	first.Name, second.Name = "first", "second"
	turn := inject.Context{Recent: func(int) iter.Seq[schema.Message] {
		for start := time.Now(); time.Since(start) <= time.Nanosecond; { // so that the clock is past that
			continue
		}
		return slices.Values([]schema.Message(nil))
	}}
	selected := chosen(fromSpec(t, first), fromSpec(t, second), inject.Static("third", say("text")))
	applied, skipped, err := evaluate(t.Context(), selected, turn, nil, nil, inject.Options{PredicateTime: time.Nanosecond})
	require.NoError(t, err)
	assert.Equal(t, []string{"first", "third"}, names(applied))
	require.Len(t, skipped, 1)
	assert.Equal(t, []any{"second", schema.ReasonTimeout}, []any{skipped[0].Name, skipped[0].Reason})
}

func TestP8_scope(t *testing.T) {
	tests := map[string]struct {
		scope      schema.Scope
		turn, step int
		want       bool
	}{
		"a session's first turn":                  {"", 1, 1, true},
		"it goes on at its second call":           {"session", 1, 2, true},
		"a session's second turn":                 {"session", 2, 1, false},
		"a run's first call, in a later turn too": {"run", 5, 1, true},
		"a run's second call":                     {"run", 1, 2, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			spec := schema.InjectorSpec{When: "first_turn", Scope: tt.scope, Instructions: "text"}
			fixed := fromSpec(t, spec)
			made := inject.With(timed("first_turn", nil)["func"], inject.Settings{Scope: tt.scope})
			for _, inj := range []inject.Injector{fixed, made} {
				applied, _ := apply(t, inject.Context{Turn: tt.turn, Step: tt.step}, inj)
				assert.Equal(t, tt.want, len(applied) == 1)
			}
		})
	}
}

func TestP16_placement_moves_instructions(t *testing.T) {
	blocks := []schema.ContextBlock{textBlock("Repo", "A monorepo.")}
	spec := schema.InjectorSpec{Name: "x", Title: "House rules", Instructions: "Be brief.", ContextBlocks: blocks}
	entry := func(place schema.Placement, text string) schema.Injected {
		return schema.Injected{Name: "x", Origin: "host", Placement: place, When: "every_turn", Bytes: len(text), SHA256: hash(text)}
	}
	notice := entry("notice", "Be brief.")
	notice.Kind, notice.Form, notice.Summary = "plugin:prism-rpc", "notice", "House rules"
	const repo, rules = "Repo:\nA monorepo.", "House rules:\nBe brief."
	for place, want := range map[schema.Placement][]schema.Injected{
		"":        {entry("system", "Be brief."), entry("context", repo)},
		"system":  {entry("system", "Be brief."), entry("context", repo)},
		"context": {entry("context", rules+repo)},
		"notice":  {entry("context", repo), notice},
	} {
		spec.Placement = place
		applied, _ := apply(t, inject.Context{}, fromSpec(t, spec))
		require.Len(t, applied, 1)
		assert.Equal(t, want, applied[0].Injected(), "placement %q", place)
	}
}

func TestP16_a_notice_is_summarised(t *testing.T) {
	for title, want := range map[string]string{
		"":                       "x",
		"Check the wiki":         "Check the wiki",
		strings.Repeat("é", 200): strings.Repeat("é", 119) + "…",
	} {
		spec := schema.InjectorSpec{Placement: "notice", Title: title, Instructions: "text"}
		applied, _ := apply(t, inject.Context{}, fromSpec(t, spec))
		require.Len(t, applied, 1)
		assert.Equal(t, want, applied[0].Summary())
	}
}

func TestP10_onError_fail_ends_the_turn(t *testing.T) {
	errOwn := errors.New("out of order")
	broken := inject.Func("broken", func(context.Context, inject.Context) (inject.Contribution, error) {
		return inject.Contribution{}, errOwn
	})
	data := onInput(`metadata.n + 1 == 2`)
	data.OnError = schema.OnErrorFail
	cancelled := make(chan struct{}, 2)
	after := inject.Func("after", func(ctx context.Context, _ inject.Context) (inject.Contribution, error) {
		<-ctx.Done()
		cancelled <- struct{}{}
		return say("text"), nil
	})
	for _, inj := range []inject.Injector{inject.With(broken, inject.Settings{OnError: "fail"}), fromSpec(t, data)} {
		applied, skipped, err := evaluate(t.Context(), chosen(inject.Static("before", say("text")), inj, after), inject.Context{}, nil, nil, inject.Options{})
		var failed *inject.FailedError
		require.ErrorAs(t, err, &failed)
		assert.Equal(t, []any{inj.Name(), schema.ReasonError}, []any{failed.Name, failed.Reason})
		assert.Error(t, failed.Err)
		assert.Empty(t, applied)
		assert.Empty(t, skipped)
	}
	<-cancelled // what ran beside the one that failed; beside data that fails nothing runs
	assert.Empty(t, cancelled)
	_, skipped := apply(t, inject.Context{}, inject.With(broken, inject.Settings{OnError: "skip"}))
	assert.Len(t, skipped, 1)
}

func TestP9_a_cancelled_turn_is_cancelled_not_failed(t *testing.T) {
	errAbort := errors.New("aborted")
	ctx, cancel := context.WithCancelCause(t.Context())
	inj := inject.Func("x", func(ctx context.Context, _ inject.Context) (inject.Contribution, error) {
		cancel(errAbort)
		return inject.Contribution{}, ctx.Err()
	})
	_, _, err := evaluate(ctx, chosen(inject.With(inj, inject.Settings{OnError: "fail"})), inject.Context{}, nil, nil, inject.Options{})
	assert.ErrorIs(t, err, errAbort)
}

func TestP3_a_disabled_injector_has_its_name_and_does_not_resolve(t *testing.T) {
	var r inject.Registry
	off := false
	_, err := r.Register(fromSpec(t, schema.InjectorSpec{Instructions: "text", Enabled: &off}), schema.OriginConfig)
	require.NoError(t, err)
	_, err = r.Register(inject.Static("x", say("lower")), schema.OriginBundle)
	require.NoError(t, err)

	_, err = r.Resolve([]string{"x"})
	var unknown *inject.UnknownError
	require.ErrorAs(t, err, &unknown)
	assert.NotEmpty(t, unknown.Reason)
	assert.Empty(t, unknown.Known)
	list := r.List(nil)
	assert.Equal(t, []schema.InjectorState{"disabled", "shadowed"}, []schema.InjectorState{list[0].State, list[1].State})
	assert.NotEmpty(t, list[0].Reason)
}

func TestP16_settings_that_change_nothing_are_warned_of(t *testing.T) {
	for want, spec := range map[int]schema.InjectorSpec{
		0: {Instructions: "text", Placement: "context", Position: "head", Title: "t"},
		1: {Instructions: "text", Placement: "notice", Position: "head", Title: "t"},
		2: {Instructions: "text", Position: "tail", Title: "t"},
		3: {Instructions: "text", Retention: "keep", Producer: "me", Title: "t"},
	} {
		var r inject.Registry
		_, err := r.Register(fromSpec(t, spec), schema.OriginConfig)
		require.NoError(t, err)
		assert.Len(t, r.List(nil)[0].Warnings, want)
	}
}

func TestP7_what_a_spec_may_not_say(t *testing.T) {
	small := 7
	for name, spec := range map[string]schema.InjectorSpec{
		"placement": {Instructions: "text", Placement: "head"},
		"position":  {Instructions: "text", Position: "system"},
		"scope":     {Instructions: "text", Scope: "turn"},
		"onError":   {Instructions: "text", OnError: "retry"},
		"retention": {Instructions: "text", Retention: "for ever"},
		"producer":  {Instructions: "text", Producer: "plugin"},
		"title":     {Instructions: "text", Title: strings.Repeat("x", 513)},
		"predicate": {Instructions: "text", Predicate: strings.Repeat(" ", 4097)},
		"maxBytes":  {Instructions: "text", Title: "more", MaxBytes: &small},
		"contextBlocks[0].metadata": {ContextBlocks: []schema.ContextBlock{
			{Content: schema.Input{schema.TextBlock("a")}, Metadata: jsontext.Value(`1`)}}},
		"instructions": {Placement: "notice", ContextBlocks: []schema.ContextBlock{textBlock("a", "b")}},
	} {
		spec.Name, spec.When = "x", "every_turn"
		_, err := inject.FromSpec(spec)
		var bad *schema.ParamsError
		require.ErrorAs(t, err, &bad, name)
		assert.Equal(t, name, bad.Errors[0].Field)
	}
}

func TestP26_titles_notices_and_metadata_are_redacted(t *testing.T) {
	red := hiding(t)
	secret := canary
	block := textBlock(secret, "text")
	block.Metadata, block.Priority = jsontext.Value(`{"k":"`+secret+`"}`), 3
	for _, place := range []schema.Placement{"system", "context", "notice"} {
		spec := schema.InjectorSpec{Placement: place, Title: "t " + secret, Instructions: "use " + secret, ContextBlocks: []schema.ContextBlock{block}}
		applied, _, err := evaluate(t.Context(), chosen(fromSpec(t, spec)), inject.Context{}, red, nil, inject.Options{})
		require.NoError(t, err)
		require.Len(t, applied, 1)
		a := applied[0]
		shown := a.Instructions + a.Notice + a.Summary()
		for _, b := range a.ContextBlocks {
			shown += inject.Render(b) + string(b.Metadata)
		}
		assert.NotContains(t, shown, secret)
		assert.Equal(t, 3, a.ContextBlocks[len(a.ContextBlocks)-1].Priority)
	}
}
