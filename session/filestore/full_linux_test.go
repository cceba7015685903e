package filestore_test

import (
	"errors"
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

// fillUp commits to session s1 until no file may grow, then what still fits.
func fillUp(store *filestore.Store) error {
	l, err := store.Open("s1", storetest.Ignore)
	if err != nil {
		return err
	}
	const room = 64 << 10
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: room, Max: room}); err != nil {
		return err
	}
	n := 1
	for ; err == nil; n++ {
		err = l.Commit(n, storetest.Turn(n, strings.Repeat("x", 10_000)))
	}
	n--
	if !errors.Is(err, syscall.EFBIG) {
		return fmt.Errorf("want no room, got %w", err)
	}
	if err := l.Append(storetest.Turn(n, strings.Repeat("x", 10_000))); !errors.Is(err, syscall.EFBIG) {
		return fmt.Errorf("want no room, got %w", err)
	}
	if err := l.Attach(make([]byte, 2*room)); !errors.Is(err, syscall.EFBIG) {
		return fmt.Errorf("want no room, got %w", err)
	}
	fmt.Println(n)
	return errors.Join(l.Commit(n, storetest.Turn(n, "small")), l.Close(), store.Close())
}

func TestFullDiskTakesNothingHalfAndGoesOn(t *testing.T) {
	dir := t.TempDir()
	store, repairs := openRepairing(t, dir)
	storetest.Fill(t, store, "s1", 0)
	c := play(t, "full", dir)
	assert.Equal(t, "7", c.line(t))
	require.NoError(t, c.Wait())

	l, records := storetest.Reopen(t, store, "s1")
	require.Len(t, records, 8)
	assert.Equal(t, storetest.Turn(7, "small"), records[7])
	assert.Empty(t, *repairs)
	left, err := os.ReadDir(filepath.Join(dir, "attachments", "s1"))
	require.NoError(t, err)
	assert.Empty(t, left, "nothing is attached by half")
	assert.NoError(t, l.Close())
}

// listWithoutRoom lists, twice, on a disk that takes no index.
func listWithoutRoom(store *filestore.Store) error {
	const room = 100
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: room, Max: room}); err != nil {
		return err
	}
	for range 2 {
		page, _, err := store.List("", 0, "")
		if err != nil {
			return err
		}
		fmt.Println(len(page))
	}
	return errors.Join(store.Delete("s0"), store.Close())
}

func TestFullDiskIsListed(t *testing.T) {
	dir := t.TempDir()
	store := open(t, dir)
	for i := range 20 {
		storetest.Fill(t, store, fmt.Sprintf("s%d", i), 1)
	}
	c := play(t, "packed", dir)
	assert.Equal(t, "20", c.line(t))
	assert.Equal(t, "20", c.line(t))
	require.NoError(t, c.Wait())
	assert.Len(t, list(t, store), 19)

	c = play(t, "packed", dir)
	assert.Equal(t, "19", c.line(t), "by an index that stands")
	assert.Equal(t, "19", c.line(t))
	require.NoError(t, c.Wait())
	assert.Len(t, files(t, dir), 19+1, "the logs, and the index: nothing unfinished")
}
