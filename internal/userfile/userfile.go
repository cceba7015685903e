// Package userfile reads and replaces one small file of the user's that
// several processes share. It is never reached through a link of its own name,
// belongs to the user, and is always whole: a change is written beside it,
// made durable, and takes its name.
package userfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Errors of files that are refused. An Update that others kept from its turn
// until its context ended returns ErrBusy.
var (
	ErrUnsafe   = errors.New("is not the user's own regular file")
	ErrTooLarge = errors.New("is too large")
	ErrBusy     = errors.New("another process is changing it")
)

var errHeld = errors.New("lock is held")

const (
	fileMode   = 0o600
	folderMode = 0o700
	lockPause  = 10 * time.Millisecond // between two tries
)

// A File is the one at that path, which is absolute.
type File struct{ Path string }

// A Stamp is what is known of a file without reading it: a file with the same
// one holds the same. The zero Stamp is that of no file.
type Stamp struct {
	size   int64
	at     time.Time
	number uint64
}

// Fresh tells whether the file was changed so short a time before now that
// another change may leave the same stamp.
func (s Stamp) Fresh(now time.Time) bool { return now.Sub(s.at) < 2*time.Second }

// Stamp looks at the file. One that isn't there is no error.
func (f File) Stamp() (Stamp, error) {
	info, err := os.Lstat(f.Path)
	if err != nil {
		return Stamp{}, absent(err)
	}
	return Stamp{info.Size(), info.ModTime(), fileNumber(info)}, nil
}

// absent is err, unless it says that there is no file.
func absent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Read reads the file, nil when there is none, of at most max bytes. Errors:
// ErrUnsafe, ErrTooLarge, those of the system.
func (f File) Read(max int64) ([]byte, error) {
	dir, err := os.OpenRoot(filepath.Dir(f.Path))
	if err != nil {
		return nil, absent(err)
	}
	defer dir.Close()
	return read(dir, filepath.Base(f.Path), max)
}

func read(dir *os.Root, name string, max int64) ([]byte, error) {
	f, err := open(dir, name, os.O_RDONLY)
	if err != nil {
		return nil, absent(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, max+1))
	if err == nil && int64(len(data)) > max {
		return nil, fmt.Errorf("%w: it may have %d bytes", ErrTooLarge, max)
	}
	return data, err
}

// open opens a regular file of ours; what is none is not even opened.
func open(dir *os.Root, name string, flag int) (*os.File, error) {
	info, err := dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || !ours(info) {
		return nil, ErrUnsafe
	}
	f, err := dir.OpenFile(name, flag|openWithoutWaiting, 0)
	if err != nil {
		return nil, err
	}
	if opened, err := f.Stat(); err != nil || !os.SameFile(info, opened) {
		return nil, errors.Join(ErrUnsafe, err, f.Close())
	}
	return f, nil
}

// Update replaces the file by what change makes of it, durably, while nobody
// else can. Change gets nil when there is no file; nil from it leaves all as it
// is, and so does its error, which is returned. Of several processes one after
// another has its turn, until ctx ends. Errors: those of Read, ErrBusy.
func (f File) Update(ctx context.Context, max int64, change func(old []byte) ([]byte, error)) error {
	if err := os.MkdirAll(filepath.Dir(f.Path), folderMode); err != nil {
		return err
	}
	dir, err := os.OpenRoot(filepath.Dir(f.Path))
	if err != nil {
		return err
	}
	defer dir.Close()
	name := filepath.Base(f.Path)
	lock, err := take(ctx, dir, name+".lock")
	if err != nil {
		return err
	}
	defer lock.Close()
	old, err := read(dir, name, max)
	if err != nil {
		return err
	}
	data, err := change(old)
	if err != nil || data == nil {
		return err
	}
	return replace(dir, name, data)
}

// take waits for the lock, which ends when the file is closed.
func take(ctx context.Context, dir *os.Root, name string) (*os.File, error) {
	f, err := open(dir, name, os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		f, err = dir.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, fileMode)
		if errors.Is(err, fs.ErrExist) { // another process made it meanwhile
			f, err = open(dir, name, os.O_RDWR)
		}
	}
	if err != nil {
		return nil, err
	}
	for {
		err := lockFile(f)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, errHeld) {
			return nil, errors.Join(err, f.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ErrBusy, f.Close())
		case <-time.After(lockPause):
		}
	}
}

// replace lets data take the file's place; the lock is held.
func replace(dir *os.Root, name string, data []byte) error {
	temp := name + ".new"
	if err := absent(dir.Remove(temp)); err != nil { // of a process that was killed
		return err
	}
	f, err := dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = dir.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, absent(dir.Remove(temp)))
	}
	return syncFolder(dir)
}
