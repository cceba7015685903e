package memstore

import (
	"io/fs"
	"os"
	"time"

	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/internal/listing"
)

// List implements session.Store.
func (s *Store) List(cursor string, limit int, cwd string) ([]schema.SessionInfo, string, error) {
	from, err := listing.ParseCursor(cursor)
	if err != nil {
		return nil, "", err
	}
	rows, err := s.rows()
	if err != nil {
		return nil, "", err
	}
	page, next := listing.Page(rows, from, limit, cwd)
	return page, next, nil
}

// rows are copies: logs go on while a list is sorted.
func (s *Store) rows() ([]*listing.Row, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, fs.ErrClosed
	}
	rows := make([]*listing.Row, 0, len(s.logs))
	for _, e := range s.logs {
		row := e.row
		rows = append(rows, &row)
	}
	return rows, nil
}

// Delete implements session.Store.
func (s *Store) Delete(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fs.ErrClosed
	}
	if e := s.logs[id]; e != nil && e.held != nil {
		return &session.LockedError{PID: os.Getpid(), Since: e.since}
	}
	delete(s.logs, id)
	return nil
}

// Prune implements session.Store.
func (s *Store) Prune(before time.Time) (deleted int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, fs.ErrClosed
	}
	for id, e := range s.logs {
		if e.held == nil && e.row.Touched < before.UnixMilli() {
			delete(s.logs, id)
			deleted++
		}
	}
	return deleted, nil
}
