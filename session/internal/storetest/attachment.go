package storetest

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/session"
)

// Sum is the name by which data is attached.
func Sum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Attach attaches data to session id.
func Attach(t testing.TB, store session.Store, id string, data ...[]byte) {
	t.Helper()
	l, _ := Reopen(t, store, id)
	for _, d := range data {
		require.NoError(t, l.Attach(d))
	}
	require.NoError(t, l.Close())
}

func attaches(t *testing.T, store session.Store) {
	written := Fill(t, store, "s1", 1)
	Fill(t, store, "s2", 1)
	one, two, empty := []byte("\x89PNG\r\n\x1a\n one"), []byte(strings.Repeat("two\n", 100_000)), []byte{}
	Attach(t, store, "s1", one, two, one, empty)
	Attach(t, store, "s1", two)
	for _, data := range [][]byte{one, two, empty} {
		got, err := store.Attachment("s1", Sum(data))
		require.NoError(t, err)
		assert.Equal(t, data, got)
	}
	assert.Equal(t, written, Read(t, store, "s1"), "the log is as it was")

	got, err := store.Attachment("s1", Sum(one))
	require.NoError(t, err)
	clear(got)
	got, err = store.Attachment("s1", Sum(one))
	require.NoError(t, err)
	assert.Equal(t, one, got, "what was handed out is the caller's")
	for _, where := range [][2]string{
		{"s2", Sum(one)}, {"s3", Sum(one)}, {"s1", Sum([]byte("other"))}, {"s1", ""}, {"s1", "../s1.jsonl"}, {"s1", strings.ToUpper(Sum(one))}, {"../sessions", Sum(one)}, {"", Sum(one)},
	} {
		_, err := store.Attachment(where[0], where[1])
		assert.ErrorIs(t, err, session.ErrNotFound, "%q", where)
	}
}

func attachesWhileHeld(t *testing.T, store session.Store) {
	l, err := store.Create("s1", Header("s1"))
	require.NoError(t, err)
	data := []byte("data")
	require.NoError(t, l.Attach(data))
	copy(data, "DATA")
	got, err := store.Attachment("s1", Sum([]byte("data")))
	require.NoError(t, err, "reading takes nothing")
	assert.Equal(t, "data", string(got), "its bytes may be used again")
	require.NoError(t, l.Close())
	assert.ErrorIs(t, l.Attach([]byte("late")), fs.ErrClosed)
	_, err = store.Attachment("s1", Sum([]byte("late")))
	assert.ErrorIs(t, err, session.ErrNotFound)
}

func deletesAttachments(t *testing.T, store session.Store) {
	data := []byte("data")
	for _, id := range []string{"s1", "s1.5"} {
		Fill(t, store, id, 1)
		Attach(t, store, id, data)
	}
	require.NoError(t, store.Delete("s1"))
	_, err := store.Attachment("s1", Sum(data))
	assert.ErrorIs(t, err, session.ErrNotFound)
	_, err = store.Attachment("s1.5", Sum(data))
	assert.NoError(t, err, "another's are left alone")

	Fill(t, store, "s1", 1)
	_, err = store.Attachment("s1", Sum(data))
	assert.ErrorIs(t, err, session.ErrNotFound, "a new session of that id has none")
}

func prunesAttachments(t *testing.T, store session.Store) {
	data := []byte("data")
	Write(t, store, "old", HeaderAt("old", hours(0), ""), TurnAt(1, hours(1)))
	Write(t, store, "new", HeaderAt("new", hours(6), ""))
	Attach(t, store, "old", data)
	Attach(t, store, "new", data)
	deleted, err := store.Prune(hours(5))
	require.NoError(t, err)
	require.Equal(t, 1, deleted)
	_, err = store.Attachment("old", Sum(data))
	assert.ErrorIs(t, err, session.ErrNotFound)
	_, err = store.Attachment("new", Sum(data))
	assert.NoError(t, err)
}
