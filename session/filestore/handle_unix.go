//go:build unix

package filestore

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// A handle is an open file as a bare descriptor: every open session has two,
// and an os.File with its name takes 150 bytes. Whoever owns a handle guards it
// with a mutex, and closes it: nothing else does. The zero handle is closed. A
// handle is used where it stands: a copy would not know that it was closed, and
// go on with whatever file has the number next.
type handle struct{ descriptor int32 }

// lowestDescriptor is past those of the standard streams, so that 0 is none.
const lowestDescriptor = 3

// adopt makes h a handle of f's file, and closes f, also after an error. A lock
// on f goes over to h: it belongs to the opening of the file.
func (h *handle) adopt(f *os.File) error {
	descriptor, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, lowestDescriptor)
	if err != nil {
		return errors.Join(os.NewSyscallError("fcntl", err), f.Close())
	}
	h.descriptor = int32(descriptor)
	if err := f.Close(); err != nil {
		return errors.Join(err, h.Close())
	}
	return nil
}

// use calls the system with h's descriptor until no signal interrupts it.
func (h *handle) use(call string, do func(descriptor int) error) error {
	if h.descriptor == 0 {
		return fs.ErrClosed
	}
	return os.NewSyscallError(call, retry(func() error { return do(int(h.descriptor)) }))
}

// ReadAt implements io.ReaderAt.
func (h *handle) ReadAt(b []byte, at int64) (n int, err error) {
	for n < len(b) {
		read := 0
		if err := h.use("pread", func(d int) (err error) { read, err = unix.Pread(d, b[n:], at+int64(n)); return err }); err != nil {
			return n, err
		}
		if read == 0 {
			return n, io.EOF
		}
		n += read
	}
	return n, nil
}

// WriteAt implements io.WriterAt.
func (h *handle) WriteAt(b []byte, at int64) (n int, err error) {
	for n < len(b) {
		written := 0
		if err := h.use("pwrite", func(d int) (err error) { written, err = unix.Pwrite(d, b[n:], at+int64(n)); return err }); err != nil {
			return n, err
		}
		if written == 0 {
			return n, io.ErrShortWrite
		}
		n += written
	}
	return n, nil
}

func (h *handle) Truncate(size int64) error {
	return h.use("ftruncate", func(d int) error { return unix.Ftruncate(d, size) })
}

// datasync makes the file's content durable, and of what describes it at least
// its size.
func (h *handle) datasync() error { return h.use("fdatasync", datasync) }

// Close closes the handle, whatever it returns.
func (h *handle) Close() error {
	if h.descriptor == 0 {
		return fs.ErrClosed
	}
	descriptor := int(h.descriptor)
	h.descriptor = 0
	err := unix.Close(descriptor)
	if errors.Is(err, unix.EINTR) {
		return nil // it is closed; once more could close another file
	}
	return os.NewSyscallError("close", err)
}
