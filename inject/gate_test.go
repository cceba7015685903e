package inject_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/schema"
)

// counted gives c and counts how often it was asked.
func counted(c inject.Contribution) (ask func(context.Context, inject.Context) (inject.Contribution, error), asked *atomic.Int32) {
	asked = new(atomic.Int32)
	return func(context.Context, inject.Context) (inject.Contribution, error) {
		asked.Add(1)
		return c, nil
	}, asked
}

func TestP8_a_callback_is_asked_only_when_it_is_due(t *testing.T) {
	for name, tt := range map[string]struct {
		spec   schema.InjectorSpec
		given  schema.When // in the answer
		turn   inject.Context
		asked  int32
		reason schema.Reason
		when   schema.When
	}{
		"every turn":                   {schema.InjectorSpec{When: "every_turn"}, "", inject.Context{Turn: 3}, 1, "applied", "every_turn"},
		"the first turn":               {schema.InjectorSpec{When: "first_turn"}, "", inject.Context{Turn: 1}, 1, "applied", "first_turn"},
		"no longer the first turn":     {schema.InjectorSpec{When: "first_turn"}, "", inject.Context{Turn: 2}, 0, "not_due", "first_turn"},
		"the first call of a run":      {schema.InjectorSpec{When: "first_turn", Scope: "run"}, "", inject.Context{Turn: 2, Step: 1}, 1, "applied", "first_turn"},
		"a later call of a run":        {schema.InjectorSpec{When: "first_turn", Scope: "run"}, "", inject.Context{Turn: 1, Step: 2}, 0, "not_due", "first_turn"},
		"a condition that holds":       {onInput("turn == 3"), "", inject.Context{Turn: 3}, 1, "applied", "on_input"},
		"a condition that does not":    {onInput("turn == 3"), "", inject.Context{Turn: 2}, 0, "predicate_false", "on_input"},
		"a condition that fails":       {onInput("metadata.n + 1 == 2"), "", inject.Context{Metadata: jsontext.Value(`{"n":"x"}`)}, 0, "error", "on_input"},
		"a condition that isn't asked": {schema.InjectorSpec{When: "every_turn", Predicate: "false"}, "", inject.Context{}, 1, "applied", "every_turn"},
		"the answer's own timing":      {schema.InjectorSpec{When: "every_turn"}, "first_turn", inject.Context{Turn: 1}, 1, "applied", "first_turn"},
		"another turn by the answer":   {schema.InjectorSpec{When: "every_turn"}, "first_turn", inject.Context{Turn: 2}, 1, "not_due", "every_turn"},
		"a fault in the answer":        {schema.InjectorSpec{When: "every_turn"}, "sometimes", inject.Context{}, 1, "error", "every_turn"},
	} {
		ask, asked := counted(inject.Contribution{Instructions: "text", When: tt.given})
		tt.spec.Name, tt.spec.Instructions = "x", ""
		callback, err := inject.Callback(tt.spec, ask)
		require.NoError(t, err, name)
		gate, err := inject.Gated(inject.Func("x", ask), inject.Gate{When: tt.spec.When, Predicate: tt.spec.Predicate, Scope: tt.spec.Scope})
		require.NoError(t, err, name)
		wrapped := inject.With(inject.Func("x", gate.Apply), inject.Settings{Scope: tt.spec.Scope})
		for kind, inj := range map[string]inject.Injector{"callback": callback, "gate": gate, "gate in foreign hands": wrapped} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				asked.Store(0)
				got, err := inject.Apply(t.Context(), chosen(inj), tt.turn, nil, nil, inject.Options{})
				require.NoError(t, err)
				assert.Equal(t, tt.asked, asked.Load())
				assert.Equal(t, tt.reason, got[0].Reason)
				if kind != "gate in foreign hands" {
					assert.Equal(t, tt.when, got[0].When)
				}
			})
		}
	}
}

func TestP7_a_callback_gives_no_more_than_its_maxBytes(t *testing.T) {
	most := 10
	for want, c := range map[schema.Reason]inject.Contribution{
		"applied": {Instructions: "12345", ContextBlocks: []schema.ContextBlock{textBlock("67", "890")}},
		"error":   {Instructions: "12345", ContextBlocks: []schema.ContextBlock{textBlock("67", "8901")}},
	} {
		ask, _ := counted(c)
		inj, err := inject.Callback(schema.InjectorSpec{Name: "x", When: "every_turn", MaxBytes: &most}, ask)
		require.NoError(t, err)
		got, err := inject.Apply(t.Context(), chosen(inj), inject.Context{}, nil, nil, inject.Options{})
		require.NoError(t, err)
		assert.Equal(t, want, got[0].Reason)
	}
}

func TestP7_what_a_callback_may_not_say_beforehand(t *testing.T) {
	ask, _ := counted(say("x"))
	for field, spec := range map[string]schema.InjectorSpec{
		"name":          {Name: "false", When: "every_turn"},
		"when":          {Name: "x"},
		"instructions":  {Name: "x", When: "every_turn", Instructions: "text"},
		"contextBlocks": {Name: "x", When: "every_turn", ContextBlocks: []schema.ContextBlock{}},
		"predicate":     {Name: "x", When: "on_input", Predicate: "input +"},
		"title":         {Name: "x", When: "every_turn", Title: strings.Repeat("x", schema.MaxTitleBytes+1)},
		"onError":       {Name: "x", When: "every_turn", OnError: "retry"},
	} {
		_, err := inject.Callback(spec, ask)
		var bad *schema.ParamsError
		if assert.ErrorAs(t, err, &bad, field) {
			assert.Equal(t, field, bad.Errors[0].Field)
		}
	}
	_, err := inject.Gated(nil, inject.Gate{})
	assert.ErrorIs(t, err, inject.ErrNil)
	_, err = inject.Gated(inject.Func("x", ask), inject.Gate{When: "always"})
	assert.ErrorIs(t, err, inject.ErrWhen)
}

// A callback that is due when its time is over has returned before Apply does:
// what it did about it comes before what follows.
func TestP10_a_callback_is_waited_for(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		inj, err := inject.Callback(schema.InjectorSpec{Name: "x", When: "every_turn"}, func(ctx context.Context, _ inject.Context) (inject.Contribution, error) {
			<-ctx.Done()
			ended = true
			return inject.Contribution{}, context.Cause(ctx)
		})
		require.NoError(t, err)
		got, err := inject.Apply(t.Context(), chosen(inj), inject.Context{}, nil, nil, inject.Options{})
		require.NoError(t, err)
		assert.True(t, ended)
		assert.Equal(t, schema.ReasonTimeout, got[0].Reason)
	})
}

func TestP10_a_callback_that_ends_its_goroutine_or_panics_is_skipped(t *testing.T) {
	for name, ask := range map[string]func(){"ends": runtime.Goexit, "panics": func() { panic("x") }} {
		inj, err := inject.Callback(schema.InjectorSpec{Name: "x", When: "every_turn"}, func(context.Context, inject.Context) (inject.Contribution, error) {
			ask()
			return say("x"), nil
		})
		require.NoError(t, err)
		got, err := inject.Apply(t.Context(), chosen(inj), inject.Context{}, nil, nil, inject.Options{})
		require.NoError(t, err)
		assert.Equal(t, schema.ReasonError, got[0].Reason, name)
	}
}

func TestP2_injectors_that_run_side_by_side_apply_in_the_order_of_selection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int32
		var selected []inject.Injector
		var want []string
		for i := range 100 {
			name := fmt.Sprintf("%02d", i)
			want = append(want, name)
			selected = append(selected, inject.Func(name, func(context.Context, inject.Context) (inject.Contribution, error) {
				if now := running.Add(1); now > most.Load() {
					most.Store(now)
				}
				defer running.Add(-1)
				time.Sleep(time.Second + time.Duration(100-i)*time.Millisecond)
				return say(name), nil
			}))
		}
		begin := time.Now()
		applied, skipped := apply(t, inject.Context{}, selected...)
		assert.Empty(t, skipped)
		assert.Equal(t, want, names(applied))
		assert.Equal(t, int32(64), most.Load())
		assert.Less(t, time.Since(begin), 3*time.Second)
	})
}
