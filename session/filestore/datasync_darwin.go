package filestore

import (
	"errors"

	"golang.org/x/sys/unix"
)

// datasync also empties the drive's cache, which fsync doesn't here, where the
// file system can do that.
func datasync(descriptor int) error {
	_, err := unix.FcntlInt(uintptr(descriptor), unix.F_FULLFSYNC, 0)
	if errors.Is(err, unix.ENOTSUP) {
		return unix.Fsync(descriptor)
	}
	return err
}
