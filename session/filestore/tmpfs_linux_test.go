package filestore_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/session/filestore"
	"github.com/prism-rpc/prism-rpc/session/internal/storetest"
)

// tmpfs is a small file system of its own, where this user may mount one.
func tmpfs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m,mode=700"); err != nil {
		t.Skip("no tmpfs can be mounted: ", err)
	}
	t.Cleanup(func() { assert.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	return dir
}

func TestFullFileSystemTakesNothingHalfAndGoesOn(t *testing.T) {
	dir := tmpfs(t)
	store, repairs := openRepairing(t, dir)
	storetest.Fill(t, store, "s1", 1)
	storetest.Attach(t, store, "s1", []byte("before"))
	l, records := storetest.Reopen(t, store, "s1")
	filler := filepath.Join(dir, "filler")
	assert.ErrorIs(t, os.WriteFile(filler, make([]byte, 2<<20), 0o600), syscall.ENOSPC)

	assert.ErrorIs(t, l.Commit(2, storetest.Turn(2, strings.Repeat("x", 10_000))), syscall.ENOSPC)
	assert.ErrorIs(t, l.Attach(make([]byte, 10_000)), syscall.ENOSPC)
	_, err := store.Create("s2", storetest.Header("s2"))
	assert.ErrorIs(t, err, syscall.ENOSPC)
	assert.Equal(t, records, storetest.Read(t, store, "s1"), "what is kept can be read")
	_, err = store.Attachment("s1", storetest.Sum([]byte("before")))
	assert.NoError(t, err)

	require.NoError(t, os.Remove(filler))
	assert.NoError(t, l.Commit(2, storetest.Turn(2, "there is room again")))
	assert.NoError(t, l.Attach(make([]byte, 10_000)))
	assert.NoError(t, l.Close())
	storetest.Fill(t, store, "s2", 1)
	assert.Len(t, storetest.Read(t, store, "s1"), len(records)+1)
	assert.Empty(t, *repairs)
}

func TestReadOnlyStoreIsReadAndSaysSo(t *testing.T) {
	dir := tmpfs(t)
	before := open(t, dir)
	written := storetest.Fill(t, before, "s1", 1)
	storetest.Attach(t, before, "s1", []byte("data"))
	assert.NoError(t, before.Writable())
	require.NoError(t, syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))

	store, err := filestore.Open(dir, filestore.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, store.Close()) })
	assert.ErrorIs(t, store.Writable(), syscall.EROFS)
	assert.Equal(t, written, storetest.Read(t, store, "s1"))
	_, err = store.Attachment("s1", storetest.Sum([]byte("data")))
	assert.NoError(t, err)
	assert.Len(t, list(t, store), 1, "without an index")
	_, err = store.Open("s1", storetest.Ignore)
	assert.ErrorIs(t, err, syscall.EROFS)
	_, err = store.Create("s2", storetest.Header("s2"))
	assert.ErrorIs(t, err, syscall.EROFS)
	assert.ErrorIs(t, store.Delete("s1"), syscall.EROFS)

	_, err = filestore.Open(filepath.Join(dir, "another"), filestore.Options{})
	assert.ErrorIs(t, err, syscall.EROFS, "and none is made there")
	require.NoError(t, syscall.Mount("", dir, "", syscall.MS_REMOUNT, fmt.Sprint("size=", 1<<20)))
	assert.NoError(t, store.Writable(), "it may be written again")
	assert.NoError(t, store.Delete("s1"))
}
