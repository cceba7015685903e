package filestore

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/internal/storetest"
)

// openWithLock is a store whose session s1 has text in its lock file.
func openWithLock(t *testing.T, text string) (store *Store, path string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	store, err := Open(dir, Options{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, store.Close()) })
	storetest.Fill(t, store, "s1", 1)
	path = filepath.Join(dir, locksFolder, "s1.lock")
	require.NoError(t, os.WriteFile(path, []byte(text), fileMode))
	return store, path
}

func TestHolderThatDoesNotSayWhoItIs(t *testing.T) {
	for _, text := range []string{"", "\x00\x00", "-1 2026-01-02T03:04:05.000Z\n", "12\n", "12 today\n"} {
		store, path := openWithLock(t, text)
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		require.NoError(t, err)
		require.NoError(t, lockFile(f))

		_, err = store.Open("s1", storetest.Ignore)
		var locked *session.LockedError
		require.ErrorAs(t, err, &locked, "%q", text)
		assert.Zero(t, *locked)
		require.NoError(t, f.Close())
	}
}

func TestNewHolderLeavesNothingOfTheLastOnesName(t *testing.T) {
	store, path := openWithLock(t, strings.Repeat("1234567 2026-01-02T03:04:05.000Z\n", 10))
	l, _ := storetest.Reopen(t, store, "s1")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, 1, strings.Count(string(text), "\n"), "%q", text)
	assert.NoError(t, l.Close())
}

// Two processes open the lock file; the first locks it, works, and removes it.
// What the second then locks is no longer what a third one would.
func TestLockOnARemovedFileIsNone(t *testing.T) {
	store, path := openWithLock(t, "")
	second := &hold{store: store, id: "s1"}
	f, err := second.open()
	require.NoError(t, err)
	require.NoError(t, os.Remove(path))
	assert.ErrorIs(t, second.lockAndSign(f), os.ErrNotExist)
	require.NoError(t, f.Close())

	f, err = second.open()
	require.NoError(t, err)
	require.NoError(t, os.Rename(path, path+".old"))
	require.NoError(t, os.WriteFile(path, nil, fileMode))
	assert.ErrorIs(t, second.lockAndSign(f), errReplaced)
	require.NoError(t, f.Close())
}

// Some network file systems give a lock to the whole process: there the system
// would let the second of two openings pass.
func TestStoreItselfKnowsWhatItHolds(t *testing.T) {
	store, _ := openWithLock(t, "")
	first := &hold{store: store, id: "s1", since: 1767323045000}
	require.NoError(t, store.reserve(first))
	var locked *session.LockedError
	require.ErrorAs(t, store.reserve(&hold{store: store, id: "s1"}), &locked)
	assert.Equal(t, session.LockedError{PID: os.Getpid(), Since: "2026-01-02T03:04:05.000Z"}, *locked)
	store.forget(first)
	assert.NoError(t, store.reserve(first))
	store.forget(first)
}
