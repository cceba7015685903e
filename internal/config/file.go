package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Errors of files that are refused before they are read to their end.
var (
	ErrNotRegular = errors.New("is no regular file")
	ErrTooLarge   = errors.New("is too large")
)

// OpenFile opens a regular file for reading. Anything else is refused without
// being waited for: the error is ErrNotRegular for a folder, a device, a pipe.
func OpenFile(path string) (*os.File, error) {
	// Before opening too: to open a device can do something.
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, ErrNotRegular
	}
	return opened(os.OpenFile(path, os.O_RDONLY|noWait, 0))
}

// OpenAppend opens a regular file to write at its end, and makes it, for its
// user alone, where it is missing. The null device stands for "nowhere". For
// all else the error is ErrNotRegular.
func OpenAppend(path string) (*os.File, error) {
	const flags = os.O_APPEND | os.O_CREATE | os.O_WRONLY
	if path == os.DevNull {
		return os.OpenFile(path, flags, 0)
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, ErrNotRegular
	}
	return opened(os.OpenFile(path, flags|noWait, 0o600))
}

// opened is f if it is a regular file.
func opened(f *os.File, err error) (*os.File, error) {
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = ErrNotRegular
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// ReadFile reads a regular file of at most max bytes. The errors are
// ErrNotRegular, ErrTooLarge and those of the system.
func ReadFile(path string, max int64) ([]byte, error) {
	f, err := OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, max+1))
	if err == nil && int64(len(data)) > max {
		return nil, fmt.Errorf("%w: it may have %d bytes", ErrTooLarge, max)
	}
	return data, err
}

// Reason is why a file could not be read, without its path.
func Reason(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err.Error()
	}
	return err.Error()
}
