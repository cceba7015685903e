package session_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/filestore"
	"github.com/prism-rpc/prism-rpc/session/memstore"
)

func TestCloseSessionEndsItsTurnsAndLetsGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		m := newManager(t, session.Config{Provider: streams("par", time.Hour), Store: store})
		first := begin(t, m, "s", "1", false, session.RunOptions{})
		second := begin(t, m, "s", "2", true, session.RunOptions{})
		synctest.Wait()
		ended := m.CloseSession("s")
		done := make(chan error, 1)
		go func() { done <- ended() }()
		assert.Equal(t, schema.StopCancelled, wait(t, first).StopReason)
		assert.Equal(t, schema.StopCancelled, wait(t, second).StopReason)
		require.NoError(t, <-done)
		other := newManager(t, session.Config{Provider: says("x"), Store: store})
		assert.Equal(t, 2, ask(t, other, "s", "go on", session.RunOptions{}).Turn, "another manager can take the session")
		require.NoError(t, m.CloseSession("nobody")())
	})
}

func TestCloseSessionEndsItsCompaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newManager(t, session.Config{Provider: summarises(counting("x"), streams("SUM", time.Hour).answer), Store: memstore.New()})
		ask(t, m, "s", "1", session.RunOptions{})
		s, err := m.Lookup("s")
		require.NoError(t, err)
		c, err := s.Compact(t.Context(), session.CompactOptions{})
		require.NoError(t, err)
		synctest.Wait()
		done := make(chan error, 1)
		ended := m.CloseSession("s")
		go func() { done <- ended() }()
		_, err = c.Wait()
		c.Settle()
		assert.ErrorIs(t, err, context.Canceled)
		require.NoError(t, <-done)
		assert.Zero(t, state(t, m, "s").Generation)
	})
}

func TestSessionThatIsAskedForWhileItClosesStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newManager(t, session.Config{Provider: streams("x", time.Second), Store: memstore.New()})
		first := begin(t, m, "s", "1", false, session.RunOptions{})
		synctest.Wait()
		ended := m.CloseSession("s")
		second := begin(t, m, "s", "2", true, session.RunOptions{})
		wait(t, first)
		require.NoError(t, ended())
		assert.Equal(t, schema.StopEndTurn, wait(t, second).StopReason)
		assert.Equal(t, 2, state(t, m, "s").Turn)
	})
}

func TestDeleteSession(t *testing.T) {
	store := memstore.New()
	m := newManager(t, session.Config{Provider: says("x"), Store: store})
	ask(t, m, "s", "1", session.RunOptions{})
	require.NoError(t, m.DeleteSession("s")())
	require.NoError(t, m.DeleteSession("s")(), "deleting again is fine")
	_, err := m.View("s")
	assert.ErrorIs(t, err, session.ErrNotFound)
	assert.Equal(t, 1, ask(t, m, "s", "1", session.RunOptions{}).Turn)
}

func TestForkCopiesTurnsAndSettings(t *testing.T) {
	for name, store := range map[string]session.Store{"with a store": memstore.New(), "without": nil} {
		t.Run(name, func(t *testing.T) {
			p := says("answer")
			m := newManager(t, session.Config{Provider: p, Store: store})
			base := "Be brief."
			_, err := m.Create("s", schema.SessionSettings{Instructions: &base, Model: "m1"}, nil)
			require.NoError(t, err)
			for _, text := range []string{"one", "two", "three"} {
				ask(t, m, "s", text, session.RunOptions{RequestKey: text})
			}
			fork, err := m.Fork("s", 2, "f")
			require.NoError(t, err)
			assert.Equal(t, 2, fork.State().Turn)
			assert.Equal(t, "Be brief.", fork.State().Instructions)
			assert.Equal(t, "m1", fork.State().Model)
			again := ask(t, m, "f", "two", session.RunOptions{RequestKey: "two"})
			assert.False(t, again.Replayed, "request keys belong to the session they came to")
			assert.Equal(t, 3, again.Turn)
			asked := p.asked()
			assert.Equal(t, historyOf(asked[2]), historyOf(asked[3]), "the dialogue is that of the copied turns")
			assert.Equal(t, 3, state(t, m, "s").Turn, "the original is as it was")

			all, err := m.Fork("s", -1, "")
			require.NoError(t, err)
			assert.Equal(t, 3, all.State().Turn)
			_, err = m.Fork("s", 4, "")
			var bad *schema.ParamsError
			assert.ErrorAs(t, err, &bad)
			_, err = m.Fork("s", 1, "f")
			assert.ErrorAs(t, err, &bad, "an id in use")
			_, err = m.Fork("nobody", 1, "")
			assert.ErrorIs(t, err, session.ErrNotFound)
		})
	}
}

func TestUpdateHoldsFromTheNextTurnAndSurvives(t *testing.T) {
	store := memstore.New()
	p := says("x")
	cfg := session.Config{Provider: p, Store: store, Model: "m0", Base: "Base.", Registry: registry(t, inject.Static("a", inject.Contribution{Instructions: "A."}))}
	m := newManager(t, cfg)
	ask(t, m, "s", "first line\nand more", session.RunOptions{})
	assert.Equal(t, "first line", state(t, m, "s").Title)
	s, err := m.Lookup("s")
	require.NoError(t, err)
	save, err := s.Update(&schema.UpdateSessionParams{
		Title: given("Mine"), Instructions: given("Own."), Model: given("m1"),
		InstructionInjectors: schema.Patch[[]string]{Given: true, Value: []string{"a"}},
	})
	require.NoError(t, err)
	require.NoError(t, save())
	require.NoError(t, m.Close())

	m = newManager(t, cfg)
	ask(t, m, "s", "hi", session.RunOptions{})
	st := state(t, m, "s")
	assert.Equal(t, "Mine", st.Title)
	assert.Equal(t, []string{"a"}, st.InstructionInjectors)
	assert.Equal(t, "Own.\n\nA.", systemOf(p.asked()[1]))
	assert.Equal(t, "m1", p.asked()[1].Model)

	s, err = m.Lookup("s")
	require.NoError(t, err)
	null := schema.Patch[string]{Given: true, Null: true}
	save, err = s.Update(&schema.UpdateSessionParams{Instructions: null, Model: null})
	require.NoError(t, err)
	require.NoError(t, save())
	assert.Equal(t, "Base.", s.State().Instructions)
	assert.Equal(t, "m0", s.State().Model)
	assert.Equal(t, "Mine", s.State().Title, "what was not given stays")

	_, err = s.Update(&schema.UpdateSessionParams{InstructionInjectors: schema.Patch[[]string]{Given: true, Value: []string{"b"}}})
	var unknown *inject.UnknownError
	assert.ErrorAs(t, err, &unknown)
}

func given(text string) schema.Patch[string] { return schema.Patch[string]{Given: true, Value: text} }

func TestListIsNewestFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newManager(t, session.Config{Provider: streams("x", time.Second), Store: memstore.New()})
		for _, id := range []string{"a", "b", "c"} {
			ask(t, m, id, "about "+id, session.RunOptions{})
		}
		page, err := m.List("", 2, "")
		require.NoError(t, err)
		require.Len(t, page.Sessions, 2)
		assert.Equal(t, "c", page.Sessions[0].SessionID)
		assert.Equal(t, "about c", page.Sessions[0].Title)
		rest, err := m.List(page.NextCursor, 2, "")
		require.NoError(t, err)
		require.Len(t, rest.Sessions, 1)
		assert.Equal(t, "a", rest.Sessions[0].SessionID)
		_, err = m.List("nonsense", 2, "")
		var bad *schema.ParamsError
		assert.ErrorAs(t, err, &bad)
	})
}

func TestU6DeletingTakesEffectBeforeWhatIsAskedNext(t *testing.T) {
	for name, store := range map[string]session.Store{"memory": memstore.New(), "files": fileStore(t)} {
		t.Run(name, func(t *testing.T) {
			m := newManager(t, session.Config{Provider: says("x"), Store: store})
			ask(t, m, "s", "1", session.RunOptions{})
			ended := m.DeleteSession("s")
			assert.Equal(t, 1, ask(t, m, "s", "1", session.RunOptions{}).Turn, "a new session of that id")
			require.NoError(t, ended())
			assert.Equal(t, 1, state(t, m, "s").Turn, "which the deletion leaves alone")

			ended = m.DeleteSession("s")
			made, err := m.Create("s", schema.SessionSettings{}, nil)
			require.NoError(t, err)
			again := m.DeleteSession("s")
			_, err = m.Create("s", schema.SessionSettings{}, nil)
			require.NoError(t, err)
			for _, err := range []error{ended(), again(), made.Sync()} {
				require.NoError(t, err)
			}
		})
	}
}

// slowDelete is a store that takes its time to delete, and holds the session
// meanwhile.
type slowDelete struct {
	session.Store
	held sync.Mutex
}

func (s *slowDelete) Delete(id string) error {
	if !s.held.TryLock() {
		return &session.LockedError{}
	}
	defer s.held.Unlock()
	time.Sleep(time.Second)
	return s.Store.Delete(id)
}

func TestASessionThatIsDeletedTwiceAtOnceIsDeletedOnce(t *testing.T) {
	for claim, starts := range map[string]bool{"at rest": false, "while a turn runs": true} {
		t.Run(claim, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newManager(t, session.Config{Provider: streams("x", time.Minute), Store: &slowDelete{Store: memstore.New()}})
				ask(t, m, "s", "1", session.RunOptions{})
				var run *session.Run
				if starts {
					run = begin(t, m, "s", "2", false, session.RunOptions{})
				}
				deleted := make(chan error, 3)
				for range cap(deleted) {
					go func() { deleted <- m.DeleteSession("s")() }()
				}
				if starts {
					wait(t, run)
				}
				for range cap(deleted) {
					assert.NoError(t, <-deleted)
				}
				_, err := m.View("s")
				assert.ErrorIs(t, err, session.ErrNotFound)
			})
		})
	}
}

func fileStore(t *testing.T) session.Store {
	store, err := filestore.Open(t.TempDir(), filestore.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}

func TestChangesSavedAroundClosingLeaveNoLock(t *testing.T) {
	store := fileStore(t)
	for range 50 {
		m := newManager(t, session.Config{Provider: says("x"), Store: store})
		s, err := m.Create("a", schema.SessionSettings{}, nil)
		require.NoError(t, err)
		closed := m.CloseSession("a")
		save, err := s.Update(&schema.UpdateSessionParams{Title: given("t")})
		require.NoError(t, err)
		done := make(chan error, 2)
		go func() { done <- closed() }()
		go func() { done <- save() }()
		require.NoError(t, <-done)
		require.NoError(t, <-done)
		require.NoError(t, m.DeleteSession("a")())
		ask(t, m, "a", "hi", session.RunOptions{})
		require.NoError(t, m.DeleteSession("a")())
		require.NoError(t, m.Close())
	}
}

func TestSessionThatIsDeletedWhileATurnRunsTakesNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newManager(t, session.Config{Provider: streams("x", time.Hour), Store: memstore.New()})
		run := begin(t, m, "s", "1", false, session.RunOptions{})
		synctest.Wait()
		ended := m.DeleteSession("s")
		_, err := m.Begin(t.Context(), session.Start{SessionID: "s", Input: input("2"), Queue: true})
		var busy *session.BusyError
		require.ErrorAs(t, err, &busy)
		wait(t, run)
		require.NoError(t, m.CloseSession("s")()) // it leaves memory before it is deleted
		_, err = m.Lookup("s")
		require.ErrorAs(t, err, &busy, "nobody takes it from the store again")
		_, err = m.Begin(t.Context(), session.Start{SessionID: "s", Input: input("3"), Create: true})
		require.ErrorAs(t, err, &busy)
		require.NoError(t, ended())
		_, err = m.View("s")
		assert.ErrorIs(t, err, session.ErrNotFound)
	})
}

func TestSecretsThatATurnTellsLeaveTheSession(t *testing.T) {
	const secret = "told-by-a-turn"
	m := newManager(t, session.Config{Provider: says("x"), Store: memstore.New()})
	base := "Use " + secret
	_, err := m.Create("s", schema.SessionSettings{Instructions: &base, Title: "About " + secret, Model: "m-" + secret, CWD: "/" + secret}, nil)
	require.NoError(t, err)
	ask(t, m, "s", secret, session.RunOptions{Model: "other", Secrets: []schema.SecretValue{{Value: secret}}})
	st := state(t, m, "s")
	for _, text := range []string{st.Instructions, st.Title, st.Model} {
		assert.NotContains(t, text, secret)
	}
	require.NoError(t, m.Learn([]schema.SecretValue{{Value: secret}}))
	page, err := m.List("", 10, "")
	require.NoError(t, err)
	assert.NotContains(t, page.Sessions[0].Title+page.Sessions[0].CWD, secret)
	fork, err := m.Fork("s", -1, "")
	require.NoError(t, err)
	assert.NotContains(t, fork.State().Model, secret)
	_, err = m.Create("id-"+"own-secret-1", schema.SessionSettings{}, []schema.SecretValue{{Value: "own-secret-1"}})
	var bad *schema.ParamsError
	assert.ErrorAs(t, err, &bad)
}

func TestU9RequestKeySurvivesWhatIsSecretLater(t *testing.T) {
	store := memstore.New()
	m := newManager(t, session.Config{Provider: says("x"), Store: store})
	keyed := session.RunOptions{RequestKey: "k"}
	ask(t, m, "s", "it is later-secret", keyed)
	require.NoError(t, m.Learn([]schema.SecretValue{{Value: "later-secret"}}))
	assert.True(t, ask(t, m, "s", "it is later-secret", keyed).Replayed)
}
