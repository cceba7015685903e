//go:build unix

package filestore

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestHandleIsNotInherited(t *testing.T) {
	var h handle
	require.NoError(t, h.adopt(newFile(t, "")))
	t.Cleanup(func() { assert.NoError(t, h.Close()) })
	flags, err := unix.FcntlInt(uintptr(h.descriptor), unix.F_GETFD, 0)
	require.NoError(t, err)
	assert.NotZero(t, flags&unix.FD_CLOEXEC)
}

// The lock goes over from the file to the handle, and ends with that.
func TestHandleKeepsTheLock(t *testing.T) {
	f := newFile(t, "")
	other, err := os.Open(f.Name())
	require.NoError(t, err)
	defer other.Close()
	require.NoError(t, lockFile(f))
	var h handle
	require.NoError(t, h.adopt(f))
	assert.ErrorIs(t, lockFile(other), errHeld)
	require.NoError(t, h.Close())
	assert.NoError(t, lockFile(other))
}

func TestFileThatCannotBeAdoptedIsClosed(t *testing.T) {
	f := newFile(t, "")
	require.NoError(t, f.Close())
	var h handle
	assert.Error(t, h.adopt(f))
	assert.ErrorIs(t, h.Close(), os.ErrClosed)
}
