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

// holds answers like counting, but finds a history of more bytes too large.
func holds(bytes int, text string) answering {
	return func(ctx context.Context, req *provider.Request, emit func(provider.Event) error) (*provider.Result, error) {
		if len(historyOf(req)) > bytes {
			return nil, &provider.Error{Class: provider.ClassContextOverflow, Status: 400, Message: "too long"}
		}
		return counting(text)(ctx, req, emit)
	}
}

// overflowsOnce finds the first request too large, whatever it is.
func overflowsOnce(text string) answering {
	refused := false
	return func(ctx context.Context, req *provider.Request, emit func(provider.Event) error) (*provider.Result, error) {
		if !refused {
			refused = true
			return nil, &provider.Error{Class: provider.ClassContextOverflow}
		}
		return counting(text)(ctx, req, emit)
	}
}

// fill asks n times, about 100 bytes of history for each.
func fill(t *testing.T, m *session.Manager, id string, n int) {
	for i := range n {
		ask(t, m, id, fmt.Sprintf("turn-%d-%s", i+1, strings.Repeat("x", 30)), session.RunOptions{})
	}
}

func compactions(p *model) (n int) {
	for _, req := range p.asked() {
		if isSummary(req) {
			n++
		}
	}
	return n
}

func TestPastTheThresholdOlderTurnsAreSummarisedWithinTheTurn(t *testing.T) {
	store := memstore.New()
	p := summarises(counting("yes"), counting("SUM"))
	m := newManager(t, session.Config{
		Provider: p, Base: "Base.", Store: store, MaxContextTokens: 300, CompactAt: 0.5,
		Registry: registry(t, inject.Static("a", inject.Contribution{Instructions: "A."})), Names: []string{"a"},
	})
	fill(t, m, "s", 6)
	require.Zero(t, compactions(p))
	var seen recorder
	run := begin(t, m, "s", "turn-7", false, session.RunOptions{OnEvent: seen.take})
	result := wait(t, run)
	require.Equal(t, []schema.EventType{
		schema.EventTurnStarted, schema.EventInjected, schema.EventCompactionStarted, schema.EventCompacted,
		schema.EventMessageDelta, schema.EventUsage, schema.EventTurnEnded,
	}, seen.types())
	for _, e := range seen.events {
		assert.Equal(t, run.ID(), e.Header().RunID)
		assert.Equal(t, 7, e.Header().Turn)
	}
	started, ok := seen.events[2].(*schema.CompactionStarted)
	require.True(t, ok)
	assert.Equal(t, schema.CompactThreshold, started.Reason)
	done, ok := seen.events[3].(*schema.Compacted)
	require.True(t, ok)
	assert.Equal(t, 1, done.Generation)
	assert.Equal(t, 4, done.TurnsReplaced, "the newest two stay")
	assert.Less(t, done.TokensAfter, done.TokensBefore)
	usage, ok := seen.events[5].(*schema.UsageEvent)
	require.True(t, ok)
	assert.Equal(t, schema.ContextUse{Tokens: *result.Usage.TotalTokens, Max: 300}, usage.Context)

	asked := p.asked()
	sent := historyOf(asked[len(asked)-1])
	assert.Equal(t, "Base.\n\nA.", systemOf(asked[len(asked)-1]))
	assert.Contains(t, sent, "SUM")
	assert.NotContains(t, sent, "turn-4")
	assert.Contains(t, sent, "turn-5")
	assert.NotContains(t, historyOf(asked[len(asked)-2]), "turn-5", "what stays is not summarised")
	assert.Equal(t, int64(3), *result.Usage.OutputTokens, "the turn's own usage")
	assert.Len(t, messagesOf(t, m, "s"), 14)

	require.NoError(t, m.Close())
	m = newManager(t, session.Config{Provider: p, Store: store})
	ask(t, m, "s", "turn-8", session.RunOptions{})
	asked = p.asked()
	assert.True(t, strings.HasPrefix(historyOf(asked[len(asked)-1]), sent), "what is sent goes on after a restart")
}

func TestTheNewestTurnsStayWhileTheyAreSmall(t *testing.T) {
	for name, row := range map[string]struct {
		sizes []int // of the inputs
		max   int
		stay  int
	}{
		"two of many":                                          {[]int{100, 100, 100, 100, 100, 100}, 0, 2},
		"one, where two are more than half":                    {[]int{100, 100, 100}, 0, 1},
		"none, where one is more than half":                    {[]int{10, 1000}, 0, 0},
		"one, where the one before it is large":                {[]int{1000, 100, 1200, 100}, 0, 1},
		"no only one":                                          {[]int{100}, 0, 0},
		"one, where two are a quarter of what the model takes": {[]int{100, 100, 100, 100, 100, 100}, 260, 1},
	} {
		t.Run(name, func(t *testing.T) {
			p := summarises(counting("yes"), counting("SUM"))
			m := newManager(t, session.Config{Provider: p, MaxContextTokens: row.max, CompactAt: 1})
			for i, size := range row.sizes {
				ask(t, m, "s", fmt.Sprintf("turn-%d-", i+1)+strings.Repeat("x", size), session.RunOptions{})
			}
			p.answer = summarises(overflowsOnce("yes"), counting("SUM")).answer
			ask(t, m, "s", "go", session.RunOptions{})
			sent, stay := historyOf(p.asked()[len(p.asked())-1]), 0
			require.Contains(t, sent, "SUM")
			for i := range row.sizes {
				if strings.Contains(sent, fmt.Sprintf("turn-%d-", i+1)) {
					stay++
				}
			}
			assert.Equal(t, row.stay, stay)
		})
	}
}

func TestACompactionThatWouldNotHelpIsNotMade(t *testing.T) {
	p := summarises(counting("yes"), counting("SUM"))
	base := strings.Repeat("x", 40_000)
	m := newManager(t, session.Config{Provider: p, Base: base, MaxContextTokens: 12_000})
	fill(t, m, "s", 3)
	assert.Zero(t, compactions(p), "it is the system text that is large")
}

func TestOnOverflowTheTurnIsTriedOnceMore(t *testing.T) {
	p := summarises(holds(500, "yes"), counting("SUM"))
	m := newManager(t, session.Config{Provider: p})
	fill(t, m, "s", 4)
	var seen recorder
	result := ask(t, m, "s", "go", session.RunOptions{OnEvent: seen.take})
	require.Zero(t, compactions(p), "500 bytes are not reached yet")
	assert.Equal(t, 5, result.Turn)
	seen = recorder{}
	fill(t, m, "s", 2)
	result = ask(t, m, "s", "go", session.RunOptions{OnEvent: seen.take})
	assert.True(t, result.Committed)
	assert.Positive(t, compactions(p))
	assert.Equal(t, compactions(p), state(t, m, "s").Generation)
}

func TestOnOverflowEventsTellWhy(t *testing.T) {
	p := summarises(holds(450, "yes"), counting("SUM"))
	m := newManager(t, session.Config{Provider: p})
	fill(t, m, "s", 5)
	var seen recorder
	calls := len(p.asked())
	ask(t, m, "s", "go", session.RunOptions{OnEvent: seen.take})
	require.Equal(t, []schema.EventType{
		schema.EventTurnStarted, schema.EventCompactionStarted, schema.EventCompacted,
		schema.EventMessageDelta, schema.EventUsage, schema.EventTurnEnded,
	}, seen.types())
	started, ok := seen.events[1].(*schema.CompactionStarted)
	require.True(t, ok)
	assert.Equal(t, schema.CompactOverflow, started.Reason)
	assert.Len(t, p.asked(), calls+3, "the call, the summary, the call again")
	assert.Equal(t, p.asked()[calls].Segments[len(p.asked()[calls].Segments)-1], p.asked()[calls+2].Segments[len(p.asked()[calls+2].Segments)-1])
}

func TestOverflowThatCantBeHelpedIsTheTurnsError(t *testing.T) {
	overflow := fails(provider.ClassContextOverflow)
	for name, row := range map[string]struct {
		turns   int
		turn    answering
		summary answering
		events  []schema.EventType
	}{
		"nothing to summarise":   {0, overflow, counting("SUM"), nil},
		"the second try as well": {2, overflow, counting("SUM"), []schema.EventType{schema.EventCompactionStarted, schema.EventCompacted}},
		"no summary":             {2, overflow, fails(provider.ClassAuth), []schema.EventType{schema.EventCompactionStarted, schema.EventCompactionFailed}},
		"after the first piece": {2, func(_ context.Context, _ *provider.Request, emit func(provider.Event) error) (*provider.Result, error) {
			if err := emit(provider.Event{Text: "par"}); err != nil {
				return nil, err
			}
			return nil, &provider.Error{Class: provider.ClassContextOverflow}
		}, counting("SUM"), []schema.EventType{schema.EventMessageDelta}},
	} {
		t.Run(name, func(t *testing.T) {
			p := summarises(counting("yes"), row.summary)
			m := newManager(t, session.Config{Provider: p, Store: memstore.New()})
			fill(t, m, "s", row.turns)
			p.answer = summarises(row.turn, row.summary).answer
			var seen recorder
			run := begin(t, m, "s", "go", false, session.RunOptions{OnEvent: seen.take})
			_, err := run.Wait()
			run.Settle()
			var failed *session.ProviderError
			require.ErrorAs(t, err, &failed)
			assert.Equal(t, provider.ClassContextOverflow, failed.Failure.Class)
			assert.Equal(t, append(append([]schema.EventType{schema.EventTurnStarted}, row.events...), schema.EventTurnEnded), seen.types())
			assert.Equal(t, row.turns, state(t, m, "s").Turn)
		})
	}
}

func TestAThresholdWithoutASummaryDoesNotStopTheTurn(t *testing.T) {
	p := summarises(counting("yes"), fails(provider.ClassRateLimit))
	m := newManager(t, session.Config{Provider: p, MaxContextTokens: 300, CompactAt: 0.5})
	fill(t, m, "s", 7)
	st := state(t, m, "s")
	assert.Equal(t, 7, st.Turn)
	assert.Zero(t, st.Generation)
	assert.Contains(t, historyOf(p.asked()[len(p.asked())-1]), "turn-1-")
}

func TestU1ATurnCancelledInItsCompactionIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := summarises(counting("yes"), streams("SUM", time.Hour).answer)
		m := newManager(t, session.Config{Provider: p, MaxContextTokens: 300, CompactAt: 0.5, Store: memstore.New()})
		fill(t, m, "s", 6)
		calls := len(p.asked())
		var seen recorder
		run := begin(t, m, "s", "go", false, session.RunOptions{OnEvent: seen.take})
		synctest.Wait()
		assert.Equal(t, schema.StatusCompacting, state(t, m, "s").Status)
		assert.Equal(t, 7, state(t, m, "s").Running.Turn)
		assert.True(t, run.Cancel())
		result := wait(t, run)
		assert.Equal(t, schema.StopCancelled, result.StopReason)
		assert.False(t, result.Committed)
		assert.Equal(t, []schema.EventType{schema.EventTurnStarted, schema.EventCompactionStarted, schema.EventCompactionFailed, schema.EventTurnEnded}, seen.types())
		assert.Len(t, p.asked(), calls+1, "the turn's own call is not made")
		st := state(t, m, "s")
		assert.Equal(t, schema.StatusIdle, st.Status)
		assert.Zero(t, st.Generation)
		assert.Equal(t, 6, st.Turn)
	})
}

func TestACompactionStaysWhenItsTurnFails(t *testing.T) {
	store := memstore.New()
	p := summarises(counting("yes"), counting("SUM"))
	m := newManager(t, session.Config{Provider: p, MaxContextTokens: 300, CompactAt: 0.5, Store: store})
	fill(t, m, "s", 6)
	p.answer = summarises(fails(provider.ClassAuth), counting("SUM")).answer
	run := begin(t, m, "s", "go", false, session.RunOptions{})
	_, err := run.Wait()
	run.Settle()
	require.Error(t, err)
	assert.Equal(t, 1, state(t, m, "s").Generation)
	require.NoError(t, m.Close())
	m = newManager(t, session.Config{Provider: p, Store: store})
	assert.Equal(t, 1, state(t, m, "s").Generation)
	assert.Equal(t, 6, state(t, m, "s").Turn)
}

func TestP17WhatAloneIsTooLargeIsNotSent(t *testing.T) {
	p := says("x")
	m := newManager(t, session.Config{Provider: p, Base: strings.Repeat("x", 300), MaxContextTokens: 100})
	ask(t, m, "s", strings.Repeat("x", 100), session.RunOptions{})
	var seen recorder
	run := begin(t, m, "s", strings.Repeat("x", 104), false, session.RunOptions{OnEvent: seen.take})
	_, err := run.Wait()
	run.Settle()
	var failed *session.ProviderError
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, provider.ClassContextOverflow, failed.Failure.Class)
	assert.False(t, failed.Failure.Class.Retryable())
	assert.Len(t, p.asked(), 1)
	assert.Equal(t, []schema.EventType{schema.EventTurnStarted, schema.EventTurnEnded}, seen.types())
}

func TestP17NothingIsRefusedForWhatAProviderCountsBesideText(t *testing.T) {
	p := &model{answer: func(_ context.Context, _ *provider.Request, emit func(provider.Event) error) (*provider.Result, error) {
		in, out := int64(9000), int64(1)
		return &provider.Result{StopReason: schema.StopEndTurn, Usage: schema.Usage{InputTokens: &in, OutputTokens: &out}}, emit(provider.Event{Text: "yes"})
	}}
	m := newManager(t, session.Config{Provider: p, Base: strings.Repeat("x", 4000), MaxContextTokens: 2000})
	fill(t, m, "s", 2)
	assert.Equal(t, 2, state(t, m, "s").Turn)
}

func TestADialogueThatIsTooLargeToSummariseIsTakenInParts(t *testing.T) {
	for name, cfg := range map[string]session.Config{
		"the provider says so":   {},
		"the configuration does": {MaxContextTokens: 200},
	} {
		t.Run(name, func(t *testing.T) {
			p := summarises(counting("yes"), holds(700, "SUM"))
			store := memstore.New()
			m := newManager(t, session.Config{Provider: p, Store: store})
			fill(t, m, "s", 16)
			require.NoError(t, m.Close())
			cfg.Provider, cfg.Store = p, store
			m = newManager(t, cfg)
			result := mustCompact(t, m, "s")
			assert.Equal(t, 16, result.TurnsReplaced)
			assert.Equal(t, 1, result.Generation)
			var read strings.Builder
			for _, req := range p.asked() {
				if isSummary(req) && len(historyOf(req)) <= 700 {
					read.WriteString(historyOf(req))
				}
			}
			for i := range 16 {
				assert.Contains(t, read.String(), fmt.Sprintf("turn-%d-", i+1), "each turn is read")
			}
			ask(t, m, "s", "go", session.RunOptions{})
			assert.Equal(t, 1, strings.Count(historyOf(p.asked()[len(p.asked())-1]), "SUM"))
		})
	}
}

func TestTheEstimateLearnsFromWhatTheProviderCounts(t *testing.T) {
	counts := func(rate float64) answering {
		return func(_ context.Context, req *provider.Request, emit func(provider.Event) error) (*provider.Result, error) {
			in := int64(rate * float64(len(systemOf(req))+len(historyOf(req))))
			return &provider.Result{StopReason: schema.StopEndTurn, Usage: schema.Usage{InputTokens: &in}}, emit(provider.Event{Text: "yes"})
		}
	}
	for rate, want := range map[float64]float64{0.5: 0.5, 0.01: 0.125, 40: 1} {
		m := newManager(t, session.Config{Provider: &model{answer: counts(rate)}, Base: strings.Repeat("x", 10_000)})
		assert.EqualValues(t, 0, state0(t, m).Context.Tokens-2500)
		ask(t, m, "s", "hi", session.RunOptions{})
		use := state(t, m, "s").Context
		assert.True(t, use.Estimated, "the answer was not counted")
		assert.InDelta(t, want*10_050, float64(use.Tokens), 200)
	}
}

func state0(t *testing.T, m *session.Manager) *schema.SessionState {
	s, err := m.Open("s")
	require.NoError(t, err)
	return s.State()
}
