package rpc

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
)

const (
	readBuffer = 64 << 10
	keptBuffer = 4 << 20  // a larger buffer is given back after its message
	maxHeader  = 16 << 10 // bytes of all header lines of one frame
)

const contentLength = "content-length"

// frames cuts input into messages.
type frames struct {
	r       *bufio.Reader
	framing Framing
	max     int // bytes of one message
	decided func(Framing)

	long []byte // holds a frame that is larger than the reader's buffer
	lost bool   // among headers that were no headers: the next frame is not known
	end  error  // what reading ended with
}

func newFrames(r io.Reader, f Framing, max int, decided func(Framing)) *frames {
	return &frames{r: bufio.NewReaderSize(r, readBuffer), framing: f, max: max, decided: decided}
}

// next returns the bytes of one message, valid until it is called again. A
// *wireError is what a bad frame is answered with, and more may follow; any
// other error is the end of the input.
func (f *frames) next() ([]byte, error) {
	if cap(f.long) > keptBuffer {
		f.long = nil
	}
	if f.end != nil {
		return nil, f.end
	}
	if f.decided != nil {
		if err := f.decide(); err != nil {
			f.end = err
			return nil, err
		}
	}
	if f.framing == FramingHeaders {
		return f.headerFrame()
	}
	return f.lineFrame()
}

// decide looks at the first bytes of all: past a byte order mark and blanks,
// they show the framing.
func (f *frames) decide() error {
	first, err := f.r.Peek(1)
	if err != nil { // a terminal's end of input is told once: reading again would wait for more
		return err
	}
	if first[0] == 0xEF {
		if mark, _ := f.r.Peek(3); string(mark) == "\uFEFF" {
			f.discard(3)
		}
	}
	if err := f.skipBlank(); err != nil {
		return err
	}
	if first, err = f.r.Peek(1); err != nil {
		return err
	}
	if f.framing != FramingLines && f.framing != FramingHeaders {
		f.framing = FramingLines
		if first[0]|0x20 == 'c' {
			f.framing = FramingHeaders
		}
	}
	f.decided(f.framing)
	f.decided = nil
	return nil
}

func (f *frames) skipBlank() error {
	for {
		c, err := f.r.ReadByte()
		if err != nil {
			return err
		}
		if !isSpace(c) {
			return f.r.UnreadByte()
		}
	}
}

func (f *frames) lineFrame() ([]byte, error) {
	for {
		line, err := f.line(f.max)
		if err != nil || len(bytes.TrimSpace(line)) > 0 {
			return line, err
		}
	}
}

// line returns the next line without its end. Of one that is longer than max
// no more is kept than was read before that showed. A last line need not end.
func (f *frames) line(max int) ([]byte, error) {
	line, err := f.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line, err = f.longLine(line, max)
	}
	if err != nil {
		f.end = err
		if len(line) == 0 {
			return nil, err
		}
	}
	line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
	if len(line) > max {
		return nil, frameTooLarge(max)
	}
	return line, nil
}

// longLine goes on with a line that fills the reader's buffer. What it returns
// for a line that is too long is too long as well, but bounded.
func (f *frames) longLine(first []byte, max int) ([]byte, error) {
	f.long = append(f.long[:0], first...)
	for {
		part, err := f.r.ReadSlice('\n')
		if len(f.long) <= max+len("\r\n") {
			f.long = append(f.long, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return f.long, err
		}
	}
}

func (f *frames) headerFrame() ([]byte, error) {
	n, err := f.headers()
	if err != nil {
		return nil, err
	}
	if n > int64(f.max) {
		if _, err := io.CopyN(io.Discard, f.r, n); err != nil {
			f.end = inputEnd(err)
		}
		return nil, frameTooLarge(f.max)
	}
	body, err := f.body(int(n))
	if err != nil {
		f.end = inputEnd(err)
		return nil, parseError("the input ended inside a message", len(body), "")
	}
	return body, nil
}

// inputEnd takes an end inside a frame for what it is: an end.
func inputEnd(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return io.EOF
	}
	return err
}

// headers reads header lines up to and with the blank one and returns the
// length that they give. After lines that aren't headers it goes on at the
// next Content-Length, wherever in a line that stands.
func (f *frames) headers() (int64, error) {
	if f.lost {
		if err := f.find(contentLength + ":"); err != nil {
			f.end = err
			return 0, err
		}
		f.lost = false
	}
	length, room := int64(-1), maxHeader
	for {
		line, err := f.headerLine(room)
		if err != nil {
			return 0, err
		}
		text := bytes.TrimSpace(line)
		if len(text) == 0 && length < 0 {
			return 0, f.lose(errNoLength)
		}
		if len(text) > 0 {
			if length, err = headerLength(text, length); err != nil {
				return 0, f.lose(err)
			}
		}
		room -= len(line)
		f.discard(len(line))
		if len(text) == 0 {
			return length, nil
		}
	}
}

// headerLine returns the next line with its end, and leaves it in the buffer:
// if it is no header, a frame may begin inside it. Blank lines before the
// first header are dropped.
func (f *frames) headerLine(room int) ([]byte, error) {
	if room == maxHeader {
		if err := f.skipBlank(); err != nil {
			f.end = err
			return nil, err
		}
	}
	for size := 1; ; {
		window, err := f.r.Peek(max(size, f.r.Buffered()))
		end := bytes.IndexByte(window, '\n') + 1
		switch {
		case end > 0 && end <= room:
			return window[:end], nil
		case end > 0 || len(window) > room:
			f.lost = true
			return nil, pastLimit("header_too_large", "the headers have", maxHeader, "bytes")
		case err != nil:
			f.end = err
			return nil, parseError("the input ended inside the headers", len(window), "")
		}
		size = len(window) + 1
	}
}

// lose gives up the headers at hand. The next ones begin behind the byte that
// made them bad.
func (f *frames) lose(err error) error {
	f.lost = true
	f.discard(1)
	return parseError(err.Error(), 0, "send Content-Length: N, a blank line, and N bytes of JSON")
}

var (
	errNoHeader  = errors.New("a line that is no header")
	errNoLength  = errors.New("headers without Content-Length")
	errBadLength = errors.New("a bad Content-Length")
)

// headerLength returns the length that the line gives, or the one known so far
// if the line is another header.
func headerLength(line []byte, known int64) (int64, error) {
	name, value, ok := bytes.Cut(line, []byte(":"))
	if !ok || !isToken(name) {
		return 0, errNoHeader
	}
	if !bytes.EqualFold(name, []byte(contentLength)) {
		return known, nil
	}
	n, err := strconv.ParseUint(string(bytes.TrimSpace(value)), 10, 53)
	if err != nil || known >= 0 && int64(n) != known {
		return 0, errBadLength
	}
	return int64(n), nil
}

func isToken(name []byte) bool {
	return len(name) > 0 && bytes.IndexFunc(name, func(r rune) bool {
		return r != '-' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
	}) < 0
}

// find drops input up to the next text that equals want but for case.
func (f *frames) find(want string) error {
	for {
		window, err := f.r.Peek(f.r.Buffered())
		if err == nil && len(window) < len(want) {
			window, err = f.r.Peek(len(want))
		}
		if err != nil {
			return err
		}
		if at := indexFold(window, want); at >= 0 {
			f.discard(at)
			return nil
		}
		f.discard(len(window) - len(want) + 1)
	}
}

func indexFold(b []byte, want string) int {
	for i := 0; i+len(want) <= len(b); i++ {
		if bytes.EqualFold(b[i:i+len(want)], []byte(want)) {
			return i
		}
	}
	return -1
}

// body returns n bytes. Memory for them grows as they arrive, so a header
// alone takes none.
func (f *frames) body(n int) ([]byte, error) {
	if n <= f.r.Size() {
		body, err := f.r.Peek(n)
		f.discard(len(body))
		return body, err
	}
	f.long = f.long[:0]
	for len(f.long) < n {
		have := len(f.long)
		more := min(n-have, max(have, 1<<20))
		f.long = slices.Grow(f.long, more)[:have+more]
		if got, err := io.ReadFull(f.r, f.long[have:]); err != nil {
			return f.long[:have+got], err
		}
	}
	return f.long, nil
}

// discard drops n bytes that are buffered, which can't fail.
func (f *frames) discard(n int) {
	if _, err := f.r.Discard(n); err != nil {
		panic(err)
	}
}

func frameTooLarge(limit int) *wireError {
	return pastLimit("frame_too_large", "the message has", limit, "bytes")
}
