//go:build unix

package bundle

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// noWait keeps the opening of a pipe from waiting for its other end, and that
// of a terminal from becoming ours.
const noWait = unix.O_NONBLOCK | unix.O_NOCTTY

// names counts the names that a file has.
func names(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}
