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
	id      string
	begun   bool
	turn    int
	started int // the turn that was started and has not ended; 0: none
}

// New is the empty log of session id.
func New(id string) Sequence { return Sequence{id: id} }

// Resume is the log of session id that has been begun and whose Turn and
// Started are these.
func Resume(id string, turn, started int) Sequence {
	return Sequence{id: id, begun: true, turn: turn, started: started}
}

// Turn is the last committed turn; 0 before the first.
func (s Sequence) Turn() int { return s.turn }

// Started is the turn that was started and has not ended; 0 when there is none.
func (s Sequence) Started() int { return s.started }

// Begun tells whether the header has been seen.
func (s Sequence) Begun() bool { return s.begun }

// After is the log with record, as it was read. The header comes first and
// once, and names the session; turns rise by one; a compaction is of turns that
// stand before it; all else may stand anywhere.
// Errors: ErrRecord, session.ErrForeign for another version or an unknown
// type, session.ErrConflict for a turn that is not the next.
func (s Sequence) After(record []byte) (Sequence, error) {
	h, err := parseHead(record)
	if err != nil {
		return s, err
	}
	return s.after(h, record)
}

// Append is After for a record that is to be written: a piece of an answer
// belongs between its turn's start and end, and is ErrRecord elsewhere.
func (s Sequence) Append(record []byte) (Sequence, error) {
	h, err := parseHead(record)
	if err != nil {
		return s, err
	}
	next, err := s.after(h, record)
	if err == nil && h.T == schema.RecordPartial && (h.Turn == 0 || h.Turn != s.started) {
		return s, fmt.Errorf("%w: no turn %d is under way", ErrRecord, h.Turn)
	}
	return next, err
}

// Commit is Append for the record of that very turn.
func (s Sequence) Commit(turn int, record []byte) (Sequence, error) {
	if turn != s.turn+1 {
		return s, fmt.Errorf("%w: turn %d after %d", session.ErrConflict, turn, s.turn)
	}
	next, err := s.Append(record)
	if err == nil && next.turn != turn {
		return s, fmt.Errorf("%w: not that of turn %d", ErrRecord, turn)
	}
	return next, err
}

func (s Sequence) after(h head, record []byte) (Sequence, error) {
	switch {
	case h.V != schema.LogFormat, !schema.KnownRecord(h.T):
		return s, session.ErrForeign
	case (h.T == schema.RecordSession) == s.begun:
		return s, fmt.Errorf("%w: the header comes first, and once", ErrRecord)
	}
	switch h.T {
	case schema.RecordSession:
		return s.begin(record)
	case schema.RecordStarted:
		s.started = h.Turn
	case schema.RecordFailed:
		s.started = 0
	case schema.RecordTurn:
		if h.Turn != s.turn+1 {
			return s, fmt.Errorf("%w: turn %d after %d", session.ErrConflict, h.Turn, s.turn)
		}
		s.turn, s.started = h.Turn, 0
	case schema.RecordCompaction:
		if h.Turn < 1 || h.Turn > s.turn {
			return s, fmt.Errorf("%w: a summary up to turn %d of %d", ErrRecord, h.Turn, s.turn)
		}
	}
	return s, nil
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
