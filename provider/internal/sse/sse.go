// Package sse reads server-sent events, the framing in which model APIs stream
// their answers (the HTML standard, "9.2 Server-sent events").
package sse

import (
	"bytes"
	"errors"
	"io"
)

// ErrTooLong reports an event that is larger than the reader takes.
var ErrTooLong = errors.New("event is too long")

// An Event is one event of a stream. Data is valid until the next call.
type Event struct {
	Name string
	Data []byte
}

// A Reader splits a stream into events. It reads no further ahead than what
// its source hands over in one Read, so that an event is out as soon as its
// last byte is in. Lines end in LF, CRLF or CR; comments, ids and retry times
// are passed over.
type Reader struct {
	in     io.Reader
	max    int
	buf    []byte // buf[pos:] is not consumed; buf[pos:seen] holds no line end
	pos    int
	seen   int
	err    error // of in, kept until buf is used up
	begun  bool  // the first line was seen, and a byte order mark before it dropped
	skipLF bool  // the last line ended in CR: a LF right after it belongs to it
	data   []byte
	name   string
}

// NewReader reads events of at most max bytes of data from in.
func NewReader(in io.Reader, max int) *Reader {
	return &Reader{in: in, max: max, buf: make([]byte, 0, 4096)}
}

// Next returns the next event that has data. At the end of the stream it
// returns what stood there unfinished, and after that the source's error:
// io.EOF for a clean end. An event that the source's error cut is dropped.
func (r *Reader) Next() (Event, error) {
	r.data, r.name = r.data[:0], ""
	has := false
	for {
		line, err := r.line()
		switch {
		case err == io.EOF && has:
			return Event{r.name, r.data}, nil
		case err != nil:
			return Event{}, err
		case len(line) > 0:
			if err := r.field(line, &has); err != nil {
				return Event{}, err
			}
		case has:
			return Event{r.name, r.data}, nil
		default:
			r.name = ""
		}
	}
}

func (r *Reader) field(line []byte, has *bool) error {
	key, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(key) {
	case "event":
		r.name = string(value)
	case "data":
		if len(r.data)+1+len(value) > r.max {
			return ErrTooLong
		}
		if *has {
			r.data = append(r.data, '\n')
		}
		r.data = append(r.data, value...)
		*has = true
	}
	return nil
}

// line returns the next line without its end. The last one of a clean stream
// may have no end.
func (r *Reader) line() ([]byte, error) {
	for {
		if line, ok := r.buffered(); ok {
			return r.withoutMark(line), nil
		}
		if r.err != nil {
			return r.last()
		}
		// The slack is for a field's name and a line end of two bytes.
		if len(r.buf)-r.pos > r.max+len("data: \r\n") {
			return nil, ErrTooLong
		}
		r.fill()
	}
}

func (r *Reader) buffered() ([]byte, bool) {
	if r.skipLF && r.pos < len(r.buf) {
		if r.buf[r.pos] == '\n' {
			r.pos++
		}
		r.skipLF = false
	}
	r.seen = max(r.seen, r.pos)
	i := lineEnd(r.buf[r.seen:])
	if i < 0 {
		r.seen = len(r.buf)
		return nil, false
	}
	end := r.seen + i
	line := r.buf[r.pos:end]
	r.skipLF = r.buf[end] == '\r'
	r.pos, r.seen = end+1, end+1
	return line, true
}

func lineEnd(b []byte) int {
	lf := bytes.IndexByte(b, '\n')
	if lf >= 0 {
		b = b[:lf]
	}
	if cr := bytes.IndexByte(b, '\r'); cr >= 0 {
		return cr
	}
	return lf
}

func (r *Reader) last() ([]byte, error) {
	if r.pos == len(r.buf) || r.err != io.EOF {
		return nil, r.err
	}
	line := r.buf[r.pos:]
	r.pos = len(r.buf)
	return r.withoutMark(line), nil
}

func (r *Reader) withoutMark(line []byte) []byte {
	if r.begun {
		return line
	}
	r.begun = true
	return bytes.TrimPrefix(line, []byte("\xEF\xBB\xBF"))
}

// fill reads once, after making room: what is consumed is given up, and a full
// buffer doubles.
func (r *Reader) fill() {
	if r.pos > 0 {
		n := copy(r.buf, r.buf[r.pos:])
		r.buf, r.seen, r.pos = r.buf[:n], r.seen-r.pos, 0
	}
	if len(r.buf) == cap(r.buf) {
		r.buf = append(make([]byte, 0, 2*cap(r.buf)), r.buf...)
	}
	n, err := r.in.Read(r.buf[len(r.buf):cap(r.buf)])
	r.buf = r.buf[:len(r.buf)+n]
	r.err = err
}
