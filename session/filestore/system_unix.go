//go:build unix

package filestore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// openWithoutWaiting keeps a FIFO that takes a file's place from blocking the
// open. It changes nothing for files.
const openWithoutWaiting = unix.O_NONBLOCK

// private refuses what another user owns or may write.
func private(info fs.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("%w: %s belongs to another user", ErrUnsafe, info.Name())
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%w: %s may be written by others", ErrUnsafe, info.Name())
	}
	return nil
}

func linkCount(_ *os.File, info fs.FileInfo) (uint64, error) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, errors.ErrUnsupported
	}
	return uint64(st.Nlink), nil
}

// safeInfo is what open would say of the file that info was taken of.
func safeInfo(info fs.FileInfo) error {
	if err := regular(info); err != nil {
		return err
	}
	names, err := linkCount(nil, info)
	if err != nil {
		return err
	}
	return safeNamed(info, names)
}

// mayWrite tells whether this user may add to the folder at path.
func mayWrite(path string) error { return unix.Access(path, unix.W_OK) }

// fileNumber tells a file from another that takes its name later.
func fileNumber(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ino
	}
	return 0
}

// lockFile takes the lock on f, or returns errHeld. The lock ends with the
// last descriptor of this opening of f; os opens files close-on-exec, so that
// no child inherits one.
func lockFile(f *os.File) error {
	err := retry(func() error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) })
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errHeld
	}
	return err
}

// syncFolder makes the entries of the folder f durable, where its file system
// can do that at all.
func syncFolder(f *os.File) error {
	err := f.Sync()
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return nil
	}
	return err
}

func retry(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
