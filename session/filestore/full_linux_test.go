package filestore_test

import (
	"errors"
	"fmt"
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
	assert.NoError(t, l.Close())
}
