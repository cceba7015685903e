package wasm

import "fmt"

// A reader reads the binary format. The first fault stays, and after it every
// read gives zero.
type reader struct {
	b   []byte
	at  int
	err error
}

// fail keeps the first fault, with its place.
func (r *reader) fail(kind error, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s at byte %d", kind, fmt.Sprintf(format, args...), r.at)
	}
}

func (r *reader) left() int { return len(r.b) - r.at }

// more tells whether there is something to read and no fault.
func (r *reader) more() bool { return r.err == nil && r.left() > 0 }

func (r *reader) byte() byte {
	if r.err != nil || r.left() < 1 {
		r.fail(ErrMalformed, "the end")
		return 0
	}
	b := r.b[r.at]
	r.at++
	return b
}

// take gives the next n bytes, which it shares.
func (r *reader) take(n int) []byte {
	if r.err != nil || n < 0 || n > r.left() {
		r.fail(ErrMalformed, "the end")
		return nil
	}
	b := r.b[r.at : r.at+n : r.at+n]
	r.at += n
	return b
}

// u32 reads an unsigned LEB128 number of at most 32 bits.
func (r *reader) u32() uint32 {
	var n uint64
	for shift := 0; shift < 35; shift += 7 {
		b := r.byte()
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			if n > 1<<32-1 {
				break
			}
			return uint32(n)
		}
	}
	r.fail(ErrMalformed, "a number past 32 bits")
	return 0
}

// skipNumber passes over a LEB128 number of at most that many bytes.
func (r *reader) skipNumber(most int) {
	for range most {
		if r.byte() < 0x80 {
			return
		}
	}
	r.fail(ErrMalformed, "an endless number")
}

// count reads the length of a list, which most bounds.
func (r *reader) count(most int, of string) int {
	n := r.u32()
	if int64(n) > int64(most) {
		r.fail(ErrLimit, "%d %s, more than %d,", n, of, most)
		return 0
	}
	return int(n)
}

// part reads a size and gives a reader of that many bytes.
func (r *reader) part(most int, of string) *reader {
	n := r.u32()
	if int64(n) > int64(most) {
		r.fail(ErrLimit, "%s of %d bytes, more than %d,", of, n, most)
	}
	end := r.at + int(n)
	if r.take(int(n)) == nil && r.err != nil {
		return &reader{err: r.err}
	}
	return &reader{b: r.b[:end], at: end - int(n)}
}

// appendU32 appends n as unsigned LEB128.
func appendU32(b []byte, n uint32) []byte {
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}

// appendSized appends content behind its size.
func appendSized(b, content []byte) []byte {
	return append(appendU32(b, uint32(len(content))), content...)
}
