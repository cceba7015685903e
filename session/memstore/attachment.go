package memstore

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"

	"github.com/prism-rpc/prism-rpc/session"
)

// Attach implements session.Log.
func (l *log) Attach(data []byte) error {
	sum := sha256.Sum256(data)
	name := hex.EncodeToString(sum[:])
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	if err := l.openLocked(); err != nil {
		return err
	}
	if l.entry.attached == nil {
		l.entry.attached = map[string][]byte{}
	}
	if l.entry.attached[name] == nil {
		l.entry.attached[name] = append([]byte{}, data...)
	}
	return nil
}

// Attachment implements session.Store.
func (s *Store) Attachment(id, sha256 string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.findLocked(id)
	if err != nil {
		return nil, err
	}
	data := e.attached[sha256]
	if data == nil {
		return nil, session.ErrNotFound
	}
	return bytes.Clone(data), nil
}
