//go:build unix

package rpc

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// tryWriter returns a function that writes to dst what fits without waiting,
// or nil if dst is no file that the runtime polls. Without it each reply costs
// the switch to another goroutine.
func tryWriter(dst io.Writer) func([]byte) (int, error) {
	file, ok := dst.(*os.File)
	if !ok {
		return nil
	}
	raw, err := file.SyscallConn()
	if err != nil {
		return nil
	}
	nonblocking := false
	err = raw.Control(func(fd uintptr) {
		flags, err := unix.FcntlInt(fd, unix.F_GETFL, 0)
		nonblocking = err == nil && flags&unix.O_NONBLOCK != 0
	})
	if err != nil || !nonblocking {
		return nil
	}
	return func(b []byte) (n int, err error) {
		waitErr := raw.Write(func(fd uintptr) bool {
			n, err = writeSome(int(fd), b)
			return true // never wait here for room
		})
		return n, errors.Join(err, waitErr)
	}
}

func writeSome(fd int, b []byte) (written int, err error) {
	for written < len(b) {
		n, err := unix.Write(fd, b[written:])
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN):
			return written, nil
		case err != nil:
			return written, err
		default:
			written += n
		}
	}
	return written, nil
}
