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
	seq     sequence.Sequence
	end     int64 // where the last good record ends; what follows is a torn tail
}

func newScan(id string, foreign bool) *scan {
	return &scan{foreign: foreign, limit: MaxRecordBytes + frameBytes, seq: sequence.New(id)}
}

// run hands each good record to replay, in order, up to the first line that is
// cut short or fails its checksum: nothing behind such a line is trusted. A
// record that is whole but may not stand where it stands is no such damage;
// the error is ErrCorrupt, or session.ErrForeign. With no whole line at all the
// log was never begun: session.ErrNotFound.
func (s *scan) run(r io.Reader, replay func(record []byte) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), s.limit)
	lines.Split(wholeLines)
	for lines.Scan() {
		size := len(lines.Bytes()) + 1
		record, ok := unseal(lines.Bytes())
		if !ok {
			return s.tail(lines.Bytes())
		}
		if err := s.take(record); err != nil {
			return err
		}
		if err := replay(record); err != nil {
			return err
		}
		s.end += int64(size)
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

func (s *scan) take(record []byte) error {
	next, err := s.seq.After(record)
	switch {
	case errors.Is(err, session.ErrForeign) && s.foreign:
		return nil
	case errors.Is(err, session.ErrForeign):
		return err
	case err != nil:
		return fmt.Errorf("%w: %v", ErrCorrupt, err) // %v: nobody lost a race for a turn
	}
	s.seq = next
	return nil
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
