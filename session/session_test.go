package session_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/assemble"
	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/memstore"
)

// model is a provider that keeps what it was asked and answers by a function.
type model struct {
	answer func(ctx context.Context, req *provider.Request, emit func(provider.Event) error) (*provider.Result, error)

	mu    sync.Mutex
	calls []*provider.Request
}

func (m *model) Name() string { return "model" }

func (m *model) Stream(ctx context.Context, req *provider.Request, emit func(provider.Event) error) (*provider.Result, error) {
	m.mu.Lock()
	m.calls = append(m.calls, req)
	m.mu.Unlock()
	return m.answer(ctx, req, emit)
}

func (m *model) asked() []*provider.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls
}

// says answers with pieces of text.
func says(pieces ...string) *model {
	return &model{answer: func(_ context.Context, _ *provider.Request, emit func(provider.Event) error) (*provider.Result, error) {
		for _, p := range pieces {
			if err := emit(provider.Event{Kind: provider.EventText, Text: p}); err != nil {
				return nil, err
			}
		}
		return &provider.Result{StopReason: schema.StopEndTurn}, nil
	}}
}

// streams says a piece, then waits until it is cancelled or the time is over.
func streams(piece string, d time.Duration) *model {
	return &model{answer: func(ctx context.Context, _ *provider.Request, emit func(provider.Event) error) (*provider.Result, error) {
		if piece != "" {
			if err := emit(provider.Event{Kind: provider.EventText, Text: piece}); err != nil {
				return nil, err
			}
		}
		select {
		case <-ctx.Done():
			return nil, &provider.Error{Class: provider.ClassInterrupted, Message: "cancelled"}
		case <-time.After(d):
			return &provider.Result{StopReason: schema.StopEndTurn}, nil
		}
	}}
}

func fails(class provider.Class) func(context.Context, *provider.Request, func(provider.Event) error) (*provider.Result, error) {
	return func(context.Context, *provider.Request, func(provider.Event) error) (*provider.Result, error) {
		return nil, &provider.Error{Class: class, Message: "no"}
	}
}

func input(text string) []schema.ContentBlock { return []schema.ContentBlock{schema.TextBlock(text)} }

func newManager(t *testing.T, cfg session.Config) *session.Manager {
	m, err := session.NewManager(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	return m
}

func registry(t *testing.T, injectors ...inject.Injector) *inject.Registry {
	r := &inject.Registry{}
	for _, inj := range injectors {
		_, err := r.Register(inj, schema.OriginConfig)
		require.NoError(t, err)
	}
	return r
}

// recorder keeps a run's events in order.
type recorder struct {
	mu     sync.Mutex
	events []schema.Event
}

func (r *recorder) take(e schema.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

func (r *recorder) types() []schema.EventType {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := []schema.EventType{}
	for _, e := range r.events {
		out = append(out, e.Header().Type)
	}
	return out
}

func begin(t *testing.T, m *session.Manager, id, text string, queue bool, o session.RunOptions) *session.Run {
	run, err := m.Begin(t.Context(), session.Start{SessionID: id, Input: input(text), Create: true, Queue: queue, RunOptions: o})
	require.NoError(t, err)
	return run
}

func wait(t *testing.T, run *session.Run) *schema.TurnResult {
	res, err := run.Wait()
	require.NoError(t, err)
	run.Settle()
	return res
}

func ask(t *testing.T, m *session.Manager, id, text string, o session.RunOptions) *schema.TurnResult {
	return wait(t, begin(t, m, id, text, false, o))
}

func state(t *testing.T, m *session.Manager, id string) *schema.SessionState {
	s, err := m.View(id)
	require.NoError(t, err)
	return s.State()
}

func TestTurnsAreCountedAndRemembered(t *testing.T) {
	p := says("Hel", "lo.")
	m := newManager(t, session.Config{Provider: p, Model: "m1"})
	var rec recorder
	first := ask(t, m, "s", "hi", session.RunOptions{OnEvent: rec.take})
	assert.Equal(t, 1, first.Turn)
	assert.True(t, first.Committed)
	assert.Equal(t, schema.AssistantText("Hello."), first.Message)
	assert.Equal(t, []schema.EventType{"turn_started", "message_delta", "message_delta", "turn_ended"}, rec.types())

	second := ask(t, m, "s", "more", session.RunOptions{})
	assert.Equal(t, 2, second.Turn)
	require.Len(t, p.asked(), 2)
	assert.Equal(t, "m1", p.asked()[1].Model)
	assert.Equal(t, `{"role":"user","content":"hi"},{"role":"assistant","content":"Hello."}`, historyOf(p.asked()[1]))

	s, err := m.View("s")
	require.NoError(t, err)
	page := s.Messages(0, 1)
	require.Len(t, page.Messages, 2)
	assert.Equal(t, 1, *page.NextAfterTurn)
	rest := s.Messages(1, 10)
	require.Len(t, rest.Messages, 2)
	assert.Nil(t, rest.NextAfterTurn)
	assert.Equal(t, "more", rest.Messages[0].Content[0].Text)
}

func historyOf(req *provider.Request) string {
	for _, seg := range req.Segments {
		if seg.Kind == provider.SegmentHistory {
			b, _ := seg.History.Plain()
			return string(b)
		}
	}
	return ""
}

func systemOf(req *provider.Request) string {
	for _, seg := range req.Segments {
		if seg.Kind == provider.SegmentSystem {
			return seg.Messages[0].Content[0].Text
		}
	}
	return ""
}

func TestP3UnknownInjectorTouchesNothing(t *testing.T) {
	p := says("hi")
	m := newManager(t, session.Config{Provider: p, Registry: registry(t, inject.Static("good", inject.Contribution{Instructions: "x"}))})
	var rec recorder
	_, err := m.Begin(t.Context(), session.Start{
		SessionID: "s", Input: input("hi"), Create: true,
		RunOptions: session.RunOptions{Names: []string{"good", "bad"}, OnEvent: rec.take},
	})
	var unknown *inject.UnknownError
	require.ErrorAs(t, err, &unknown)
	assert.Equal(t, "bad", unknown.Name)
	assert.Empty(t, p.asked())
	assert.Empty(t, rec.types())
	_, err = m.View("s")
	assert.ErrorIs(t, err, session.ErrNotFound)
	assert.Equal(t, 1, ask(t, m, "s", "hi", session.RunOptions{Names: []string{"good"}}).Turn)
}

func TestP2TurnListReplacesBaseList(t *testing.T) {
	p := says("ok")
	m := newManager(t, session.Config{
		Provider: p, Base: "Base.", Names: []string{"a"},
		Registry: registry(t, inject.Static("a", inject.Contribution{Instructions: "A."}), inject.Static("b", inject.Contribution{Instructions: "B."})),
	})
	ask(t, m, "s", "1", session.RunOptions{})
	ask(t, m, "s", "2", session.RunOptions{Names: []string{"b"}})
	ask(t, m, "s", "3", session.RunOptions{Names: []string{}})
	ask(t, m, "s", "4", session.RunOptions{Names: []string{"b", "a"}})
	var systems []string
	for _, req := range p.asked() {
		systems = append(systems, systemOf(req))
	}
	assert.Equal(t, []string{"Base.\n\nA.", "Base.\n\nB.", "Base.", "Base.\n\nB.\n\nA."}, systems)
}

func TestP8FailedTurnFreesItsNumberAndFirstTurnText(t *testing.T) {
	p := says("ok")
	works := p.answer
	p.answer = fails(provider.ClassOverloaded)
	m := newManager(t, session.Config{
		Provider: p, Names: []string{"first"},
		Registry: registry(t, inject.Static("first", inject.Contribution{Instructions: "Once.", When: schema.WhenFirstTurn})),
	})
	run := begin(t, m, "s", "hi", false, session.RunOptions{})
	_, err := run.Wait()
	run.Settle()
	var failed *session.ProviderError
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, provider.ClassOverloaded, failed.Failure.Class)
	assert.Equal(t, 0, state(t, m, "s").Turn)

	p.answer = works
	assert.Equal(t, 1, ask(t, m, "s", "hi", session.RunOptions{}).Turn)
	assert.Equal(t, 2, ask(t, m, "s", "hi", session.RunOptions{}).Turn)
	assert.Equal(t, "Once.", systemOf(p.asked()[1]))
	assert.Empty(t, systemOf(p.asked()[2]))
}

func TestPromptWhileBusyAndFollowUpsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := streams("x", time.Second)
		m := newManager(t, session.Config{Provider: p, Registry: registry(t, inject.Static("b", inject.Contribution{Instructions: "B."}))})
		first := begin(t, m, "s", "1", false, session.RunOptions{})
		var rec recorder
		second := begin(t, m, "s", "2", true, session.RunOptions{Names: []string{"b"}, OnEvent: rec.take})
		third := begin(t, m, "s", "3", true, session.RunOptions{})
		_, err := m.Begin(t.Context(), session.Start{SessionID: "s", Input: input("4")})
		var busy *session.BusyError
		require.ErrorAs(t, err, &busy)
		assert.Equal(t, session.BusyError{Turn: 1, Queued: 2}, *busy)
		st := state(t, m, "s")
		require.Len(t, st.Queue, 2)
		assert.Equal(t, "2", st.Queue[0].Preview)
		assert.Equal(t, schema.StatusRunning, st.Status)

		for want, run := range map[int]*session.Run{1: first, 2: second, 3: third} {
			defer run.Settle()
			go func() {
				res, err := run.Wait()
				assert.NoError(t, err)
				assert.Equal(t, want, res.Turn)
				run.Settle()
			}()
		}
		time.Sleep(4 * time.Second)
		synctest.Wait()
		assert.Equal(t, 3, state(t, m, "s").Turn)
		assert.Equal(t, []schema.EventType{"prompt_queued", "turn_started", "injected", "message_delta", "turn_ended"}, rec.types())
		assert.Equal(t, "B.", systemOf(p.asked()[1]))
		assert.Empty(t, systemOf(p.asked()[2]))
	})
}

func TestQueueIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newManager(t, session.Config{Provider: streams("", time.Hour), Limits: session.Limits{MaxQueue: 1}})
		first := begin(t, m, "s", "1", false, session.RunOptions{})
		second := begin(t, m, "s", "2", true, session.RunOptions{})
		_, err := m.Begin(t.Context(), session.Start{SessionID: "s", Input: input("3"), Queue: true})
		var full *session.FullError
		require.ErrorAs(t, err, &full)
		assert.Equal(t, 1, full.Limit)
		s, err := m.View("s")
		require.NoError(t, err)
		assert.Len(t, s.Abort("", true), 2)
		assert.Equal(t, schema.StopCancelled, wait(t, first).StopReason)
		assert.Equal(t, schema.StopCancelled, wait(t, second).StopReason)
	})
}

func TestU1CancelledTurnWithTextIsCommitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newManager(t, session.Config{Provider: streams("par", time.Hour)})
		var rec recorder
		run := begin(t, m, "s", "hi", false, session.RunOptions{OnEvent: rec.take})
		synctest.Wait()
		assert.True(t, run.Cancel())
		res := wait(t, run)
		assert.Equal(t, schema.StopCancelled, res.StopReason)
		assert.True(t, res.Committed)
		assert.Equal(t, "par", res.Message.Content[0].Text)
		assert.Equal(t, 1, state(t, m, "s").Turn)
		assert.False(t, run.Cancel(), "a run that has ended can't be cancelled")
		assert.Equal(t, []schema.EventType{"turn_started", "message_delta", "turn_ended"}, rec.types())
		s, err := m.View("s")
		require.NoError(t, err)
		assert.True(t, s.Messages(0, 1).Messages[1].Cancelled)
	})
}

func TestU1CancelledTurnWithoutTextLeavesItsNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newManager(t, session.Config{Provider: streams("", time.Hour)})
		run := begin(t, m, "s", "hi", false, session.RunOptions{})
		synctest.Wait()
		run.Cancel()
		res := wait(t, run)
		assert.Equal(t, schema.StopCancelled, res.StopReason)
		assert.False(t, res.Committed)
		assert.Equal(t, 1, res.Turn)
		assert.Equal(t, 0, state(t, m, "s").Turn)
	})
}

func TestU5AbortSettlesEachRunInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newManager(t, session.Config{Provider: streams("", time.Hour)})
		var mu sync.Mutex
		var settled []string
		ask := func(name string) {
			run := begin(t, m, "s", name, true, session.RunOptions{})
			go func() {
				res, err := run.Wait()
				assert.NoError(t, err)
				assert.Equal(t, schema.StopCancelled, res.StopReason)
				mu.Lock()
				defer mu.Unlock()
				settled = append(settled, name)
				run.Settle()
			}()
		}
		for _, name := range []string{"1", "2", "3", "4", "5", "6"} {
			ask(name)
		}
		synctest.Wait()
		s, err := m.View("s")
		require.NoError(t, err)
		assert.Len(t, s.Abort("", false), 1)
		synctest.Wait()
		assert.Equal(t, []string{"1"}, settled)
		assert.Len(t, s.Abort("", true), 5)
		synctest.Wait()
		assert.Equal(t, []string{"1", "2", "3", "4", "5", "6"}, settled)
		assert.Equal(t, schema.StatusIdle, s.State().Status)
	})
}

func TestQueuedRunThatIsCancelledHasNoTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newManager(t, session.Config{Provider: streams("", time.Second)})
		first := begin(t, m, "s", "1", false, session.RunOptions{})
		var rec recorder
		second := begin(t, m, "s", "2", true, session.RunOptions{OnEvent: rec.take})
		assert.True(t, second.Cancel())
		res := wait(t, second)
		assert.Zero(t, res.Turn)
		assert.Equal(t, schema.StopCancelled, res.StopReason)
		assert.Equal(t, []schema.EventType{"prompt_queued"}, rec.types())
		assert.Equal(t, 1, wait(t, first).Turn)
	})
}

func TestCallersContextCancelsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newManager(t, session.Config{Provider: streams("", time.Hour)})
		s, err := m.Open("s")
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		res, err := s.Run(ctx, input("hi"), session.RunOptions{})
		require.NoError(t, err)
		assert.Equal(t, schema.StopCancelled, res.StopReason)
	})
}

func TestU2LateAbortOfAnOldRunDoesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newManager(t, session.Config{Provider: streams("", time.Second)})
		first := begin(t, m, "s", "1", false, session.RunOptions{})
		wait(t, first)
		second := begin(t, m, "s", "2", false, session.RunOptions{})
		s, err := m.View("s")
		require.NoError(t, err)
		assert.Empty(t, s.Abort(first.ID(), false))
		assert.Equal(t, schema.StopEndTurn, wait(t, second).StopReason)
	})
}

func TestU3ProviderThatIgnoresCancelIsLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		p := &model{answer: func(_ context.Context, _ *provider.Request, emit func(provider.Event) error) (*provider.Result, error) {
			_ = emit(provider.Event{Kind: provider.EventText, Text: "a"})
			<-release
			err := emit(provider.Event{Kind: provider.EventText, Text: "late"})
			assert.Error(t, err, "what comes late must be refused")
			return nil, err
		}}
		m := newManager(t, session.Config{Provider: p})
		var rec recorder
		run := begin(t, m, "s", "hi", false, session.RunOptions{OnEvent: rec.take})
		synctest.Wait()
		before := time.Now()
		run.Cancel()
		res := wait(t, run)
		assert.Equal(t, time.Second, time.Since(before))
		assert.Equal(t, schema.StopCancelled, res.StopReason)
		assert.Equal(t, "a", res.Message.Content[0].Text)
		p.answer = says("b").answer
		assert.Equal(t, 2, ask(t, m, "s", "again", session.RunOptions{}).Turn)
		assert.Equal(t, []schema.EventType{"turn_started", "message_delta", "turn_ended"}, rec.types())
	})
}

func TestU4NoEventAfterTheEnd(t *testing.T) {
	pieces := make([]string, 10_000)
	for i := range pieces {
		pieces[i] = "x"
	}
	m := newManager(t, session.Config{Provider: says(pieces...)})
	var rec recorder
	run := begin(t, m, "s", "hi", false, session.RunOptions{OnEvent: rec.take})
	res := wait(t, run)
	types := rec.types()
	assert.Len(t, types, 10_002)
	assert.Equal(t, schema.EventTurnEnded, types[len(types)-1])
	assert.Equal(t, strings.Repeat("x", 10_000), res.Message.Content[0].Text)
}

func TestU9RequestKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		p := streams("one", time.Second)
		cfg := session.Config{Provider: p, Store: store, Registry: registry(t, inject.Static("a", inject.Contribution{Instructions: "A."}))}
		m := newManager(t, cfg)
		keyed := session.RunOptions{RequestKey: "k", Names: []string{"a"}}
		first := begin(t, m, "s", "hi", false, keyed)
		var rec recorder
		again := keyed
		again.OnEvent = rec.take
		attached := begin(t, m, "s", "hi", false, again)
		assert.Equal(t, first.ID(), attached.ID(), "in flight: the same run")
		want := wait(t, first)
		got := wait(t, attached)
		assert.True(t, got.Replayed)
		got.Replayed = false
		assert.Equal(t, want, got)

		done := ask(t, m, "s", "hi", again)
		assert.True(t, done.Replayed)
		done.Replayed = false
		assert.Equal(t, want, done)
		assert.Empty(t, rec.types(), "a repeated request has no events")
		assert.Len(t, p.asked(), 1)

		unknown := again
		unknown.Names = []string{"nobody"}
		_, err := m.Begin(t.Context(), session.Start{SessionID: "s", Input: input("hi"), RunOptions: unknown})
		assert.ErrorIs(t, err, session.ErrKeyReused, "the key is looked at before names are")
		_, err = m.Begin(t.Context(), session.Start{SessionID: "s", Input: input("other"), RunOptions: keyed})
		assert.ErrorIs(t, err, session.ErrKeyReused)

		require.NoError(t, m.Close())
		restarted := newManager(t, cfg)
		after := ask(t, restarted, "s", "hi", again)
		assert.True(t, after.Replayed)
		after.Replayed = false
		assert.Equal(t, want, after)
		assert.Len(t, p.asked(), 1)
		require.NoError(t, store.Read("s", func(record []byte) error {
			if !strings.Contains(string(record), `"t":"started"`) {
				assert.NotContains(t, string(record), `"k"`, "of a committed turn a key is kept as a hash")
			}
			return nil
		}))
	})
}

func TestU9RequestThatDidNotCommitRunsAgain(t *testing.T) {
	p := says("ok")
	works := p.answer
	p.answer = fails(provider.ClassOverloaded)
	m := newManager(t, session.Config{Provider: p})
	keyed := session.RunOptions{RequestKey: "k"}
	run := begin(t, m, "s", "hi", false, keyed)
	_, err := run.Wait()
	run.Settle()
	require.Error(t, err)
	p.answer = works
	res := ask(t, m, "s", "hi", keyed)
	assert.False(t, res.Replayed)
	assert.Equal(t, 1, res.Turn)
	assert.True(t, ask(t, m, "s", "hi", keyed).Replayed)
}

func TestU9CancellingARepeatedRequestLeavesTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newManager(t, session.Config{Provider: streams("x", time.Second)})
		first := begin(t, m, "s", "hi", false, session.RunOptions{RequestKey: "k"})
		ctx, cancel := context.WithCancel(t.Context())
		second, err := m.Begin(ctx, session.Start{SessionID: "s", Input: input("hi"), RunOptions: session.RunOptions{RequestKey: "k"}})
		require.NoError(t, err)
		cancel()
		_, err = second.Wait()
		second.Settle()
		assert.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, schema.StopEndTurn, wait(t, first).StopReason)
	})
}

func TestExpectedTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newManager(t, session.Config{Provider: streams("x", time.Second)})
		_, err := m.Begin(t.Context(), session.Start{SessionID: "s", Create: true, Input: input("1"), RunOptions: session.RunOptions{ExpectedTurn: 2}})
		var conflict *session.ConflictError
		require.ErrorAs(t, err, &conflict)
		assert.Equal(t, 1, conflict.Turn)
		first := begin(t, m, "s", "1", false, session.RunOptions{ExpectedTurn: 1})
		wrong := begin(t, m, "s", "2", true, session.RunOptions{ExpectedTurn: 3})
		wait(t, first)
		_, err = wrong.Wait()
		wrong.Settle()
		require.ErrorAs(t, err, &conflict)
		assert.Equal(t, 2, conflict.Turn)
		assert.Equal(t, 1, state(t, m, "s").Turn)
	})
}

func TestProviderThatPanicsOrBreaksItsContract(t *testing.T) {
	for name, answer := range map[string]func(context.Context, *provider.Request, func(provider.Event) error) (*provider.Result, error){
		"panics": func(context.Context, *provider.Request, func(provider.Event) error) (*provider.Result, error) {
			panic("boom")
		},
		"returns nothing": func(context.Context, *provider.Request, func(provider.Event) error) (*provider.Result, error) {
			return nil, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := &model{answer: answer}
			m := newManager(t, session.Config{Provider: p})
			run := begin(t, m, "s", "hi", false, session.RunOptions{})
			_, err := run.Wait()
			run.Settle()
			require.Error(t, err)
			p.answer = says("ok").answer
			assert.Equal(t, 1, ask(t, m, "s", "hi", session.RunOptions{}).Turn)
		})
	}
}

type panickyBlocks struct{}

func (panickyBlocks) Blocks(context.Context, inject.Context) ([]schema.ContextBlock, error) {
	panic("boom")
}

func TestContextProviderThatPanicsFailsItsTurnAlone(t *testing.T) {
	m := newManager(t, session.Config{Provider: says("ok"), Context: []assemble.ContextProvider{panickyBlocks{}}})
	for range 2 {
		run := begin(t, m, "s", "hi", false, session.RunOptions{})
		_, err := run.Wait()
		run.Settle()
		require.Error(t, err)
	}
	assert.Equal(t, schema.StatusIdle, state(t, m, "s").Status)
}

func TestRefusalIsAnsweredNotCommitted(t *testing.T) {
	p := &model{answer: func(_ context.Context, _ *provider.Request, emit func(provider.Event) error) (*provider.Result, error) {
		return &provider.Result{StopReason: schema.StopRefusal}, emit(provider.Event{Text: "I can't."})
	}}
	m := newManager(t, session.Config{Provider: p})
	res := ask(t, m, "s", "hi", session.RunOptions{})
	assert.Equal(t, schema.StopRefusal, res.StopReason)
	assert.False(t, res.Committed)
	assert.Equal(t, 0, state(t, m, "s").Turn)
}

func TestAnswerIsBounded(t *testing.T) {
	m := newManager(t, session.Config{Provider: says("1234", "5678"), Limits: session.Limits{MaxAnswer: 6}})
	run := begin(t, m, "s", "hi", false, session.RunOptions{})
	_, err := run.Wait()
	run.Settle()
	var failed *session.ProviderError
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, provider.ClassTooLarge, failed.Failure.Class)
	assert.True(t, failed.Partial)
}

func TestNoProvider(t *testing.T) {
	m := newManager(t, session.Config{})
	_, err := m.Begin(t.Context(), session.Start{SessionID: "s", Create: true, Input: input("hi")})
	assert.ErrorIs(t, err, session.ErrNoProvider)
	own := errors.New("set a key")
	m = newManager(t, session.Config{NoProvider: own})
	_, err = m.Begin(t.Context(), session.Start{SessionID: "s", Create: true, Input: input("hi")})
	assert.ErrorIs(t, err, own)
}

func TestModelNamesItsProvider(t *testing.T) {
	def, other := says("default"), says("other")
	m := newManager(t, session.Config{Provider: def, Model: "plain", Providers: map[string]provider.Provider{"far": other}})
	assert.Equal(t, "other", ask(t, m, "s", "hi", session.RunOptions{Model: "far/x/y"}).Message.Content[0].Text)
	assert.Equal(t, "x/y", other.asked()[0].Model)
	assert.Equal(t, "default", ask(t, m, "s", "hi", session.RunOptions{Model: "near/x"}).Message.Content[0].Text)
	assert.Equal(t, "near/x", def.asked()[0].Model)
	assert.Equal(t, []string{"model", "far"}, m.Providers())
}

func TestP26SecretsReachNothing(t *testing.T) {
	const secret = "hunter2-hunter2"
	red, err := redact.New(redact.Value{Name: "PW", Secret: redact.NewSecret(secret)})
	require.NoError(t, err)
	store := memstore.New()
	p := says("the pass", "word is hunter2-", "hunter2, ", "really")
	m := newManager(t, session.Config{
		Provider: p, Redactor: red, Store: store, Base: "Know " + secret + ".",
		Registry: registry(t, inject.Static("leaky", inject.Contribution{Instructions: "Say " + secret, ContextBlocks: []schema.ContextBlock{{Title: secret, Content: schema.Input{schema.TextBlock(secret)}}}})),
	})
	var rec recorder
	res := ask(t, m, "s", "I say "+secret, session.RunOptions{
		Names: []string{"leaky"}, Metadata: []byte(`{"k":"` + secret + `"}`), OnEvent: rec.take,
		Instructions: schema.RunInstructions{Text: secret, Mode: schema.LayerAppend},
		Secrets:      []schema.SecretValue{{Name: "T", Value: "really really"}},
	})
	assert.Equal(t, "the password is [REDACTED:PW], really", res.Message.Content[0].Text)
	var deltas strings.Builder
	for _, e := range rec.events {
		if d, ok := e.(*schema.MessageDelta); ok {
			deltas.WriteString(d.Text)
		}
	}
	assert.Equal(t, res.Message.Content[0].Text, deltas.String())
	req := p.asked()[0]
	assert.NotContains(t, systemOf(req), secret)
	for _, seg := range req.Segments {
		for _, msg := range seg.Messages {
			assert.NotContains(t, schema.PlainText(msg.Content), secret)
		}
	}
	require.NoError(t, store.Read("s", func(record []byte) error {
		assert.NotContains(t, string(record), secret)
		return nil
	}))
	wheres := map[string]bool{}
	for _, r := range res.Redacted {
		wheres[r.Where] = r.Name == "PW" && r.Count > 0
	}
	assert.Equal(t, map[string]bool{"input": true, "instructions": true, "metadata": true, "injected": true, "output": true}, wheres)
}

func TestSecretsThatAreLearntLaterLeaveWhatIsHeld(t *testing.T) {
	const late = "late-secret-1"
	store := memstore.New()
	p := says("I know " + late)
	m := newManager(t, session.Config{Provider: p, Store: store, Model: "m"})
	base := "Use " + late
	_, err := m.Create("s", schema.SessionSettings{Instructions: &base}, nil)
	require.NoError(t, err)
	ask(t, m, "s", "it is "+late, session.RunOptions{RequestKey: "k"})
	fork, err := m.Fork("s", -1, "")
	require.NoError(t, err)

	shows := func(m *session.Manager, id string) string {
		s, err := m.View(id)
		require.NoError(t, err)
		b, err := json.Marshal([]any{s.State(), s.Messages(0, 10)})
		require.NoError(t, err)
		return string(b)
	}
	assert.Contains(t, shows(m, "s"), late)
	require.NoError(t, m.Learn([]schema.SecretValue{{Name: "L", Value: late}}))
	assert.NotContains(t, shows(m, "s"), late)
	assert.NotContains(t, shows(m, fork.ID()), late)
	ask(t, m, "s", "again", session.RunOptions{})
	assert.NotContains(t, historyOf(p.asked()[1]), late)
	assert.NotContains(t, systemOf(p.asked()[1]), late)
	again := ask(t, m, "s", "it is "+late, session.RunOptions{RequestKey: "k2"})
	assert.NotContains(t, again.Message.Content[0].Text, late)
	_, err = m.Begin(t.Context(), session.Start{SessionID: late, Create: true, Input: input("x")})
	var bad *schema.ParamsError
	assert.ErrorAs(t, err, &bad)
	_, err = m.Begin(t.Context(), session.Start{SessionID: "s", Input: input("x"), RunOptions: session.RunOptions{Model: "x-" + late}})
	assert.ErrorAs(t, err, &bad)
	_, err = m.Begin(t.Context(), session.Start{SessionID: "s", Input: input("x"), RunOptions: session.RunOptions{Options: schema.RunOptions{Stop: []string{late}}}})
	assert.ErrorAs(t, err, &bad)
	require.NoError(t, m.Close())

	red, err := redact.New(redact.Value{Name: "L", Secret: redact.NewSecret(late)})
	require.NoError(t, err)
	restarted := newManager(t, session.Config{Provider: p, Store: store, Redactor: red})
	assert.NotContains(t, shows(restarted, "s"), late)
	ask(t, restarted, "s", "again", session.RunOptions{})
	calls := p.asked()
	assert.NotContains(t, historyOf(calls[len(calls)-1]), late)
	turnLevel := ask(t, restarted, "s", "more", session.RunOptions{Secrets: []schema.SecretValue{{Value: "I know [REDA"}}})
	assert.NotNil(t, turnLevel)
}

func TestSessionGoesOnInAnotherProcess(t *testing.T) {
	store := memstore.New()
	first := newManager(t, session.Config{Provider: says("one"), Store: store})
	ask(t, first, "s", "hi", session.RunOptions{})
	s, err := first.Lookup("s")
	require.NoError(t, err)
	save, err := s.Update(&schema.UpdateSessionParams{Model: given("other")})
	require.NoError(t, err)
	require.NoError(t, save())
	require.NoError(t, first.Close())

	p := says("two")
	second := newManager(t, session.Config{Provider: p, Store: store})
	assert.Equal(t, 1, state(t, second, "s").Turn)
	assert.Equal(t, "other", state(t, second, "s").Model)
	assert.Equal(t, 2, ask(t, second, "s", "and", session.RunOptions{}).Turn)
	assert.Equal(t, `{"role":"user","content":"hi"},{"role":"assistant","content":"one"}`, historyOf(p.asked()[0]))
}

func TestU11CutOffTurnIsNamedUntilALaterOneCommits(t *testing.T) {
	store := memstore.New()
	log, err := store.Create("s", []byte(`{"v":1,"t":"session","id":"s","createdAt":"2026-01-01T00:00:00.000Z","settings":{}}`))
	require.NoError(t, err)
	require.NoError(t, log.Append([]byte(`{"v":1,"t":"started","turn":1,"runId":"r1","at":"2026-01-01T00:00:00.000Z","input":[{"type":"text","text":"hi"}]}`)))
	require.NoError(t, log.Append([]byte(`{"v":1,"t":"started","turn":1,"runId":"r2","at":"2026-01-01T00:00:01.000Z","input":[{"type":"text","text":"ho"}]}`)))
	require.NoError(t, log.Append([]byte(`{"v":1,"t":"failed","turn":1,"runId":"r2","at":"2026-01-01T00:00:02.000Z","kind":"network"}`)))
	require.NoError(t, log.Close())
	m := newManager(t, session.Config{Provider: says("x"), Store: store})
	cut := state(t, m, "s").Interrupted
	require.NotNil(t, cut)
	assert.Equal(t, "r1", cut.RunID)
	assert.Equal(t, "hi", cut.Input[0].Text)
	ask(t, m, "s", "again", session.RunOptions{})
	assert.Nil(t, state(t, m, "s").Interrupted)
}

func TestU11AnswerThatWasComingIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		p := &model{answer: func(ctx context.Context, _ *provider.Request, emit func(provider.Event) error) (*provider.Result, error) {
			for _, piece := range []string{"one ", "two ", "three ", "four "} {
				if err := emit(provider.Event{Text: piece}); err != nil {
					return nil, err
				}
				time.Sleep(200 * time.Millisecond)
			}
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		m := newManager(t, session.Config{Provider: p, Store: store})
		run := begin(t, m, "s", "count", false, session.RunOptions{})
		time.Sleep(2 * time.Second)
		other := newManager(t, session.Config{Store: store})
		cut := state(t, other, "s").Interrupted
		require.NotNil(t, cut)
		assert.Equal(t, "one two three four ", cut.Partial)
		assert.Equal(t, "count", cut.Input[0].Text)
		run.Cancel()
		wait(t, run)
		assert.Nil(t, state(t, other, "s").Interrupted)
	})
}

func TestSessionsTakeTurnsInRotation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := streams("x", time.Second)
		m := newManager(t, session.Config{Provider: p, Limits: session.Limits{MaxRunning: 1}})
		var runs []*session.Run
		for range 5 {
			runs = append(runs, begin(t, m, "greedy", "g", true, session.RunOptions{}))
		}
		other := begin(t, m, "other", "o", false, session.RunOptions{})
		for _, r := range append(runs, other) {
			go func() { _, _ = r.Wait(); r.Settle() }()
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		var order []string
		for _, req := range p.asked() {
			order = append(order, req.SessionID)
		}
		assert.Equal(t, []string{"greedy", "other", "greedy", "greedy", "greedy", "greedy"}, order)
	})
}

// BenchmarkTurn costs the same however long the history is; "copy" is the
// floor, a copy of the bytes that a provider has to send.
func BenchmarkTurn(b *testing.B) {
	for name, turns := range map[string]int{"history=10": 5, "history=10000": 5000} {
		b.Run(name, func(b *testing.B) {
			m, err := session.NewManager(session.Config{Provider: says("A short answer.")})
			require.NoError(b, err)
			s, err := m.Open("s")
			require.NoError(b, err)
			for range turns {
				_, err := s.Run(b.Context(), input("A short question?"), session.RunOptions{})
				require.NoError(b, err)
			}
			for b.Loop() {
				if _, err := s.Run(b.Context(), input("A short question?"), session.RunOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// panicky is a store whose logs panic when a turn commits.
type panicky struct{ session.Store }

func (p panicky) Create(id string, header []byte) (session.Log, error) {
	log, err := p.Store.Create(id, header)
	return panickyLog{log}, err
}

type panickyLog struct{ session.Log }

func (panickyLog) Commit(int, []byte) error { panic("boom") }

func TestPanicOutsideOfForeignCodeEndsItsRunAlone(t *testing.T) {
	m := newManager(t, session.Config{Provider: says("x"), Store: panicky{memstore.New()}})
	for range 2 {
		run := begin(t, m, "s", "hi", true, session.RunOptions{})
		_, err := run.Wait()
		run.Settle()
		require.Error(t, err)
		assert.Equal(t, schema.StatusIdle, state(t, m, "s").Status)
	}
}
