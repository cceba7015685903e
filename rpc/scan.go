package rpc

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// Why a frame is not JSON.
var (
	errSyntax = errors.New("a byte that can't stand there")
	errCut    = errors.New("an end before the value was complete")
)

// scanValue checks the JSON value at b[i:] and returns the index behind it, or
// the index of the fault. It looks at structure only: that the bytes are UTF-8
// is checked once, for the whole frame. Containers count in open while they
// last; nothing here recurses, so only the frame's size bounds their number.
func scanValue(b []byte, i int, open *nesting) (int, error) {
	floor := open.depth
	var whole bool
	var err error
	for {
		i, whole, err = scanStart(b, i, open)
		for whole && err == nil && open.depth > floor {
			i, whole, err = scanNext(b, i, open)
		}
		if whole || err != nil {
			return i, err
		}
	}
}

// scanStart takes a whole value if it is a scalar or an empty container. Of
// any other container it takes what stands before the first value inside.
func scanStart(b []byte, i int, open *nesting) (next int, whole bool, err error) {
	i = skipWS(b, i)
	if i >= len(b) {
		return i, false, errCut
	}
	bracket := b[i]
	if bracket != '{' && bracket != '[' {
		i, err = scanScalar(b, i)
		return i, true, err
	}
	open.push(bracket == '{')
	i = skipWS(b, i+1)
	if i < len(b) && b[i] == bracket+2 { // '}' is '{'+2, and ']' is '['+2
		open.pop()
		return i + 1, true, nil
	}
	if bracket == '{' {
		i, err = scanName(b, i)
	}
	return i, false, err
}

// scanNext goes on behind a value inside a container: over the comma and the
// next member's name, or over the bracket that makes the container whole.
func scanNext(b []byte, i int, open *nesting) (next int, whole bool, err error) {
	i = skipWS(b, i)
	if i >= len(b) {
		return i, false, errCut
	}
	object := open.inObject()
	switch {
	case b[i] == ',' && object:
		i, err = scanName(b, i+1)
		return i, false, err
	case b[i] == ',':
		return i + 1, false, nil
	case b[i] == '}' && object, b[i] == ']' && !object:
		open.pop()
		return i + 1, true, nil
	}
	return i, false, errSyntax
}

// scanName takes a member's name and its colon.
func scanName(b []byte, i int) (int, error) {
	i = skipWS(b, i)
	if i >= len(b) {
		return i, errCut
	}
	if b[i] != '"' {
		return i, errSyntax
	}
	i, err := scanString(b, i)
	if err != nil {
		return i, err
	}
	i = skipWS(b, i)
	if i >= len(b) {
		return i, errCut
	}
	if b[i] != ':' {
		return i, errSyntax
	}
	return i + 1, nil
}

func scanScalar(b []byte, i int) (int, error) {
	switch c := b[i]; {
	case c == '"':
		return scanString(b, i)
	case c == '-' || isDigit(c):
		return scanNumber(b, i)
	case c == 't':
		return scanWord(b, i, "true")
	case c == 'f':
		return scanWord(b, i, "false")
	case c == 'n':
		return scanWord(b, i, "null")
	}
	return i, errSyntax
}

func scanWord(b []byte, i int, word string) (int, error) {
	for k := range len(word) {
		if i+k >= len(b) {
			return len(b), errCut
		}
		if b[i+k] != word[k] {
			return i + k, errSyntax
		}
	}
	return i + len(word), nil
}

func scanNumber(b []byte, i int) (int, error) {
	if b[i] == '-' {
		i++
	}
	var err error
	if i < len(b) && b[i] == '0' { // no digit may follow a leading zero
		i++
	} else if i, err = scanDigits(b, i); err != nil {
		return i, err
	}
	if i < len(b) && b[i] == '.' {
		if i, err = scanDigits(b, i+1); err != nil {
			return i, err
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		return scanDigits(b, i)
	}
	return i, nil
}

func scanDigits(b []byte, i int) (int, error) {
	start := i
	for i < len(b) && isDigit(b[i]) {
		i++
	}
	switch {
	case i > start:
		return i, nil
	case i >= len(b):
		return i, errCut
	}
	return i, errSyntax
}

// scanString takes the string whose opening quote is b[i].
func scanString(b []byte, i int) (int, error) {
	i++
	for {
		i = plainRun(b, i)
		switch {
		case i >= len(b):
			return i, errCut
		case b[i] == '"':
			return i + 1, nil
		case b[i] != '\\':
			return i, errSyntax // a control character
		}
		var err error
		if i, err = scanEscape(b, i+1); err != nil {
			return i, err
		}
	}
}

// scanEscape takes what stands behind a backslash.
func scanEscape(b []byte, i int) (int, error) {
	if i >= len(b) {
		return i, errCut
	}
	switch b[i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 1, nil
	case 'u':
	default:
		return i, errSyntax
	}
	for k := i + 1; k <= i+4; k++ {
		if k >= len(b) {
			return k, errCut
		}
		if c := b[k] | 0x20; !isDigit(b[k]) && (c < 'a' || c > 'f') {
			return k, errSyntax
		}
	}
	return i + 5, nil
}

// plainRun returns the index of the first byte from i on that a JSON string
// can't hold as it is (quote, backslash, control character), or len(b).
func plainRun(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		if m := specials(binary.LittleEndian.Uint64(b[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	for i < len(b) && b[i] >= ' ' && b[i] != '"' && b[i] != '\\' {
		i++
	}
	return i
}

// specials marks the special bytes among eight by their high bits. The lowest
// mark is exact; those above it may be false, by the borrow.
func specials(w uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	quote := w ^ ones*'"'
	slash := w ^ ones*'\\'
	return ((quote-ones)&^quote | (slash-ones)&^slash | (w-ones*' ')&^w) & highs
}

func skipWS(b []byte, i int) int {
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	return i
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// nesting says which containers are open, with one bit for each: set for an
// object. Up to the usual limit it lives on the stack.
type nesting struct {
	depth   int
	deepest int
	near    [8]uint64
	far     []uint64 // from the 513th container on
}

func (n *nesting) push(object bool) {
	word, bit := n.word(n.depth), uint64(1)<<(n.depth%64)
	*word &^= bit
	if object {
		*word |= bit
	}
	n.depth++
	n.deepest = max(n.deepest, n.depth)
}

func (n *nesting) pop() { n.depth-- }

// inObject needs an open container.
func (n *nesting) inObject() bool {
	return *n.word(n.depth - 1)>>((n.depth-1)%64)&1 == 1
}

func (n *nesting) word(i int) *uint64 {
	i /= 64
	if i < len(n.near) {
		return &n.near[i]
	}
	i -= len(n.near)
	if i == len(n.far) {
		n.far = append(n.far, 0)
	}
	return &n.far[i]
}
