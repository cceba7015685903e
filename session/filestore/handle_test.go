package filestore

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/internal/storetest"
)

func newFile(t *testing.T, text string) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	require.NoError(t, err)
	_, err = f.WriteString(text)
	require.NoError(t, err)
	return f
}

func TestHandleReadsAndWritesWhereItIsTold(t *testing.T) {
	f := newFile(t, "0123456789")
	var h handle
	require.NoError(t, h.adopt(f))
	t.Cleanup(func() { assert.NoError(t, h.Close()) })

	n, err := h.WriteAt([]byte("abc"), 8)
	require.NoError(t, err)
	assert.Equal(t, 3, n)
	require.NoError(t, h.Truncate(10))
	require.NoError(t, h.datasync())
	long := make([]byte, 20)
	n, err = h.ReadAt(long, 2)
	assert.ErrorIs(t, err, io.EOF)
	assert.Equal(t, "234567ab", string(long[:n]))
	_, err = h.ReadAt(long[:8], 2)
	assert.NoError(t, err, "all there is, and no more was asked for")

	large := bytes.Repeat([]byte("large "), 1<<20)
	_, err = h.WriteAt(large, 3)
	require.NoError(t, err)
	text, err := os.ReadFile(f.Name())
	require.NoError(t, err)
	assert.True(t, string(text) == "012"+string(large))
}

// What a closed handle once meant may be another file's by now.
func TestClosedHandleTouchesNoFile(t *testing.T) {
	var h handle
	require.NoError(t, h.adopt(newFile(t, "old")))
	require.NoError(t, h.Close())
	next := newFile(t, "next") // has the lowest number that is free
	defer next.Close()

	for call, err := range map[string]error{
		"close":    h.Close(),
		"truncate": h.Truncate(0),
		"sync":     h.datasync(),
		"write":    second(h.WriteAt([]byte("x"), 0)),
		"read":     second(h.ReadAt(make([]byte, 1), 0)),
	} {
		assert.ErrorIs(t, err, os.ErrClosed, call)
	}
	text, err := os.ReadFile(next.Name())
	require.NoError(t, err)
	assert.Equal(t, "next", string(text))
}

func second(_ int, err error) error { return err }

func TestErrorsOfALogNameIt(t *testing.T) {
	_, l, d, _ := onDisk(t)
	d.writes = 1
	err := l.Append(storetest.Started(2))
	assert.ErrorIs(t, err, errDisk)
	assert.Contains(t, err.Error(), "s1.jsonl")
}

func TestLogLeavesNothingOpen(t *testing.T) {
	const list = "/dev/fd"
	if _, err := os.ReadDir(list); err != nil {
		t.Skip("the system doesn't list what is open: ", err)
	}
	open := func() int {
		entries, err := os.ReadDir(list)
		require.NoError(t, err)
		return len(entries)
	}
	store, err := Open(filepath.Join(t.TempDir(), "store"), Options{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, store.Close()) })
	storetest.Fill(t, store, "warm", 1)
	before := open()

	storetest.Fill(t, store, "s1", 1)
	assert.Equal(t, before, open(), "closed")
	l, _ := storetest.Reopen(t, store, "s1")
	assert.Equal(t, before+2, open(), "the log and its lock")
	require.NoError(t, l.Close())
	assert.Equal(t, before, open(), "closed again")

	_, err = store.Create("s2", []byte("no record"))
	assert.Error(t, err)
	assert.Equal(t, before, open(), "not created")
	require.NoError(t, os.WriteFile(filepath.Join(store.dir, sessionsFolder, "s3.jsonl"), []byte("damaged\n"), fileMode))
	_, err = store.Open("s3", storetest.Ignore)
	assert.ErrorIs(t, err, ErrCorrupt)
	assert.Equal(t, before, open(), "not opened")
	other, err := Open(store.dir, Options{})
	require.NoError(t, err)
	l, _ = storetest.Reopen(t, other, "s1")
	held := open()
	_, err = store.Open("s1", storetest.Ignore)
	var locked *session.LockedError
	assert.ErrorAs(t, err, &locked)
	assert.Equal(t, held, open(), "held elsewhere")
	require.NoError(t, l.Close())
	require.NoError(t, other.Close())
	require.NoError(t, store.Delete("s1"))
	assert.Equal(t, before, open(), "deleted")
}
