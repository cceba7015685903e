package filestore

import (
	"errors"
	"fmt"
	"io"

	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/internal/sequence"
)

// A place is how far a log has been read or written. It is a value: what could
// not be written is forgotten by keeping the earlier place.
type place struct {
	seq    sequence.Sequence
	end    int64 // where the last good record ends; 0: there is none yet
	sum    checksum
	header lineEnd // of the first line
}

type lineEnd struct {
	at  int64
	sum checksum
}

type checksum [sumDigits]byte

// behind is the place behind line, which is sealed and without its newline.
func (p place) behind(line []byte, seq sequence.Sequence) place {
	p.seq = seq
	p.end += int64(len(line)) + 1
	p.sum = checksum(line[len(line)-len(sumEnd)-sumDigits:])
	if p.header.at == 0 {
		p.header = lineEnd{p.end, p.sum}
	}
	return p
}

const markFormat = "%d %s %d %s %d %d"

func (p place) mark() session.Mark {
	if p.end == 0 {
		return ""
	}
	return session.Mark(fmt.Sprintf(markFormat, p.header.at, p.header.sum[:], p.end, p.sum[:], p.seq.Turn(), p.seq.Started()))
}

// parseMark is the place in the log of id that gave mark.
func parseMark(id string, mark session.Mark) (p place, ok bool) {
	if mark == "" {
		return place{seq: sequence.New(id)}, true
	}
	var header, last []byte
	var turn, started int
	if _, err := fmt.Sscanf(string(mark), markFormat, &p.header.at, &header, &p.end, &last, &turn, &started); err != nil {
		return p, false
	}
	copy(p.header.sum[:], header)
	copy(p.sum[:], last)
	p.seq = sequence.Resume(id, turn, started)
	return p, p.mark() == mark && p.header.at > 0 && p.end >= p.header.at && turn >= 0
}

// find is the place of mark in the log f of id. The log's first record and the
// one before the place must be those that stood there: a log that was made
// anew has another header, and one that was cut and went on has another record
// there, or none. The error is session.ErrRewritten.
func find(id string, mark session.Mark, f io.ReaderAt) (place, error) {
	p, ok := parseMark(id, mark)
	if !ok {
		return p, fmt.Errorf("%w: no mark of it", session.ErrRewritten)
	}
	if p.end == 0 {
		return p, nil
	}
	for _, end := range []lineEnd{p.header, {p.end, p.sum}} {
		same, err := end.standsIn(f)
		if err != nil {
			return p, fmt.Errorf("read session log: %w", err)
		}
		if !same {
			return p, session.ErrRewritten
		}
	}
	return p, nil
}

func (e lineEnd) standsIn(f io.ReaderAt) (bool, error) {
	want := string(e.sum[:]) + sumEnd + "\n"
	got := make([]byte, len(want))
	if e.at < int64(len(want)) {
		return false, nil
	}
	if _, err := f.ReadAt(got, e.at-int64(len(want))); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return string(got) == want, nil
}
