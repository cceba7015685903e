package userfile

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

const openWithoutWaiting = 0

// ours leaves access to the folder's access list.
func ours(fs.FileInfo) bool { return true }

// fileNumber is not known without opening the file; its size and time must do.
func fileNumber(fs.FileInfo) uint64 { return 0 }

// lockFile takes the lock on f, or returns errHeld.
func lockFile(f *os.File) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return errHeld
	}
	return err
}

// syncFolder has nothing to do: NTFS journals a folder's entries itself.
func syncFolder(*os.Root) error { return nil }
