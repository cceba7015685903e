package session_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/memstore"
)

// sameInMemory tells whether s is still the one that is in memory: one that was
// let go of is another when it comes back.
func sameInMemory(t *testing.T, m *session.Manager, s *session.Session) bool {
	now, err := m.Lookup(s.ID())
	require.NoError(t, err)
	return now == s
}

func lookup(t *testing.T, m *session.Manager, id string) *session.Session {
	s, err := m.Lookup(id)
	require.NoError(t, err)
	return s
}

// makeNew stores a new session.
func makeNew(t *testing.T, m *session.Manager, id string) {
	s, err := m.Create(id, schema.SessionSettings{}, nil)
	require.NoError(t, err)
	require.NoError(t, s.Sync())
}

func TestTheLeastRecentlyUsedSessionsLeaveMemoryAndComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newManager(t, session.Config{Provider: says("x"), Store: memstore.New(), Limits: session.Limits{MaxIdle: 3}})
		kept := map[string]*session.Session{}
		for _, id := range []string{"a", "b", "c"} {
			ask(t, m, id, "one", session.RunOptions{})
			kept[id] = lookup(t, m, id)
		}
		state(t, m, "a") // used again
		ask(t, m, "d", "one", session.RunOptions{})
		synctest.Wait()
		assert.True(t, sameInMemory(t, m, kept["a"]))
		assert.True(t, sameInMemory(t, m, kept["c"]))
		assert.False(t, sameInMemory(t, m, kept["b"]), "it was used longest ago")
		assert.Equal(t, 2, ask(t, m, "b", "two", session.RunOptions{}).Turn)
		assert.Equal(t, []string{"one", "x", "two", "x"}, messagesOf(t, m, "b"))
	})
}

func TestASessionThatIsNeededStaysInMemory(t *testing.T) {
	fill := func(t *testing.T, m *session.Manager) {
		for i := range 40 {
			ask(t, m, fmt.Sprint("other", i), "one", session.RunOptions{})
		}
	}
	limits := session.Limits{MaxIdle: 1}
	t.Run("its secrets are known to it alone", func(t *testing.T) {
		m := newManager(t, session.Config{Provider: says("x"), Store: memstore.New(), Limits: limits})
		s, err := m.Create("s", schema.SessionSettings{}, []schema.SecretValue{{Value: "hunter2-hunter2"}})
		require.NoError(t, err)
		require.NoError(t, s.Sync())
		fill(t, m)
		assert.True(t, sameInMemory(t, m, s))
		ask(t, m, "s", "hunter2-hunter2", session.RunOptions{})
		assert.Equal(t, "[REDACTED]", messagesOf(t, m, "s")[0])
	})
	t.Run("it was asked for last, and none of the others can leave", func(t *testing.T) {
		store := memstore.New()
		before := newManager(t, session.Config{Provider: says("x"), Store: store})
		ask(t, before, "s", "one", session.RunOptions{})
		require.NoError(t, before.Close())
		m := newManager(t, session.Config{Provider: says("x"), Store: store, Limits: limits})
		for i := range 3 {
			_, err := m.Open(fmt.Sprint("other", i))
			require.NoError(t, err)
		}
		s := lookup(t, m, "s")
		require.True(t, sameInMemory(t, m, s))
		assert.Equal(t, 2, ask(t, m, "s", "two", session.RunOptions{}).Turn)
	})
	t.Run("it is not stored", func(t *testing.T) {
		m := newManager(t, session.Config{Provider: says("x"), Store: memstore.New(), Limits: limits})
		s, err := m.Open("s")
		require.NoError(t, err)
		fill(t, m)
		assert.True(t, sameInMemory(t, m, s))
	})
	t.Run("it is not durable yet", func(t *testing.T) {
		m := newManager(t, session.Config{Provider: says("x"), Store: memstore.New(), Limits: limits})
		s, err := m.Create("s", schema.SessionSettings{}, nil)
		require.NoError(t, err)
		fill(t, m)
		assert.True(t, sameInMemory(t, m, s))
		require.NoError(t, s.Sync())
		fill(t, m)
		assert.False(t, sameInMemory(t, m, s))
	})
	t.Run("its settings are being saved", func(t *testing.T) {
		m := newManager(t, session.Config{Provider: says("x"), Store: memstore.New(), Limits: limits})
		ask(t, m, "s", "one", session.RunOptions{})
		s := lookup(t, m, "s")
		save, err := s.Update(&schema.UpdateSessionParams{Title: given("T")})
		require.NoError(t, err)
		fill(t, m)
		assert.True(t, sameInMemory(t, m, s))
		require.NoError(t, save())
		fill(t, m)
		assert.False(t, sameInMemory(t, m, s))
		assert.Equal(t, "T", state(t, m, "s").Title)
	})
	t.Run("its last answer is on its way", func(t *testing.T) {
		m := newManager(t, session.Config{Provider: says("x"), Store: memstore.New(), Limits: limits})
		run := begin(t, m, "s", "one", false, session.RunOptions{})
		_, err := run.Wait()
		require.NoError(t, err)
		s := lookup(t, m, "s")
		fill(t, m)
		assert.True(t, sameInMemory(t, m, s))
		run.Settle()
		fill(t, m)
		assert.False(t, sameInMemory(t, m, s))
	})
	t.Run("there is no store", func(t *testing.T) {
		m := newManager(t, session.Config{Provider: says("x"), Limits: limits})
		ask(t, m, "s", "one", session.RunOptions{})
		fill(t, m)
		assert.Equal(t, 1, state(t, m, "s").Turn)
	})
	t.Run("it waits for the server", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := streams("x", time.Minute)
			m := newManager(t, session.Config{Provider: p, Store: memstore.New(), Limits: session.Limits{MaxIdle: 1, MaxRunning: 1}})
			ask(t, m, "s", "one", session.RunOptions{})
			busy := begin(t, m, "busy", "one", false, session.RunOptions{})
			synctest.Wait()
			s := lookup(t, m, "s")
			run := begin(t, m, "s", "two", false, session.RunOptions{})
			for i := range 40 {
				makeNew(t, m, fmt.Sprint("new", i))
			}
			assert.True(t, sameInMemory(t, m, s))
			wait(t, busy)
			assert.Equal(t, 2, wait(t, run).Turn)
		})
	})
	t.Run("it runs", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := streams("x", time.Minute)
			m := newManager(t, session.Config{Provider: p, Store: memstore.New(), Limits: limits})
			run := begin(t, m, "s", "one", false, session.RunOptions{})
			synctest.Wait()
			p.answer = says("x").answer
			fill(t, m)
			assert.Equal(t, schema.StatusRunning, state(t, m, "s").Status)
			assert.Equal(t, 1, wait(t, run).Turn)
		})
	})
}

func TestAHandleOnASessionThatLeftMemoryWorksOn(t *testing.T) {
	m := newManager(t, session.Config{Provider: summarises(counting("x"), counting("SUM")), Store: memstore.New(), Limits: session.Limits{MaxIdle: 1}})
	ask(t, m, "s", "one", session.RunOptions{})
	s := lookup(t, m, "s")
	leave := func() {
		for i := range 3 {
			ask(t, m, fmt.Sprint("other", i), "one", session.RunOptions{})
		}
		require.False(t, sameInMemory(t, m, s))
	}
	leave()
	ask(t, m, "s", "two", session.RunOptions{})
	leave()
	assert.Equal(t, 2, s.State().Turn)
	assert.Len(t, s.Messages(0, 10).Messages, 4)
	save, err := s.Update(&schema.UpdateSessionParams{Title: given("T")})
	require.NoError(t, err)
	require.NoError(t, save())
	assert.Equal(t, "T", state(t, m, "s").Title)
	leave()
	c, err := s.Compact(t.Context(), session.CompactOptions{})
	require.NoError(t, err)
	result, err := c.Wait()
	c.Settle()
	require.NoError(t, err)
	assert.Equal(t, 2, result.TurnsReplaced)
	leave()
	three, err := s.Run(t.Context(), input("three"), session.RunOptions{})
	require.NoError(t, err)
	assert.Equal(t, 3, three.Turn)
	assert.Empty(t, s.Abort("", true))
}
