package memstore

import (
	"io/fs"

	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/internal/sequence"
)

// A log writes to an entry for as long as the entry holds it.
type log struct {
	store *Store // whose mutex guards entry
	entry *entry
}

// A rule gives the sequence after a record, or refuses it.
type rule func(sequence.Sequence, []byte) (sequence.Sequence, error)

// Append implements session.Log.
func (l *log) Append(record []byte) error {
	return l.add(record, sequence.Sequence.Append)
}

// Commit implements session.Log.
func (l *log) Commit(turn int, record []byte) error {
	return l.add(record, func(s sequence.Sequence, record []byte) (sequence.Sequence, error) {
		return s.Commit(turn, record)
	})
}

// Sync implements session.Log.
func (l *log) Sync() error {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	return l.openLocked()
}

// Mark implements session.Log.
func (l *log) Mark() session.Mark {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	return l.entry.mark()
}

// Close implements session.Log.
func (l *log) Close() error {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	if l.entry.held == l {
		l.entry.held = nil
	}
	return nil
}

func (l *log) add(record []byte, rule rule) error {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	if err := l.openLocked(); err != nil {
		return err
	}
	return l.entry.add(record, rule)
}

func (l *log) openLocked() error {
	if l.store.closed || l.entry.held != l {
		return fs.ErrClosed
	}
	return nil
}
