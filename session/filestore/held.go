package filestore

import (
	"errors"
	"io/fs"
	"os"

	"github.com/prism-rpc/prism-rpc/session"
)

// reserve enters h among the sessions that this store holds.
func (s *Store) reserve(h *hold) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fs.ErrClosed
	}
	if other := s.held[h.id]; other != nil {
		return &session.LockedError{PID: os.Getpid(), Since: other.sinceText()}
	}
	s.held[h.id] = h
	return nil
}

func (s *Store) forget(h *hold) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.held, h.id)
}

// keepOpen notes l for Close, or closes it when that has come first.
func (s *Store) keepOpen(l *log) (session.Log, error) {
	s.mu.Lock()
	closed := s.closed
	if !closed {
		l.hold.log = l
	}
	s.mu.Unlock()
	if closed {
		return nil, errors.Join(fs.ErrClosed, l.Close())
	}
	return l, nil
}

// stop lets nothing more be taken, and returns the logs that are open.
func (s *Store) stop() []*log {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	var open []*log
	for _, h := range s.held {
		if h.log != nil {
			open = append(open, h.log)
		}
	}
	return open
}

// syncFolders makes the names of the logs durable and, the first time, the
// folders they are in.
func (s *Store) syncFolders() error {
	if err := s.sessions.sync(); err != nil {
		return err
	}
	s.mu.Lock()
	paths := s.unsynced
	s.mu.Unlock()
	for _, path := range paths {
		if err := syncPath(path); err != nil {
			return err
		}
	}
	s.mu.Lock()
	s.unsynced = nil
	s.mu.Unlock()
	return nil
}
