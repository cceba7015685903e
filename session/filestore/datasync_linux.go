package filestore

import (
	"os"

	"golang.org/x/sys/unix"
)

// datasync makes f's content durable, and of what describes it only its size.
func datasync(f *os.File) error {
	return retry(func() error { return unix.Fdatasync(int(f.Fd())) })
}
