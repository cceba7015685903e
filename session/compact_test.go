package session_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/memstore"
)

type answering = func(context.Context, *provider.Request, func(provider.Event) error) (*provider.Result, error)

// isSummary tells a summarising call from a turn's.
func isSummary(req *provider.Request) bool { return strings.Contains(systemOf(req), "condense") }

// summarises answers turns with the first function and summarising calls with
// the second.
func summarises(turn, summary answering) *model {
	return &model{answer: func(ctx context.Context, req *provider.Request, emit func(provider.Event) error) (*provider.Result, error) {
		if isSummary(req) {
			return summary(ctx, req, emit)
		}
		return turn(ctx, req, emit)
	}}
}

// counting answers with text and counts a token for four bytes of history.
func counting(text string) answering {
	return func(_ context.Context, req *provider.Request, emit func(provider.Event) error) (*provider.Result, error) {
		in, out := int64(len(historyOf(req))/4), int64(3)
		return &provider.Result{StopReason: schema.StopEndTurn, Usage: schema.Usage{InputTokens: &in, OutputTokens: &out}}, emit(provider.Event{Text: text})
	}
}

func ends(text string, stop schema.StopReason) answering {
	return func(_ context.Context, _ *provider.Request, emit func(provider.Event) error) (*provider.Result, error) {
		return &provider.Result{StopReason: stop}, emit(provider.Event{Text: text})
	}
}

func compact(t *testing.T, m *session.Manager, id string, o session.CompactOptions) (*schema.CompactResult, error) {
	s, err := m.Lookup(id)
	require.NoError(t, err)
	c, err := s.Compact(t.Context(), o)
	require.NoError(t, err)
	defer c.Settle()
	return c.Wait()
}

func mustCompact(t *testing.T, m *session.Manager, id string) *schema.CompactResult {
	result, err := compact(t, m, id, session.CompactOptions{})
	require.NoError(t, err)
	return result
}

func messagesOf(t *testing.T, m *session.Manager, id string) []string {
	s, err := m.View(id)
	require.NoError(t, err)
	var texts []string
	for _, msg := range s.Messages(0, 1000).Messages {
		texts = append(texts, schema.PlainText(msg.Content))
	}
	return texts
}

func TestCompactReplacesAllTurnsInWhatIsSentAlone(t *testing.T) {
	store := memstore.New()
	p := summarises(counting("yes"), counting("SUM"))
	cfg := session.Config{Provider: p, Base: "Base.", Model: "m1", Store: store, Registry: registry(t, inject.Static("a", inject.Contribution{Instructions: "A."})), Names: []string{"a"}}
	m := newManager(t, cfg)
	ask(t, m, "s", "one", session.RunOptions{})
	ask(t, m, "s", "two", session.RunOptions{})
	used := state(t, m, "s").Usage

	var seen recorder
	result, err := compact(t, m, "s", session.CompactOptions{Instructions: "Keep the names.", OnEvent: seen.take})
	require.NoError(t, err)
	assert.Equal(t, 1, result.Generation)
	assert.Equal(t, 2, result.TurnsReplaced)
	assert.Positive(t, result.TokensBefore)
	assert.Positive(t, result.TokensAfter)
	require.Equal(t, []schema.EventType{schema.EventCompactionStarted, schema.EventCompacted}, seen.types())
	started, ok := seen.events[0].(*schema.CompactionStarted)
	require.True(t, ok)
	assert.Equal(t, schema.CompactManual, started.Reason)
	assert.Zero(t, started.Turn)
	assert.NotEmpty(t, started.RunID)

	call := p.asked()[2]
	assert.Equal(t, "m1", call.Model)
	assert.NotContains(t, systemOf(call), "Base.")
	assert.NotContains(t, systemOf(call), "A.")
	assert.Contains(t, historyOf(call), "two")
	assert.Contains(t, schema.PlainText(call.Segments[2].Messages[0].Content), "Keep the names.")

	st := state(t, m, "s")
	assert.Equal(t, 1, st.Generation)
	assert.Equal(t, schema.StatusIdle, st.Status)
	assert.Greater(t, *st.Usage.InputTokens, *used.InputTokens, "the summarising call is counted")
	assert.True(t, st.Context.Estimated)

	for range 2 { // the second time from the log
		turn := ask(t, m, "s", "three", session.RunOptions{}).Turn
		sent := p.asked()[len(p.asked())-1]
		history := historyOf(sent)
		assert.Equal(t, "Base.\n\nA.", systemOf(sent))
		assert.True(t, strings.HasPrefix(history, `{"role":"user","content":"[Summary of the conversation`), history)
		assert.Equal(t, 1, strings.Count(history, "SUM"))
		assert.NotContains(t, history, "one")
		assert.Len(t, messagesOf(t, m, "s"), 2*turn)
		assert.Equal(t, "one", messagesOf(t, m, "s")[0])
		require.NoError(t, m.Close())
		m = newManager(t, cfg)
		assert.Equal(t, 1, state(t, m, "s").Generation)
		assert.False(t, state(t, m, "s").Context.Estimated)
	}

	result = mustCompact(t, m, "s")
	assert.Equal(t, schema.CompactResult{Generation: 2, TurnsReplaced: 2, TokensBefore: result.TokensBefore, TokensAfter: result.TokensAfter}, *result)
	last := p.asked()[len(p.asked())-1]
	assert.Contains(t, historyOf(last), "SUM", "the earlier summary goes into the next one")
}

func TestCompactWithNothingToSummariseMakesNoCall(t *testing.T) {
	p := summarises(counting("yes"), counting("SUM"))
	m := newManager(t, session.Config{Provider: p})
	s, err := m.Open("s")
	require.NoError(t, err)
	assert.Equal(t, schema.CompactResult{}, *mustCompact(t, m, s.ID()))
	ask(t, m, "s", "one", session.RunOptions{})
	first := mustCompact(t, m, "s")
	var seen recorder
	again, err := compact(t, m, "s", session.CompactOptions{OnEvent: seen.take})
	require.NoError(t, err)
	assert.Equal(t, schema.CompactResult{Generation: 1, TokensBefore: first.TokensAfter, TokensAfter: first.TokensAfter}, *again)
	assert.Empty(t, seen.types())
	assert.Len(t, p.asked(), 2)
}

func TestI3TwelveCompactionsLeaveTheSystemTextAlone(t *testing.T) {
	store := memstore.New()
	p := summarises(counting("yes"), counting("SUM"))
	m := newManager(t, session.Config{Provider: p, Base: "Base.", Store: store, Registry: registry(t, inject.Static("a", inject.Contribution{Instructions: "A."})), Names: []string{"a"}})
	ask(t, m, "s", "0", session.RunOptions{})
	for i := range 12 {
		assert.Equal(t, i+1, mustCompact(t, m, "s").Generation)
		ask(t, m, "s", fmt.Sprint(i+1), session.RunOptions{})
	}
	for _, req := range p.asked() {
		if isSummary(req) {
			assert.Equal(t, 1, strings.Count(systemOf(req), "You condense"))
			continue
		}
		assert.Equal(t, "Base.\n\nA.", systemOf(req), "I2: once, and the same bytes")
		assert.LessOrEqual(t, strings.Count(historyOf(req), "[Summary of"), 1)
	}
	require.NoError(t, m.Close())
	m = newManager(t, session.Config{Provider: p, Store: store})
	assert.Equal(t, 12, state(t, m, "s").Generation)
	assert.Len(t, messagesOf(t, m, "s"), 26)
}

func TestWhileASummaryIsMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := summarises(counting("yes"), streams("SUM", time.Minute).answer)
		m := newManager(t, session.Config{Provider: p})
		ask(t, m, "s", "one", session.RunOptions{})
		s, err := m.Lookup("s")
		require.NoError(t, err)
		c, err := s.Compact(t.Context(), session.CompactOptions{RequestID: []byte("7")})
		require.NoError(t, err)
		synctest.Wait()
		st := s.State()
		assert.Equal(t, schema.StatusCompacting, st.Status)
		assert.Equal(t, c.ID(), st.Running.RunID)
		assert.Zero(t, st.Running.Turn)
		var busy *session.BusyError
		_, err = m.Begin(t.Context(), session.Start{SessionID: "s", Input: input("no")})
		assert.ErrorAs(t, err, &busy)
		_, err = s.Compact(t.Context(), session.CompactOptions{})
		assert.ErrorAs(t, err, &busy)
		next := begin(t, m, "s", "two", true, session.RunOptions{})
		result, err := c.Wait()
		require.NoError(t, err)
		assert.Equal(t, 1, result.TurnsReplaced)
		c.Settle()
		assert.Equal(t, 2, wait(t, next).Turn, "the followUp runs after it")
		assert.Contains(t, historyOf(p.asked()[2]), "SUM")
	})
}

func TestCompactIsRefusedWhileATurnRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newManager(t, session.Config{Provider: streams("x", time.Second)})
		run := begin(t, m, "s", "one", false, session.RunOptions{})
		synctest.Wait()
		s, err := m.Lookup("s")
		require.NoError(t, err)
		_, err = s.Compact(t.Context(), session.CompactOptions{})
		var busy *session.BusyError
		require.ErrorAs(t, err, &busy)
		assert.Equal(t, 1, busy.Turn)
		wait(t, run)
	})
}

func TestU1ACancelledCompactionChangesNothing(t *testing.T) {
	for name, cancel := range map[string]func(*session.Session, *session.Compaction, context.CancelFunc) bool{
		"by its request": func(_ *session.Session, _ *session.Compaction, cancel context.CancelFunc) bool { cancel(); return true },
		"by abort": func(s *session.Session, _ *session.Compaction, _ context.CancelFunc) bool {
			return len(s.Abort("", false)) == 1
		},
		"by its id": func(s *session.Session, c *session.Compaction, _ context.CancelFunc) bool {
			return len(s.Abort(c.ID(), false)) == 1
		},
	} {
		for provides, p := range map[string]answering{
			"obeys": streams("SUM", time.Hour).answer,
			"is deaf": func(context.Context, *provider.Request, func(provider.Event) error) (*provider.Result, error) {
				time.Sleep(time.Hour)
				return &provider.Result{StopReason: schema.StopEndTurn}, nil
			},
		} {
			t.Run(name+" of a provider that "+provides, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					m := newManager(t, session.Config{Provider: summarises(counting("yes"), p), Store: memstore.New()})
					ask(t, m, "s", "one", session.RunOptions{})
					before := state(t, m, "s")
					s, err := m.Lookup("s")
					require.NoError(t, err)
					ctx, end := context.WithCancel(t.Context())
					defer end()
					var seen recorder
					c, err := s.Compact(ctx, session.CompactOptions{OnEvent: seen.take})
					require.NoError(t, err)
					synctest.Wait()
					at := time.Now()
					assert.True(t, cancel(s, c, end))
					_, err = c.Wait()
					c.Settle()
					assert.ErrorIs(t, err, context.Canceled)
					assert.LessOrEqual(t, time.Since(at), 2*time.Second)
					assert.Equal(t, []schema.EventType{schema.EventCompactionStarted, schema.EventCompactionFailed}, seen.types())
					failed, ok := seen.events[1].(*schema.CompactionFailed)
					require.True(t, ok)
					assert.Equal(t, "cancelled", failed.Kind)
					assert.Equal(t, before, state(t, m, "s"))
					assert.Empty(t, s.Abort("", false), "there is nothing left to stop")
					time.Sleep(2 * time.Hour)
				})
			})
		}
	}
}

func TestACompactionThatWasCancelledBeforeItBeganMakesNoCall(t *testing.T) {
	p := summarises(counting("yes"), counting("SUM"))
	m := newManager(t, session.Config{Provider: p})
	ask(t, m, "s", "one", session.RunOptions{})
	s, err := m.Lookup("s")
	require.NoError(t, err)
	ctx, end := context.WithCancel(t.Context())
	end()
	c, err := s.Compact(ctx, session.CompactOptions{})
	require.NoError(t, err)
	_, err = c.Wait()
	c.Settle()
	assert.ErrorIs(t, err, context.Canceled)
	assert.Len(t, p.asked(), 1)
}

func TestACompactionCanBeCancelledWhileItWaitsForTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := streams("x", time.Minute)
		m := newManager(t, session.Config{Provider: p, Limits: session.Limits{MaxRunning: 1}})
		ask(t, m, "s", "one", session.RunOptions{})
		other := begin(t, m, "other", "one", false, session.RunOptions{})
		synctest.Wait()
		s, err := m.Lookup("s")
		require.NoError(t, err)
		c, err := s.Compact(t.Context(), session.CompactOptions{})
		require.NoError(t, err)
		assert.Equal(t, schema.StatusCompacting, s.State().Status)
		assert.Empty(t, s.State().Queue)
		s.Abort("", true)
		_, err = c.Wait()
		c.Settle()
		assert.ErrorIs(t, err, context.Canceled)
		wait(t, other)
	})
}

func TestAFailedCompactionIsTheRequestsErrorAndChangesNothing(t *testing.T) {
	for name, row := range map[string]struct {
		answer answering
		class  provider.Class
	}{
		"the provider fails":      {fails(provider.ClassOverloaded), provider.ClassOverloaded},
		"it refuses":              {ends("I won't", schema.StopRefusal), provider.ClassContentFilter},
		"it says nothing":         {ends(" \n", schema.StopEndTurn), provider.ClassInterrupted},
		"the summary is cut":      {ends("half a su", schema.StopMaxTokens), provider.ClassInterrupted},
		"the summary is too long": {ends(strings.Repeat("x", 2000), schema.StopEndTurn), provider.ClassTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			m := newManager(t, session.Config{Provider: summarises(counting("yes"), row.answer), Store: memstore.New(), Limits: session.Limits{MaxAnswer: 1000}})
			ask(t, m, "s", "one", session.RunOptions{})
			before := state(t, m, "s")
			var seen recorder
			_, err := compact(t, m, "s", session.CompactOptions{OnEvent: seen.take})
			var failed *session.ProviderError
			require.ErrorAs(t, err, &failed)
			assert.Equal(t, row.class, failed.Failure.Class)
			require.Equal(t, []schema.EventType{schema.EventCompactionStarted, schema.EventCompactionFailed}, seen.types())
			event, ok := seen.events[1].(*schema.CompactionFailed)
			require.True(t, ok)
			assert.Equal(t, string(row.class), event.Kind)
			assert.Equal(t, before, state(t, m, "s"))
		})
	}
}

func TestCompactWithoutAProviderSaysSo(t *testing.T) {
	store := memstore.New()
	m := newManager(t, session.Config{Provider: says("x"), Store: store})
	ask(t, m, "s", "one", session.RunOptions{})
	require.NoError(t, m.Close())
	m = newManager(t, session.Config{Store: store})
	_, err := compact(t, m, "s", session.CompactOptions{})
	assert.ErrorIs(t, err, session.ErrNoProvider)
}
