package session_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/memstore"
)

const idle = 10 * time.Minute

// two are managers on one store, as two processes are.
func two(t *testing.T, a, b *model) (store session.Store, first, second *session.Manager) {
	store = memstore.New()
	return store, newManager(t, session.Config{Provider: a, Store: store}), newManager(t, session.Config{Provider: b, Store: store})
}

func held(t *testing.T, m *session.Manager, id string) bool {
	_, err := m.Lookup(id)
	var locked *session.LockedError
	if err != nil {
		require.ErrorAs(t, err, &locked)
	}
	return err != nil
}

func TestALockEndsAfterTenMinutesWithoutATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, first, second := two(t, says("x"), says("y"))
		ask(t, first, "s", "one", session.RunOptions{})
		time.Sleep(idle - time.Second)
		assert.True(t, held(t, second, "s"))
		time.Sleep(time.Second)
		synctest.Wait()
		assert.False(t, held(t, second, "s"))
		assert.Equal(t, 2, ask(t, second, "s", "two", session.RunOptions{}).Turn)
	})
}

func TestATurnBeginsTheTenMinutesAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, first, second := two(t, streams("x", time.Hour), says("y"))
		run := begin(t, first, "s", "one", false, session.RunOptions{})
		time.Sleep(time.Hour)
		wait(t, run)
		for range 3 {
			time.Sleep(idle - time.Second)
			assert.True(t, held(t, second, "s"))
			run := begin(t, first, "s", "more", false, session.RunOptions{})
			synctest.Wait()
			run.Cancel()
			wait(t, run)
		}
		time.Sleep(idle)
		synctest.Wait()
		assert.False(t, held(t, second, "s"))
	})
}

func TestAnIdleSessionTakesInWhatOthersAdded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := says("x")
		_, first, second := two(t, a, summarises(counting("y"), counting("SUM")))
		ask(t, first, "s", "one", session.RunOptions{})
		time.Sleep(2 * idle)
		ask(t, second, "s", "two", session.RunOptions{RequestKey: "k"})
		mustCompact(t, second, "s")
		save, err := lookup(t, second, "s").Update(&schema.UpdateSessionParams{Title: given("T")})
		require.NoError(t, err)
		require.NoError(t, save())

		_, err = first.Begin(t.Context(), session.Start{SessionID: "s", Input: input("no")})
		var locked *session.LockedError
		require.ErrorAs(t, err, &locked, "writing needs the lock")
		st := state(t, first, "s")
		assert.Equal(t, 2, st.Turn, "reading needs none")
		assert.Equal(t, "T", st.Title)
		assert.Equal(t, 1, st.Generation)
		assert.Nil(t, st.Interrupted)
		assert.Equal(t, []string{"one", "x", "two", "y"}, messagesOf(t, first, "s"))

		time.Sleep(2 * idle)
		assert.True(t, ask(t, first, "s", "two", session.RunOptions{RequestKey: "k"}).Replayed)
		assert.Equal(t, 3, ask(t, first, "s", "three", session.RunOptions{}).Turn)
		assert.Contains(t, historyOf(a.asked()[1]), "SUM")
		assert.True(t, held(t, second, "s"))
		assert.Equal(t, 3, state(t, second, "s").Turn)
	})
}

// streamsThen is streams that fails with class at its end, if there is one.
func streamsThen(piece string, d time.Duration, class provider.Class) *model {
	good := streams(piece, d).answer
	return &model{answer: func(ctx context.Context, req *provider.Request, emit func(provider.Event) error) (*provider.Result, error) {
		result, err := good(ctx, req, emit)
		if err == nil && class != "" {
			return nil, &provider.Error{Class: class}
		}
		return result, err
	}}
}

func TestATurnOfAnotherProcessIsSeenAsItGoesOn(t *testing.T) {
	for name, class := range map[string]provider.Class{"it commits": "", "it fails": provider.ClassAuth} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := streamsThen("par", time.Minute, class)
				_, first, second := two(t, says("x"), b)
				ask(t, first, "s", "one", session.RunOptions{})
				time.Sleep(2 * idle)
				run := begin(t, second, "s", "two", false, session.RunOptions{})
				synctest.Wait()
				cut := state(t, first, "s").Interrupted
				require.NotNil(t, cut, "nobody here knows whether it still runs")
				assert.Empty(t, cut.Partial)
				time.Sleep(time.Second)
				assert.Equal(t, "par", state(t, first, "s").Interrupted.Partial)
				_, err := run.Wait()
				run.Settle()
				assert.Equal(t, class != "", err != nil)
				assert.Nil(t, state(t, first, "s").Interrupted)
				assert.Equal(t, err == nil, state(t, first, "s").Turn == 2)
			})
		})
	}
}

func TestAnIdleSessionThatWasMadeAnewIsReadAnew(t *testing.T) {
	for name, own := range map[string][]schema.SecretValue{"without secrets of its own": nil, "with": {{Value: "hunter2-hunter2"}}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, first, second := two(t, says("x"), says("y"))
				s, err := first.Create("s", schema.SessionSettings{}, own)
				require.NoError(t, err)
				require.NoError(t, s.Sync())
				ask(t, first, "s", "one", session.RunOptions{})
				ask(t, first, "s", "two", session.RunOptions{})
				time.Sleep(2 * idle)
				require.NoError(t, second.DeleteSession("s")())
				_, err = first.View("s")
				assert.ErrorIs(t, err, session.ErrNotFound)
				ask(t, second, "s", "another", session.RunOptions{})
				assert.Equal(t, []string{"another", "y"}, messagesOf(t, first, "s"))
				time.Sleep(2 * idle)
				assert.Equal(t, 2, ask(t, first, "s", "go on, hunter2-hunter2", session.RunOptions{}).Turn)
				assert.Equal(t, own != nil, messagesOf(t, first, "s")[2] == "go on, [REDACTED]", "what it hides it hides still")
			})
		})
	}
}

func TestAnIdleSessionKeepsItsSecretsWhileItCantBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, first, second := two(t, says("x"), says("y"))
		s, err := first.Create("s", schema.SessionSettings{}, []schema.SecretValue{{Value: "hunter2-hunter2"}})
		require.NoError(t, err)
		require.NoError(t, s.Sync())
		time.Sleep(2 * idle)
		require.NoError(t, second.DeleteSession("s")())
		ask(t, second, "s", "about hunter2-hunter2", session.RunOptions{})
		assert.True(t, held(t, first, "s"))
		assert.True(t, held(t, first, "s"))
		assert.Equal(t, "about [REDACTED]", messagesOf(t, first, "s")[0])
		assert.Equal(t, 1, s.State().Turn, "through a handle too")
		time.Sleep(2 * idle)
		ask(t, first, "s", "hunter2-hunter2", session.RunOptions{})
		assert.Equal(t, "[REDACTED]", messagesOf(t, first, "s")[2])
	})
}

func TestAnIdleSessionThatWasDeletedIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, first, second := two(t, says("x"), says("y"))
		ask(t, first, "s", "one", session.RunOptions{})
		time.Sleep(2 * idle)
		require.NoError(t, second.DeleteSession("s")())
		_, err := first.Begin(t.Context(), session.Start{SessionID: "s", Input: input("two")})
		assert.ErrorIs(t, err, session.ErrNotFound)
		assert.Equal(t, 1, ask(t, first, "s", "one", session.RunOptions{}).Turn, "prompt makes it anew")
	})
}

func TestWhatNeedsTheLogKeepsItOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, first, second := two(t, says("x"), says("y"))
		ask(t, first, "s", "one", session.RunOptions{})
		save, err := lookup(t, first, "s").Update(&schema.UpdateSessionParams{Title: given("T")})
		require.NoError(t, err)
		time.Sleep(2 * idle)
		assert.True(t, held(t, second, "s"), "settings are being saved")
		require.NoError(t, save())
		time.Sleep(2 * idle)
		assert.Equal(t, "T", state(t, second, "s").Title)
		assert.False(t, held(t, second, "s"))
	})
}

func TestAHandleOnAnIdleSessionTakesTheLogAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, first, second := two(t, summarises(counting("x"), counting("SUM")), says("y"))
		ask(t, first, "s", "one", session.RunOptions{})
		s := lookup(t, first, "s")
		time.Sleep(2 * idle)
		save, err := s.Update(&schema.UpdateSessionParams{Title: given("T")})
		require.NoError(t, err)
		require.NoError(t, save())
		time.Sleep(2 * idle)
		c, err := s.Compact(t.Context(), session.CompactOptions{})
		require.NoError(t, err)
		_, err = c.Wait()
		c.Settle()
		require.NoError(t, err)
		time.Sleep(2 * idle)
		ask(t, second, "s", "two", session.RunOptions{})
		_, err = s.Compact(t.Context(), session.CompactOptions{})
		var locked *session.LockedError
		assert.ErrorAs(t, err, &locked)
		_, err = s.Update(&schema.UpdateSessionParams{Title: given("U")})
		assert.ErrorAs(t, err, &locked)
	})
}

func TestAFailedTurnLeavesItsNumberAfterAnIdleTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &model{answer: fails(provider.ClassAuth)}
		_, first, second := two(t, p, says("y"))
		run := begin(t, first, "s", "one", false, session.RunOptions{})
		_, err := run.Wait()
		run.Settle()
		require.Error(t, err)
		time.Sleep(2 * idle)
		assert.Equal(t, 1, ask(t, second, "s", "one", session.RunOptions{}).Turn)
		require.NoError(t, second.Close())
		p.answer = says("x").answer
		assert.Equal(t, 2, ask(t, first, "s", "two", session.RunOptions{}).Turn)
	})
}

// Two processes with one --session: each knows it before either has written it.
func TestASessionThatAnotherProcessMadeFirstIsTakenUpFromTheStore(t *testing.T) {
	t.Run("while it was only known", func(t *testing.T) {
		_, a, b := two(t, says("x"), says("x"))
		_, err := a.Open("s")
		require.NoError(t, err)
		ask(t, b, "s", "one", session.RunOptions{})
		assert.Equal(t, 1, state(t, a, "s").Turn)
		assert.True(t, held(t, a, "s"))
		require.NoError(t, b.CloseSession("s")())
		assert.Equal(t, 2, ask(t, a, "s", "two", session.RunOptions{}).Turn)
		assert.Equal(t, []string{"one", "x", "two", "x"}, messagesOf(t, b, "s"))
	})
	t.Run("while its first turn waited", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store, _, b := two(t, nil, says("x"))
			a := newManager(t, session.Config{Provider: streams("x", time.Minute), Store: store, Limits: session.Limits{MaxRunning: 1}})
			busy := begin(t, a, "other", "one", false, session.RunOptions{})
			waits := begin(t, a, "s", "late", false, session.RunOptions{})
			ask(t, b, "s", "one", session.RunOptions{})
			wait(t, busy)
			_, err := waits.Wait()
			var locked *session.LockedError
			assert.ErrorAs(t, err, &locked)
			waits.Settle()
			assert.Equal(t, 1, state(t, a, "s").Turn)
			require.NoError(t, b.CloseSession("s")())
			assert.Equal(t, 2, ask(t, a, "s", "two", session.RunOptions{}).Turn)
		})
	})
}

func TestAClosedManagerKeepsNoSessionFromOthers(t *testing.T) {
	for claim, use := range map[string]func(*session.Manager) error{
		"one it had":   func(m *session.Manager) error { _, err := m.Lookup("s"); return err },
		"a stored one": func(m *session.Manager) error { _, err := m.Lookup("other"); return err },
		"a new one":    func(m *session.Manager) error { _, err := m.Create("new", schema.SessionSettings{}, nil); return err },
		"a fork":       func(m *session.Manager) error { _, err := m.Fork("other", -1, "new"); return err },
	} {
		t.Run(claim, func(t *testing.T) {
			_, first, second := two(t, says("x"), says("y"))
			ask(t, first, "s", "one", session.RunOptions{})
			ask(t, second, "other", "one", session.RunOptions{})
			require.NoError(t, second.CloseSession("other")())
			require.NoError(t, first.Close())
			assert.ErrorIs(t, use(first), session.ErrClosed)
			for _, id := range []string{"s", "other", "new"} {
				_, err := second.Open(id)
				assert.NoError(t, err, id)
			}
		})
	}
}
