package filestore

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/internal/sequence"
	"github.com/prism-rpc/prism-rpc/session/internal/storetest"
)

var errDisk = errors.New("disk on fire")

// A disk is a log's file that fails on demand. What it wrote since the last
// good sync is gone from "the medium" once a sync fails, as on Linux.
type disk struct {
	file
	writes, syncs, truncates int // how many of the next ones fail
	half                     bool
	rewritten                []int64
}

func (d *disk) WriteAt(b []byte, at int64) (int, error) {
	d.rewritten = append(d.rewritten, at)
	if d.writes == 0 {
		return d.file.WriteAt(b, at)
	}
	d.writes--
	if !d.half {
		return 0, errDisk
	}
	n, err := d.file.WriteAt(b[:len(b)/2], at)
	return n, errors.Join(errDisk, err)
}

func (d *disk) datasync() error {
	if d.syncs == 0 {
		return d.file.datasync()
	}
	d.syncs--
	return errDisk
}

func (d *disk) Truncate(size int64) error {
	if d.truncates == 0 {
		return d.file.Truncate(size)
	}
	d.truncates--
	return errDisk
}

// onDisk is a store with session s1 of one turn, whose open log writes to d.
func onDisk(t *testing.T) (store *Store, l session.Log, d *disk, records [][]byte) {
	t.Helper()
	store, err := Open(filepath.Join(t.TempDir(), "store"), Options{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, store.Close()) })
	records = storetest.Fill(t, store, "s1", 1)
	l, _ = storetest.Reopen(t, store, "s1")
	d = &disk{file: l.(*log).file}
	l.(*log).file = d
	return store, l, d, records
}

func TestFailedWriteLeavesNothingAndTheLogGoesOn(t *testing.T) {
	for _, c := range []struct {
		claim string
		fail  disk
	}{
		{"nothing was written", disk{writes: 1}},
		{"half was written", disk{writes: 1, half: true}},
		{"half was written and could not be cut", disk{writes: 1, half: true, truncates: 1}},
		{"the sync failed", disk{syncs: 1}},
		{"the sync failed and the record could not be cut", disk{syncs: 1, truncates: 1}},
	} {
		t.Run(c.claim, func(t *testing.T) {
			store, l, d, records := onDisk(t)
			c.fail.file = d.file
			*d = c.fail

			long := storetest.Turn(2, strings.Repeat("lost ", 1000))
			assert.ErrorIs(t, l.Commit(2, long), errDisk)
			won := storetest.Turn(2, "won")
			require.NoError(t, l.Commit(2, won))
			require.NoError(t, l.Close())
			assert.Equal(t, append(records, won), storetest.Read(t, store, "s1"))
		})
	}
}

func TestDiskThatStaysBrokenIsNotWrittenBehindRaggedBytes(t *testing.T) {
	store, l, d, records := onDisk(t)
	d.writes, d.half, d.truncates = 1, true, 2
	assert.ErrorIs(t, l.Append(storetest.Started(2)), errDisk)
	assert.ErrorIs(t, l.Append(storetest.Started(2)), errDisk, "the cut fails again")
	require.NoError(t, l.Close())

	l, replayed := storetest.Reopen(t, store, "s1")
	assert.Equal(t, records, replayed)
	assert.NoError(t, l.Close())
}

// After a failed sync the kernel takes what stood unsynced for clean. A later
// commit must not become durable behind a hole.
func TestFailedSyncIsFollowedByWritingAgain(t *testing.T) {
	store, l, d, records := onDisk(t)
	one, two := storetest.Turn(2, "two"), storetest.Turn(3, "three")
	require.NoError(t, l.Commit(2, one))
	started := storetest.Started(3)
	unsyncedFrom := l.(*log).end
	require.NoError(t, l.Append(started))

	d.syncs = 1
	assert.ErrorIs(t, l.Commit(3, two), errDisk)
	d.rewritten = nil
	require.NoError(t, l.Commit(3, two))
	assert.Contains(t, d.rewritten, unsyncedFrom)
	require.NoError(t, l.Close())
	assert.Equal(t, append(records, one, started, two), storetest.Read(t, store, "s1"))
}

func TestFolderThatCannotBeSyncedCommitsNothing(t *testing.T) {
	store, err := Open(filepath.Join(t.TempDir(), "store"), Options{})
	require.NoError(t, err)
	l, err := store.Create("s1", storetest.Header("s1"))
	require.NoError(t, err)
	store.unsynced = []string{filepath.Join(t.TempDir(), "gone")}
	assert.ErrorIs(t, l.Commit(1, storetest.Turn(1, "")), os.ErrNotExist)
	assert.Equal(t, [][]byte{storetest.Header("s1")}, storetest.Read(t, store, "s1"))
	store.unsynced = nil
	assert.NoError(t, l.Commit(1, storetest.Turn(1, "")))
	require.NoError(t, l.Close())
	assert.NoError(t, store.Close())
}

func TestFirstCommitSyncsFolders(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "a", "b")
	store, err := Open(dir, Options{})
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{parent, filepath.Join(parent, "a"), dir}, store.unsynced)
	storetest.Fill(t, store, "s1", 1)
	assert.Empty(t, store.unsynced)
	require.NoError(t, store.Close())
}

func TestFailedHeaderLeavesNoSession(t *testing.T) {
	store, err := Open(filepath.Join(t.TempDir(), "store"), Options{})
	require.NoError(t, err)
	_, err = store.Create("s1", []byte("{\"v\":1,\"t\":\"session\",\n\"id\":\"s1\"}"))
	assert.Error(t, err)
	_, err = store.sessions.Lstat("s1.jsonl")
	assert.ErrorIs(t, err, os.ErrNotExist)
	_, err = store.locks.Lstat("s1.lock")
	assert.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, store.Close())
}

func TestRecordsAreBounded(t *testing.T) {
	t.Run("a log takes none over the limit", func(t *testing.T) {
		store, l, _, records := onDisk(t)
		huge := make([]byte, MaxRecordBytes+1)
		copy(huge, `{"v":1,"t":"started","x":"`)
		copy(huge[len(huge)-2:], `"}`)
		assert.ErrorIs(t, l.Append(huge), ErrTooLarge)
		assert.Equal(t, records, storetest.Read(t, store, "s1"))
		require.NoError(t, l.Close())
	})
	record := string(storetest.Started(1))
	header := string(seal(storetest.Header("s1")))
	read := func(limit int, text string) (seen int, s *scan, err error) {
		s = newScan(place{seq: sequence.New("s1")}, false)
		s.limit = limit
		err = s.run(strings.NewReader(text), func([]byte) error { seen++; return nil })
		return seen, s, err
	}
	t.Run("a line of the limit is read", func(t *testing.T) {
		line := string(seal([]byte(record[:len(record)-1] + `,"x":"` + strings.Repeat("x", 200<<10) + `"}`)))
		seen, s, err := read(len(line), header+line+header)
		assert.ErrorIs(t, err, ErrCorrupt, "the second header")
		assert.Equal(t, 2, seen)
		assert.Equal(t, int64(len(header+line)), s.end)
	})
	t.Run("a longer line begins the tail", func(t *testing.T) {
		seen, s, err := read(80<<10, header+strings.Repeat("x", 200<<10)+"\n")
		assert.NoError(t, err)
		assert.Equal(t, 1, seen)
		assert.Equal(t, int64(len(header)), s.end)
	})
	t.Run("a longer first line is no log", func(t *testing.T) {
		_, _, err := read(80<<10, strings.Repeat("x", 200<<10)+"\n")
		assert.ErrorIs(t, err, ErrCorrupt)
	})
}

// An error of the disk must not be taken for the end of the log, behind which
// all would be cut.
func TestReadErrorIsNoTornTail(t *testing.T) {
	s := newScan(place{seq: sequence.New("s1")}, false)
	err := s.run(&failing{text: string(seal(storetest.Header("s1")))}, storetest.Ignore)
	assert.ErrorIs(t, err, errDisk)
}

type failing struct{ text string }

func (f *failing) Read(b []byte) (int, error) {
	if f.text == "" {
		return 0, errDisk
	}
	n := copy(b, f.text)
	f.text = f.text[n:]
	return n, nil
}
