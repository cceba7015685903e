// Package memstore keeps sessions' logs in memory, for --store=memory and for
// tests. What it holds ends with the process; otherwise it behaves as
// filestore does.
package memstore

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/internal/sequence"
)

// A Store is a session.Store in memory.
type Store struct {
	mu     sync.Mutex
	logs   map[string]*entry
	closed bool
}

// An entry is what is kept of one session. Lines is only ever appended to, and
// a line never changes, so that readers need the lock to take the slice alone.
type entry struct {
	lines [][]byte
	seq   sequence.Sequence
	held  *log
	since string // when held was opened
}

// New is an empty store.
func New() *Store { return &Store{logs: map[string]*entry{}} }

// Create implements session.Store.
func (s *Store) Create(id string, header []byte) (session.Log, error) {
	if !schema.ValidSessionID(id) {
		return nil, fmt.Errorf("%w: no session id", sequence.ErrRecord)
	}
	e := &entry{seq: sequence.New(id)}
	if err := e.add(header, sequence.Sequence.After); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, fs.ErrClosed
	}
	if s.logs[id] != nil {
		return nil, session.ErrExists
	}
	s.logs[id] = e
	return s.takeLocked(e)
}

// Open implements session.Store.
func (s *Store) Open(id string, replay func([]byte) error) (session.Log, error) {
	l, lines, err := s.take(id)
	if err != nil {
		return nil, err
	}
	if err := each(lines, replay); err != nil {
		_ = l.Close() // which only lets go, and can't fail
		return nil, err
	}
	return l, nil
}

// Read implements session.Store.
func (s *Store) Read(id string, replay func([]byte) error) error {
	s.mu.Lock()
	e, err := s.findLocked(id)
	if err != nil {
		s.mu.Unlock()
		return err
	}
	lines := e.lines
	s.mu.Unlock()
	return each(lines, replay)
}

// Exists implements session.Store.
func (s *Store) Exists(id string) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false, fs.ErrClosed
	}
	return s.logs[id] != nil, nil
}

// Close implements session.Store: all sessions are gone.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed, s.logs = true, nil
	return nil
}

func (s *Store) take(id string) (*log, [][]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.findLocked(id)
	if err != nil {
		return nil, nil, err
	}
	l, err := s.takeLocked(e)
	return l, e.lines, err
}

func (s *Store) findLocked(id string) (*entry, error) {
	if s.closed {
		return nil, fs.ErrClosed
	}
	e := s.logs[id]
	if e == nil {
		return nil, session.ErrNotFound
	}
	return e, nil
}

func (s *Store) takeLocked(e *entry) (*log, error) {
	if e.held != nil {
		return nil, &session.LockedError{PID: os.Getpid(), Since: e.since}
	}
	e.held, e.since = &log{store: s, entry: e}, time.Now().UTC().Format("2006-01-02T15:04:05.000Z07:00")
	return e.held, nil
}

// add takes record in, if rule lets it follow.
func (e *entry) add(record []byte, rule rule) error {
	if !sequence.OneLine(record) {
		return fmt.Errorf("%w: not one line", sequence.ErrRecord)
	}
	seq, err := rule(e.seq, record)
	if err != nil {
		return err
	}
	e.seq, e.lines = seq, append(e.lines, bytes.Clone(record))
	return nil
}

// each hands replay copies: a stored line must not change, and a record must
// not outlive its call here when it doesn't in another store.
func each(lines [][]byte, replay func([]byte) error) error {
	var copied []byte
	for _, line := range lines {
		copied = append(copied[:0], line...)
		if err := replay(copied); err != nil {
			return err
		}
	}
	return nil
}
