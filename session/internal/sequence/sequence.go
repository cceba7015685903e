// Package sequence says which records may follow each other in a session's
// log. Every store asks it before it writes, and a store that reads what
// others could have changed asks it again.
package sequence

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
)

// ErrRecord reports bytes that are no record, or none that may stand there.
var ErrRecord = errors.New("not a record of this log")

// A Sequence is a log so far. It is a value: After leaves it as it was, so
// that what could not be written is forgotten by not keeping the result.
type Sequence struct {
	id    string
	begun bool
	turn  int
}

// New is the empty log of session id.
func New(id string) Sequence { return Sequence{id: id} }

// Turn is the last committed turn; 0 before the first.
func (s Sequence) Turn() int { return s.turn }

// Begun tells whether the header has been seen.
func (s Sequence) Begun() bool { return s.begun }

// After is the log with record added. The header comes first and once, and
// names the session; turns rise by one. Errors: ErrRecord, session.ErrForeign
// for another version or an unknown type, session.ErrConflict for a turn that
// is not the next.
func (s Sequence) After(record []byte) (Sequence, error) {
	h, err := parseHead(record)
	if err != nil {
		return s, err
	}
	switch {
	case h.V != schema.LogFormat, !schema.KnownRecord(h.T):
		return s, session.ErrForeign
	case (h.T == schema.RecordSession) == s.begun:
		return s, fmt.Errorf("%w: the header comes first, and once", ErrRecord)
	case h.T == schema.RecordSession:
		return s.begin(record)
	case h.T != schema.RecordTurn:
		return s, nil
	case h.Turn != s.turn+1:
		return s, fmt.Errorf("%w: turn %d after %d", session.ErrConflict, h.Turn, s.turn)
	}
	s.turn = h.Turn
	return s, nil
}

// Commit is After for the record of that very turn.
func (s Sequence) Commit(turn int, record []byte) (Sequence, error) {
	if turn != s.turn+1 {
		return s, fmt.Errorf("%w: turn %d after %d", session.ErrConflict, turn, s.turn)
	}
	next, err := s.After(record)
	if err == nil && next.turn != turn {
		return s, fmt.Errorf("%w: not that of turn %d", ErrRecord, turn)
	}
	return next, err
}

func (s Sequence) begin(record []byte) (Sequence, error) {
	var header struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(record, &header, lenient); err != nil {
		return s, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	if header.ID != s.id {
		return s, fmt.Errorf("%w: the header names another session", ErrRecord)
	}
	s.begun = true
	return s, nil
}

// OneLine tells whether record is framed as a store needs it: an object, with
// no newline.
func OneLine(record []byte) bool {
	return len(record) > 2 && record[0] == '{' && record[len(record)-1] == '}' &&
		bytes.IndexByte(record, '\n') < 0
}
