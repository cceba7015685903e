package inject_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
)

// evaluate is inject.Apply with its decisions sorted out.
func evaluate(ctx context.Context, selected []inject.Resolved, c inject.Context, red *redact.Redactor, tally *redact.Tally, opts inject.Options) ([]inject.Applied, inject.Decisions, error) {
	decisions, err := inject.Apply(ctx, selected, c, red, tally, opts)
	return decisions.Applied(), decisions.Skipped(), err
}

func names(applied []inject.Applied) []string {
	var out []string
	for _, a := range applied {
		out = append(out, a.Name)
	}
	return out
}

// timed is a static injector and one that makes the same contribution anew.
func timed(when schema.When, predicate func(inject.Context) bool) map[string]inject.Injector {
	c := inject.Contribution{Instructions: "text", When: when, Predicate: predicate,
		ContextBlocks: []schema.ContextBlock{textBlock("a", "b")}}
	return map[string]inject.Injector{
		"static": inject.Static("x", c),
		"func":   inject.Func("x", func(context.Context, inject.Context) (inject.Contribution, error) { return c, nil }),
	}
}

func TestP8_timing(t *testing.T) {
	yes := func(inject.Context) bool { return true }
	no := func(inject.Context) bool { return false }
	tests := map[string]struct {
		when      schema.When
		predicate func(inject.Context) bool
		turns     []int // of 1, 2 and 3
	}{
		"first_turn is turn 1 alone":                        {"first_turn", nil, []int{1}},
		"first_turn ignores a predicate that says no":       {"first_turn", no, []int{1}},
		"first_turn ignores a predicate that says yes":      {"first_turn", yes, []int{1}},
		"every_turn is always":                              {"every_turn", nil, []int{1, 2, 3}},
		"every_turn ignores its predicate":                  {"every_turn", no, []int{1, 2, 3}},
		"no timing is every_turn":                           {"", no, []int{1, 2, 3}},
		"on_input without a predicate is always":            {"on_input", nil, []int{1, 2, 3}},
		"on_input is when the predicate says so":            {"on_input", func(c inject.Context) bool { return c.Turn == 2 }, []int{2}},
		"on_input of a predicate that says no is never due": {"on_input", no, nil},
	}
	for name, tt := range tests {
		for kind, inj := range timed(tt.when, tt.predicate) {
			t.Run(name+"/"+kind, func(t *testing.T) {
				var due []int
				for turn := 1; turn <= 3; turn++ {
					applied, skipped := apply(t, inject.Context{Turn: turn}, inj)
					assert.Empty(t, skipped)
					if len(applied) > 0 {
						due = append(due, turn)
					}
				}
				assert.Equal(t, tt.turns, due)
			})
		}
	}
}

func TestP8_what_applied_says_of_the_timing(t *testing.T) {
	for want, when := range map[schema.When]schema.When{"every_turn": "", "first_turn": "first_turn", "on_input": "on_input"} {
		for _, inj := range timed(when, nil) {
			applied, _ := apply(t, inject.Context{Turn: 1}, inj)
			require.Len(t, applied, 1)
			assert.Equal(t, want, applied[0].When)
		}
	}
}

func TestP9_each_injector_sees_a_copy_of_its_own(t *testing.T) {
	size := int64(3)
	c := inject.Context{
		SessionID: "s", RunID: "r", Turn: 4, Step: 2,
		Input: []schema.ContentBlock{
			schema.TextBlock("hi"),
			{Type: "resource", Size: &size, Resource: &schema.Resource{URI: "u", Text: "t"}, Annotations: jsontext.Value(`{"a":1}`)},
		},
		Metadata: jsontext.Value(`{"k":"v"}`),
		History: slices.Values([]schema.Message{
			{Role: "user", Content: []schema.ContentBlock{schema.TextBlock("earlier")}},
		}),
	}
	see := func(c inject.Context) []string {
		out := []string{c.SessionID, c.RunID, string(c.Metadata), string(c.Input[1].Annotations),
			c.Input[0].Text, c.Input[1].Resource.Text, strings.Repeat("x", int(*c.Input[1].Size))}
		for m := range c.History {
			out = append(out, m.Content[0].Text)
		}
		return out
	}
	spoil := func(c inject.Context) {
		c.Input[0].Text, c.Input[1].Resource.Text, *c.Input[1].Size = "spoiled", "spoiled", 9
		copy(c.Metadata, "!!!!")
		copy(c.Input[1].Annotations, "!!!!")
		for m := range c.History {
			m.Content[0].Text = "spoiled"
		}
	}
	want := see(c)
	var mu sync.Mutex
	var seen [][]string
	note := func(c inject.Context) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, see(c))
	}
	spoiler := func(name string) inject.Injector {
		return inject.Func(name, func(_ context.Context, c inject.Context) (inject.Contribution, error) {
			note(c)
			spoil(c)
			return inject.Contribution{When: "on_input", Predicate: func(c inject.Context) bool {
				note(c)
				spoil(c)
				return true
			}}, nil
		})
	}
	apply(t, c, spoiler("one"), spoiler("two"))
	assert.Equal(t, [][]string{want, want, want, want}, seen)
	assert.Equal(t, want, see(c))
}

func TestP9_turn_and_step_zero_mean_one(t *testing.T) {
	var turn, step int
	look := inject.Func("x", func(_ context.Context, c inject.Context) (inject.Contribution, error) {
		turn, step = c.Turn, c.Step
		return inject.Contribution{Instructions: "x", When: "first_turn"}, nil
	})
	applied, _ := apply(t, inject.Context{}, look)
	assert.Equal(t, [2]int{1, 1}, [2]int{turn, step})
	assert.Len(t, applied, 1)
}

func TestP2_the_order_of_selection_is_the_order_of_application(t *testing.T) {
	applied, _ := apply(t, inject.Context{}, inject.Static("b", say("1")), inject.Static("a", say("2")), inject.Static("c", say("3")))
	assert.Equal(t, []string{"b", "a", "c"}, names(applied))
}

func TestP10_a_fault_skips_the_injector_and_the_turn_goes_on(t *testing.T) {
	errOwn := errors.New("out of order")
	give := func(c inject.Contribution) inject.Injector {
		return inject.Func("bad", func(context.Context, inject.Context) (inject.Contribution, error) { return c, nil })
	}
	broken := func(do func()) inject.Injector {
		return inject.Func("bad", func(context.Context, inject.Context) (inject.Contribution, error) { do(); return say("x"), nil })
	}
	tests := map[string]struct {
		injector inject.Injector
		want     error // nil: any
	}{
		"an error": {inject.Func("bad", func(context.Context, inject.Context) (inject.Contribution, error) {
			return say("x"), errOwn
		}), errOwn},
		"a panic":            {broken(func() { panic("boom") }), inject.ErrPanicked},
		"an index too far":   {broken(func() { _ = []int{}[len(t.Name())] }), inject.ErrPanicked},
		"an ended goroutine": {broken(runtime.Goexit), nil},
		"no injector":        {nil, inject.ErrPanicked},
		"a panicking predicate": {inject.Static("bad", inject.Contribution{Instructions: "x", When: "on_input",
			Predicate: func(inject.Context) bool { panic("boom") }}), inject.ErrPanicked},
		"an unknown timing":           {give(inject.Contribution{Instructions: "x", When: "always"}), inject.ErrWhen},
		"an unknown static timing":    {inject.Static("bad", inject.Contribution{Instructions: "x", When: "always"}), inject.ErrWhen},
		"instructions over the bound": {give(say(strings.Repeat("x", 256<<10+1))), inject.ErrTooLarge},
		"instructions in Latin-1":     {give(say("caf\xe9")), inject.ErrNotUTF8},
		"a NUL in instructions":       {give(say("a\x00b")), inject.ErrNUL},
		"a NUL in a static text":      {inject.Static("bad", say("a\x00b")), inject.ErrNUL},
		"a NUL in a block":            {give(inject.Contribution{ContextBlocks: []schema.ContextBlock{textBlock("a", "\x00")}}), inject.ErrNUL},
		"bad UTF-8 in a title":        {give(inject.Contribution{ContextBlocks: []schema.ContextBlock{textBlock("\xff", "a")}}), inject.ErrNotUTF8},
		"65 blocks":                   {give(inject.Contribution{ContextBlocks: make([]schema.ContextBlock, 65)}), nil},
		"a block over the bound": {give(inject.Contribution{
			ContextBlocks: []schema.ContextBlock{textBlock("a", strings.Repeat("x", 256<<10+1))}}), nil},
		"a title over the bound": {give(inject.Contribution{
			ContextBlocks: []schema.ContextBlock{textBlock(strings.Repeat("x", 256<<10+1), "a")}}), inject.ErrTooLarge},
		"a resource without one": {give(inject.Contribution{
			ContextBlocks: []schema.ContextBlock{{Content: schema.Input{{Type: "resource"}}}}}), nil},
		"an unknown kind of part": {give(inject.Contribution{
			ContextBlocks: []schema.ContextBlock{{Content: schema.Input{{Type: "tool_use"}}}}}), nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			selected := []inject.Resolved{
				{Name: "good", Injector: inject.Static("good", say("x"))},
				{Name: "bad", Injector: tt.injector},
				{Name: "last", Injector: inject.Static("last", say("x"))},
			}
			applied, skipped, err := evaluate(t.Context(), selected, inject.Context{}, nil, nil, inject.Options{})
			require.NoError(t, err)
			assert.Equal(t, []string{"good", "last"}, names(applied))
			require.Len(t, skipped, 1)
			assert.Equal(t, "bad", skipped[0].Name)
			assert.Equal(t, schema.ReasonError, skipped[0].Reason)
			require.Error(t, skipped[0].Err)
			if tt.want != nil {
				assert.ErrorIs(t, skipped[0].Err, tt.want)
			}
		})
	}
}

func TestP7_the_largest_contribution_is_taken(t *testing.T) {
	c := inject.Contribution{Instructions: strings.Repeat("é", 128<<10), ContextBlocks: make([]schema.ContextBlock, 64)}
	c.ContextBlocks[63] = textBlock("a", strings.Repeat("x", 256<<10))
	applied, skipped := apply(t, inject.Context{}, inject.Static("x", c))
	require.Empty(t, skipped)
	assert.Len(t, applied[0].Instructions, 256<<10)
	assert.Len(t, applied[0].ContextBlocks, 1)
}

func TestP8_an_injector_that_gives_nothing_is_neither_applied_nor_skipped(t *testing.T) {
	applied, skipped := apply(t, inject.Context{},
		inject.Func("none", func(context.Context, inject.Context) (inject.Contribution, error) { return inject.Contribution{}, nil }),
		inject.Static("blank", inject.Contribution{Instructions: " \n", ContextBlocks: []schema.ContextBlock{textBlock("a", "")}}))
	assert.Empty(t, applied)
	assert.Empty(t, skipped)
}

func TestP10_a_late_injector_is_left_behind(t *testing.T) {
	for name, opts := range map[string]inject.Options{"after the default": {}, "after the set time": {Timeout: time.Minute}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				wait := opts.Timeout
				if wait == 0 {
					wait = 5 * time.Second
				}
				release := make(chan struct{})
				deaf := inject.Func("deaf", func(context.Context, inject.Context) (inject.Contribution, error) {
					<-release
					return say("too late"), nil
				})
				polite := inject.Func("polite", func(ctx context.Context, _ inject.Context) (inject.Contribution, error) {
					<-ctx.Done()
					return inject.Contribution{}, ctx.Err()
				})
				thinking := inject.Static("thinking", inject.Contribution{Instructions: "x", When: "on_input",
					Predicate: func(inject.Context) bool { <-release; return true }})
				begin := time.Now()
				applied, skipped, err := evaluate(t.Context(),
					chosen(deaf, polite, thinking, inject.Static("last", say("x"))), inject.Context{}, nil, nil, opts)
				require.NoError(t, err)
				assert.Equal(t, wait, time.Since(begin), "they run side by side")
				assert.Equal(t, []string{"last"}, names(applied))
				require.Len(t, skipped, 3)
				for _, s := range skipped {
					assert.Equal(t, schema.ReasonTimeout, s.Reason)
					assert.ErrorIs(t, s.Err, inject.ErrTimeout)
				}
				close(release) // the bubble waits for whoever was left behind
			})
		})
	}
}

func TestP10_an_injectors_own_timeout_is_an_error(t *testing.T) {
	own := inject.Func("x", func(context.Context, inject.Context) (inject.Contribution, error) {
		return inject.Contribution{}, context.DeadlineExceeded
	})
	_, skipped := apply(t, inject.Context{}, own)
	require.Len(t, skipped, 1)
	assert.Equal(t, schema.ReasonError, skipped[0].Reason)
}

func TestP9_cancelling_the_turn_cancels_the_injector(t *testing.T) {
	errAbort := errors.New("aborted")
	polite := func(ctx context.Context, _ inject.Context) (inject.Contribution, error) {
		<-ctx.Done()
		return say("x"), ctx.Err()
	}
	stubborn := func(ctx context.Context, _ inject.Context) (inject.Contribution, error) {
		<-ctx.Done()
		return say("x"), nil
	}
	for name, fn := range map[string]func(context.Context, inject.Context) (inject.Contribution, error){
		"one that returns the error": polite, "one that hides it": stubborn,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Second, func() { cancel(errAbort) })
				applied, skipped, err := evaluate(ctx,
					chosen(inject.Static("first", say("x")), inject.Func("slow", fn), inject.Func("next", fn)), inject.Context{}, nil, nil, inject.Options{})
				assert.ErrorIs(t, err, errAbort)
				assert.Empty(t, applied)
				assert.Empty(t, skipped)
			})
		})
	}
}

func TestP9_a_turn_cancelled_before_it_runs_calls_nobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		called := false
		inj := inject.Func("x", func(context.Context, inject.Context) (inject.Contribution, error) {
			called = true
			return say("x"), nil
		})
		_, _, err := evaluate(ctx, chosen(inj), inject.Context{}, nil, nil, inject.Options{})
		assert.ErrorIs(t, err, context.Canceled)
		synctest.Wait()
		assert.False(t, called)
	})
}
