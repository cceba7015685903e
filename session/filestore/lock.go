package filestore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/prism-rpc/prism-rpc/session"
)

var (
	errHeld     = errors.New("locked by another process")
	errReplaced = errors.New("replaced while it was being opened")
)

// lockTries and lockPause bound the wait for a holder that has just locked the
// file and not yet written its name, or is just removing it.
const (
	lockTries = 50
	lockPause = time.Millisecond
)

// maxHolder bounds what is read of a lock file.
const maxHolder = 128

// A hold is one session taken for writing, until release. The system's lock on
// locks/<id>.lock excludes other processes and ends with this one, however
// that ends; Store.held excludes this one, also on file systems whose locks
// belong to the process.
type hold struct {
	store *Store
	id    string
	since int64 // Unix ms
	file  handle
	log   *log // once it is open; Store.mu guards it
}

// take takes session id. The error is a *session.LockedError when it is held.
func (s *Store) take(id string) (*hold, error) {
	h := &hold{store: s, id: id}
	return h, h.take()
}

func (h *hold) take() error {
	h.since = time.Now().UnixMilli()
	if err := h.store.reserve(h); err != nil {
		return err
	}
	if err := h.lock(); err != nil {
		h.store.forget(h)
		return err
	}
	return nil
}

func (h *hold) sinceText() string {
	return time.UnixMilli(h.since).UTC().Format("2006-01-02T15:04:05.000Z07:00")
}

func (h *hold) name() string { return h.id + ".lock" }

func (h *hold) lock() (err error) {
	for range lockTries {
		if err = h.try(); !passing(err) {
			return err
		}
		time.Sleep(lockPause)
	}
	if errors.Is(err, errHeld) {
		return &session.LockedError{} // by a process that doesn't say who it is
	}
	return fmt.Errorf("lock session: %w", err)
}

// passing tells whether err comes of two processes meeting at one lock file.
func passing(err error) bool {
	return errors.Is(err, errHeld) || errors.Is(err, errReplaced) ||
		errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist)
}

func (h *hold) try() error {
	f, err := h.open()
	if err != nil {
		return err
	}
	if err := h.lockAndSign(f); err != nil {
		return errors.Join(err, f.Close())
	}
	return h.file.adopt(f)
}

func (h *hold) open() (*os.File, error) {
	f, err := h.store.locks.open(h.name(), os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		return h.store.locks.create(h.name())
	}
	return f, err
}

// lockAndSign locks f and writes this process's name into it. A lock on a file
// that its last holder has meanwhile removed excludes nobody: errReplaced.
func (h *hold) lockAndSign(f *os.File) error {
	if err := lockFile(f); errors.Is(err, errHeld) {
		return readHolder(f)
	} else if err != nil {
		return fmt.Errorf("lock session: %w", err)
	}
	named, err := h.store.locks.Lstat(h.name())
	if err != nil {
		return err
	}
	if err := safeFile(f, named); err != nil {
		return err
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err = f.WriteAt(fmt.Appendf(nil, "%d %s\n", os.Getpid(), h.sinceText()), 0)
	return err
}

// readHolder is the LockedError that names f's holder, or errHeld when it
// hasn't written its name.
func readHolder(f *os.File) error {
	text := make([]byte, maxHolder)
	n, _ := f.ReadAt(text, 0) // what couldn't be read shows as a name that is missing
	var e session.LockedError
	if _, err := fmt.Sscanf(string(text[:n]), "%d %s\n", &e.PID, &e.Since); err != nil || e.PID <= 0 {
		return errHeld
	}
	if _, err := time.Parse(time.RFC3339, e.Since); err != nil {
		return errHeld
	}
	return &e
}

// release lets go of the session. The lock file goes first, while the lock
// still keeps others from taking it.
func (h *hold) release() error {
	defer h.store.forget(h)
	err := h.store.locks.Remove(h.name())
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrClosed) {
		err = nil
	}
	return errors.Join(err, h.file.Close())
}
