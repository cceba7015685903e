package filestore

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/internal/sequence"
)

// A scan reads the log of one session.
type scan struct {
	foreign bool // deliver records of other versions and unknown types too
	limit   int  // bytes of one line
	room    int  // bytes to begin reading with
	place        // how far it has come; what follows in the end is a torn tail
}

func newScan(from place, foreign bool) *scan {
	return &scan{foreign: foreign, limit: MaxRecordBytes + frameBytes, room: 64 << 10, place: from}
}

// run hands each good record of r, which stands behind the scan's place, to
// replay, in order, up to the first line that is cut short or fails its
// checksum: nothing behind such a line is trusted. A record that is whole but
// may not stand where it stands is no such damage; the error is ErrCorrupt, or
// session.ErrForeign. With no whole line at all the log was never begun:
// session.ErrNotFound.
func (s *scan) run(r io.Reader, replay func(record []byte) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, s.room), s.limit)
	lines.Split(wholeLines)
	for lines.Scan() {
		line := lines.Bytes()
		record, ok := unseal(line)
		if !ok {
			return s.tail(line)
		}
		seq, err := s.take(record)
		if err != nil {
			return err
		}
		next := s.behind(line, seq)
		if err := replay(record); err != nil {
			return err
		}
		s.place = next
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return s.tail(nil)
	case err != nil:
		return fmt.Errorf("read session log: %w", err)
	case s.end == 0:
		return session.ErrNotFound
	}
	return nil
}

// take is the sequence with record.
func (s *scan) take(record []byte) (sequence.Sequence, error) {
	next, err := s.seq.After(record)
	switch {
	case errors.Is(err, session.ErrForeign) && s.foreign:
		return s.seq, nil
	case errors.Is(err, session.ErrForeign):
		return s.seq, err
	case err != nil:
		return s.seq, fmt.Errorf("%w: %v", ErrCorrupt, err) // %v: nobody lost a race for a turn
	}
	return next, nil
}

// tail judges the first bad line. Behind a good record it begins the torn
// tail. As the first line it leaves no log to speak of, or one of a version
// that frames its records in another way.
func (s *scan) tail(line []byte) error {
	if s.end > 0 {
		return nil
	}
	var head schema.RecordHead
	if err := json.Unmarshal(line, &head, jsontext.AllowInvalidUTF8(true)); err == nil && head.V > schema.LogFormat {
		return session.ErrForeign
	}
	return fmt.Errorf("%w: its header is damaged", ErrCorrupt)
}

// wholeLines is a bufio.SplitFunc for lines that end in a newline; what stands
// behind the last one is never delivered.
func wholeLines(data []byte, _ bool) (advance int, token []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i], nil
	}
	return 0, nil, nil
}

// hasLine tells whether r holds a whole line. Without one a log was never
// begun: a crash cut its header short, and nothing was committed to it.
func hasLine(r io.Reader) (bool, error) {
	chunk := make([]byte, 4<<10)
	for {
		n, err := r.Read(chunk)
		switch {
		case bytes.IndexByte(chunk[:n], '\n') >= 0:
			return true, nil
		case err == io.EOF:
			return false, nil
		case err != nil:
			return false, fmt.Errorf("read session log: %w", err)
		}
	}
}
