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
	"github.com/prism-rpc/prism-rpc/session/internal/listing"
	"github.com/prism-rpc/prism-rpc/session/internal/sequence"
)

// A Store is a session.Store in memory.
type Store struct {
	mu     sync.Mutex
	logs   map[string]*entry
	made   int // sessions, ever
	closed bool
}

// An entry is what is kept of one session. Lines is only ever appended to, and
// a line never changes, so that readers need the lock to take the slice alone.
type entry struct {
	lines [][]byte
	seq   sequence.Sequence
	row   listing.Row
	made  int // as the how manyth session
	held  *log
	since string // when held was opened

	attached map[string][]byte // by its SHA-256; never changed
}

// New is an empty store.
func New() *Store { return &Store{logs: map[string]*entry{}} }

// Create implements session.Store.
func (s *Store) Create(id string, header []byte) (session.Log, error) {
	if !schema.ValidSessionID(id) {
		return nil, fmt.Errorf("%w: no session id", sequence.ErrRecord)
	}
	e := &entry{seq: sequence.New(id), row: listing.Row{ID: id}}
	if err := e.add(header, sequence.Sequence.Append); err != nil {
		return nil, err
	}
	if e.row.Updated == 0 {
		e.row.AtLeast(time.Now())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, fs.ErrClosed
	}
	if s.logs[id] != nil {
		return nil, session.ErrExists
	}
	s.made++
	e.made = s.made
	s.logs[id] = e
	return s.takeLocked(e)
}

// Open implements session.Store.
func (s *Store) Open(id string, replay func([]byte) error) (session.Log, error) {
	return s.OpenFrom(id, "", replay)
}

// OpenFrom implements session.Store.
func (s *Store) OpenFrom(id string, from session.Mark, replay func([]byte) error) (session.Log, error) {
	l, lines, err := s.take(id, from)
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
	_, err := s.ReadFrom(id, "", replay)
	return err
}

// ReadFrom implements session.Store.
func (s *Store) ReadFrom(id string, from session.Mark, replay func([]byte) error) (session.Mark, error) {
	lines, end, err := s.behind(id, from)
	if err != nil {
		return "", err
	}
	return end, each(lines, replay)
}

func (s *Store) behind(id string, from session.Mark) (lines [][]byte, end session.Mark, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.findLocked(id)
	if err != nil {
		return nil, "", err
	}
	lines, err = e.behind(from)
	return lines, e.mark(), err
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

func (s *Store) take(id string, from session.Mark) (*log, [][]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.findLocked(id)
	if err != nil {
		return nil, nil, err
	}
	lines, err := e.behind(from)
	if err != nil {
		return nil, nil, err
	}
	l, err := s.takeLocked(e)
	return l, lines, err
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
	return e.row.Add(record)
}

const markFormat = "%d %d"

// mark is the end of the log, and of which one of its name.
func (e *entry) mark() session.Mark { return e.markAt(len(e.lines)) }

func (e *entry) markAt(lines int) session.Mark {
	return session.Mark(fmt.Sprintf(markFormat, e.made, lines))
}

// behind are the lines behind a mark.
func (e *entry) behind(from session.Mark) ([][]byte, error) {
	if from == "" {
		return e.lines, nil
	}
	var made, lines int
	_, err := fmt.Sscanf(string(from), markFormat, &made, &lines)
	if err != nil || lines < 0 || lines > len(e.lines) || e.markAt(lines) != from {
		return nil, session.ErrRewritten
	}
	return e.lines[lines:], nil
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
