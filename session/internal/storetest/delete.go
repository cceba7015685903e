package storetest

import (
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/session"
)

func deletes(t *testing.T, store session.Store) {
	Fill(t, store, "s1", 2)
	Fill(t, store, "s1.5", 2)
	other := Fill(t, store, "s1.5.5", 2)
	for _, id := range []string{"s1", "s1", "s1.5", "never", "", "..", "../s1.5.5", "a/b"} {
		require.NoError(t, store.Delete(id), "%q", id)
		exists, err := store.Exists(id)
		require.NoError(t, err)
		assert.False(t, exists, "%q", id)
	}
	_, err := store.Open("s1", Ignore)
	assert.ErrorIs(t, err, session.ErrNotFound)
	assert.ErrorIs(t, store.Read("s1", Ignore), session.ErrNotFound)
	assert.Equal(t, other, Read(t, store, "s1.5.5"), "another's log is left alone")

	again := Fill(t, store, "s1", 1)
	assert.Equal(t, again, Read(t, store, "s1"), "the id is free again")
}

func deleteHeld(t *testing.T, store session.Store) {
	written := Fill(t, store, "s1", 1)
	l, _ := Reopen(t, store, "s1")
	var locked *session.LockedError
	require.ErrorAs(t, store.Delete("s1"), &locked)
	assert.Equal(t, os.Getpid(), locked.PID)
	require.NoError(t, l.Append(Started(2)))
	require.NoError(t, l.Close())
	assert.Equal(t, append(written, Started(2)), Read(t, store, "s1"))
	assert.NoError(t, store.Delete("s1"))
}

func prunes(t *testing.T, store session.Store) {
	Write(t, store, "old", HeaderAt("old", hours(0), ""), TurnAt(1, hours(1)))
	Write(t, store, "held", HeaderAt("held", hours(0), ""))
	Write(t, store, "edge", HeaderAt("edge", hours(0), ""), TurnAt(1, hours(5)))
	Write(t, store, "new", HeaderAt("new", hours(6), ""))
	Write(t, store, "copied", HeaderAt("copied", hours(6), ""), TurnAt(1, hours(1)))
	Write(t, store, "tried", HeaderAt("tried", hours(0), ""), FailedAt(1, hours(6)))
	Write(t, store, "named", HeaderAt("named", hours(0), ""), SettingsAt(hours(6), "", ""))
	l, _ := Reopen(t, store, "held")

	deleted, err := store.Prune(hours(5))
	require.NoError(t, err)
	assert.Equal(t, 1, deleted)
	require.NoError(t, l.Append(Started(1)), "what is held goes on")
	require.NoError(t, l.Close())
	assert.Equal(t, "copied new edge held named tried", IDs(List(t, store, 0, "")))

	deleted, err = store.Prune(hours(5))
	require.NoError(t, err)
	assert.Equal(t, 1, deleted, "and is deleted when nobody holds it")
	deleted, err = store.Prune(hours(5))
	require.NoError(t, err)
	assert.Zero(t, deleted)
	assert.ErrorIs(t, store.Read("old", Ignore), session.ErrNotFound)
	Fill(t, store, "old", 1)
}

func closedStoreLists(t *testing.T, store session.Store) {
	Fill(t, store, "s1", 1)
	l, _ := Reopen(t, store, "s1")
	mark := l.Mark()
	require.NoError(t, store.Close())
	_, _, err := store.List("", 1, "")
	assert.ErrorIs(t, err, fs.ErrClosed)
	assert.ErrorIs(t, store.Delete("s1"), fs.ErrClosed)
	_, err = store.Prune(time.Now())
	assert.ErrorIs(t, err, fs.ErrClosed)
	_, err = store.OpenFrom("s1", mark, Ignore)
	assert.ErrorIs(t, err, fs.ErrClosed)
	_, err = store.ReadFrom("s1", mark, Ignore)
	assert.ErrorIs(t, err, fs.ErrClosed)
}
