package storetest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/session"
)

// lend gives back the log of s1 and returns where it ended.
func lend(t *testing.T, l session.Log) session.Mark {
	t.Helper()
	mark := l.Mark()
	require.NoError(t, l.Close())
	assert.Equal(t, mark, l.Mark(), "also after Close")
	return mark
}

func resumes(t *testing.T, store session.Store) {
	written := Fill(t, store, "s1", 2)
	l, _ := Reopen(t, store, "s1")
	first := lend(t, l)

	l, replayed := reopenFrom(t, store, "s1", first)
	assert.Empty(t, replayed, "nothing was added")
	assert.Equal(t, first, l.Mark())
	turn := Turn(3, "mine")
	require.NoError(t, l.Append(Started(3)))
	require.NoError(t, l.Append(Partial(3, "mi")))
	second := lend(t, l)
	l, replayed = reopenFrom(t, store, "s1", second)
	assert.Empty(t, replayed)
	require.NoError(t, l.Append(Partial(3, "ne")), "the turn is still under way")
	require.NoError(t, l.Commit(3, turn))
	assert.ErrorIs(t, l.Commit(3, turn), session.ErrConflict)
	third := lend(t, l)

	added := [][]byte{Started(3), Partial(3, "mi"), Partial(3, "ne"), turn}
	for from, want := range map[session.Mark][][]byte{"": append(written, added...), first: added, second: added[2:], third: nil} {
		l, replayed = reopenFrom(t, store, "s1", from)
		assert.Equal(t, want, replayed)
		assert.Equal(t, third, lend(t, l))

		var read [][]byte
		end, err := store.ReadFrom("s1", from, Collect(&read))
		require.NoError(t, err)
		assert.Equal(t, want, read)
		assert.Equal(t, third, end)
	}
}

func reopenFrom(t *testing.T, store session.Store, id string, from session.Mark) (session.Log, [][]byte) {
	t.Helper()
	var records [][]byte
	l, err := store.OpenFrom(id, from, Collect(&records))
	require.NoError(t, err)
	return l, records
}

func resumesNothingElse(t *testing.T, store session.Store) {
	Fill(t, store, "s1", 2)
	l, _ := Reopen(t, store, "s1")
	mark := lend(t, l)
	Fill(t, store, "s2", 2)
	refuses := func(claim, id string, mark session.Mark, want error) {
		t.Helper()
		none := func([]byte) error { t.Errorf("%s: something was replayed", claim); return nil }
		_, err := store.OpenFrom(id, mark, none)
		assert.ErrorIs(t, err, want, claim)
		_, err = store.ReadFrom(id, mark, none)
		assert.ErrorIs(t, err, want, claim)
	}
	refuses("another session", "s2", mark, session.ErrRewritten)
	for _, junk := range []session.Mark{"x", mark + "0", mark + " ", " " + mark, mark[1:], "1 2 3", "-1 -1", "9 9", "1 99999999"} {
		refuses("junk "+string(junk), "s1", junk, session.ErrRewritten)
	}
	require.NoError(t, store.Delete("s1"))
	refuses("a deleted session", "s1", mark, session.ErrNotFound)
	Write(t, store, "s1", HeaderAt("s1", hours(1), ""))
	refuses("made anew, shorter", "s1", mark, session.ErrRewritten)
	require.NoError(t, store.Delete("s1"))
	Write(t, store, "s1", HeaderAt("s1", hours(1), ""), Turn(1, "another"), Turn(2, "another"), Turn(3, "another"), Turn(4, "another"))
	refuses("made anew, longer", "s1", mark, session.ErrRewritten)

	l, _ = Reopen(t, store, "s1")
	_, err := store.OpenFrom("s1", l.Mark(), Ignore)
	var locked *session.LockedError
	assert.ErrorAs(t, err, &locked, "held")
	require.NoError(t, l.Close())
}

func forks(t *testing.T, store session.Store) {
	header := Header("s1")
	nasty := fmt.Appendf(nil, `{"v":1,"t":"turn","turn":2,"generation":3,"marks":{"a":[1e400,"\ud800"]},"messages":["`+"\u2028\xff"+`"] }`)
	records := [][]byte{
		header, Started(1), Partial(1, "an"), Turn(1, "answer"), []byte(`{"v":1,"t":"settings","generation":1,"later":{}}`),
		Started(2), []byte(`{"v":1,"t":"failed","turn":2,"later":true}`), nasty, Started(3), Turn(3, "not copied"),
	}
	Write(t, store, "s1", records...)
	l, err := store.Create("s2", Header("s2"))
	require.NoError(t, err)
	for _, r := range Read(t, store, "s1")[1:8] {
		require.NoError(t, l.Append(r))
	}
	require.NoError(t, l.Sync())
	require.NoError(t, l.Close())
	assert.Equal(t, records[1:8], Read(t, store, "s2")[1:], "byte for byte")
	assert.Equal(t, records, Read(t, store, "s1"), "the original is as it was")
	l, _ = Reopen(t, store, "s2")
	assert.ErrorIs(t, l.Commit(2, Turn(2, "there already")), session.ErrConflict)
	require.NoError(t, l.Commit(3, Turn(3, "its own")))
	require.NoError(t, l.Close())
}

func partials(t *testing.T, store session.Store) {
	l, err := store.Create("s1", Header("s1"))
	require.NoError(t, err)
	assert.Error(t, l.Append(Partial(1, "early")))
	require.NoError(t, l.Append(Started(1)))
	require.NoError(t, l.Append(Partial(1, "a")))
	require.NoError(t, l.Append(Partial(1, "b")))
	assert.Error(t, l.Append(Partial(2, "of none")))
	assert.Error(t, l.Commit(1, Partial(1, "no turn")))
	require.NoError(t, l.Commit(1, Turn(1, "ab")))
	assert.Error(t, l.Append(Partial(1, "late")))
	require.NoError(t, l.Close())
	assert.Equal(t, [][]byte{Header("s1"), Started(1), Partial(1, "a"), Partial(1, "b"), Turn(1, "ab")}, Read(t, store, "s1"))
}
