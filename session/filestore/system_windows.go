package filestore

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

const openWithoutWaiting = 0

// lockOffset is where the locked byte is. Windows locks keep others from
// reading what they cover, so it lies far behind the holder's name.
const lockOffset = 1 << 30

// private leaves access to the folder's access list: below the user's profile
// it names that user and the system alone.
func private(fs.FileInfo) error { return nil }

func linkCount(f *os.File, _ fs.FileInfo) (uint64, error) {
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info); err != nil {
		return 0, err
	}
	return uint64(info.NumberOfLinks), nil
}

// safeInfo is what open would say of the file that info was taken of, but for
// its number of names, which only an open file tells.
func safeInfo(info fs.FileInfo) error {
	if err := regular(info); err != nil {
		return err
	}
	return private(info)
}

// mayWrite leaves it to the first write to find out.
func mayWrite(string) error { return nil }

// fileNumber is not known without opening the file; its size and time must do.
func fileNumber(fs.FileInfo) uint64 { return 0 }

// lockFile takes the lock on f, or returns errHeld. It ends when f is closed.
func lockFile(f *os.File) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{Offset: lockOffset})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return errHeld
	}
	return err
}

// syncFolder has nothing to do: NTFS journals a folder's entries itself.
func syncFolder(*os.File) error { return nil }
