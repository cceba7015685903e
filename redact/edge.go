package redact

// An edge is what must stand before a keyword, or, as a set of bits, all that
// does.
type edge uint8

const (
	wordStart edge = 1 << iota
	schemeEnd      // an ASCII letter or digit
	digitEnd

	anywhere edge = 0
	allEdges      = wordStart | schemeEnd | digitEnd
)

// holds tells whether a keyword may begin where these edges are.
func (e edge) holds(here edge) bool { return here&e == e }

// A trail is the end of the text read, as far as edges depend on it.
type trail struct {
	bytes   uint64  // the last eight, the latest lowest, zeros where there are none
	escapes uint8   // bit n: the one n before the latest may begin an escape
	control control // the latest as a part of a control sequence
}

// follow adds c.
func (t trail) follow(c byte) trail {
	return trail{t.bytes<<8 | uint64(c), t.escapes<<1 | beginsEscape[c], t.control.follow(c)}
}

// edge is what is behind the trail.
func (t trail) edge() edge {
	if t.escapes == 0 && t.control < sequence {
		return edgeBehind[byte(t.bytes)]
	}
	return t.edgeOfEscape()
}

func (t trail) edgeOfEscape() edge {
	here := edgeBehind[byte(t.bytes)]
	if t.control >= sequence || escaped(t.bytes) {
		here |= wordStart
	}
	return here
}

// over adds text.
func (t trail) over(text string) trail {
	for _, c := range []byte(text) {
		t = t.follow(c)
	}
	return t
}

// trailStart is the place in text from which on its trail depends on it, or 0
// when that may depend on what is before.
func trailStart(text string) int {
	last := len(text) - 1
	for last > 0 && controls[text[last-1]].stays != 0 {
		last--
	}
	return max(0, last-7)
}

// edgeBehind is the edge behind each byte that is no part of an escape.
var edgeBehind = func() (behind [256]edge) {
	for i := range behind {
		switch c := byte(i); {
		case '0' <= c && c <= '9':
			behind[c] = schemeEnd | digitEnd
		case !wordByte(c):
			behind[c] = wordStart
		case c != '_':
			behind[c] = schemeEnd
		}
	}
	return behind
}()

var beginsEscape = [256]uint8{'\\': 1, '%': 1}

// escaped tells whether a text that ends with these bytes ends with the escape
// of one, in JSON (\n, \u003d) or in a URL (%3D).
func escaped(bytes uint64) bool {
	back := func(n uint) byte { return byte(bytes >> (8 * (n - 1))) }
	if back(2) == '\\' {
		return oneOf(back(1), "nrtbf")
	}
	switch hex := hexDigit(back(1)) && hexDigit(back(2)); {
	case hex && back(3) == '%':
		return true
	case hex && back(6) == '\\' && back(5) == 'u':
		return hexDigit(back(3)) && hexDigit(back(4))
	}
	return false
}

// A control is how much of a terminal's control sequence has been read, such as
// a colour's (ESC[1;31m), as a set of what it may be: each bit leads to the
// next. ESC stands as it is, or escaped (\x1b, \u001b, \033, \e).
type control uint8

const (
	halfEscape control = 1 << iota // the first of the two bytes that an escaped ESC ends with
	wholeEscape
	parameters
	sequence
)

func (s control) follow(c byte) control {
	by := &controls[c]
	return s<<1&by.next | s&by.stays | by.begins
}

// controls says what a byte is to a control sequence: which parts it may be
// behind the one before, which it goes on with, and which it begins.
var controls = func() (by [256]struct{ next, stays, begins control }) {
	for c := range by {
		if c := byte(c); wordByte(c) && c != '_' && (c < '0' || c > '9') {
			by[c].next = sequence
		}
	}
	for _, c := range []byte("0123456789;:") {
		by[c].stays = parameters
	}
	for _, c := range []byte("bB3e") {
		by[c].next |= wholeEscape
	}
	for _, c := range []byte(`13\`) {
		by[c].begins = halfEscape
	}
	by[0x1b].begins = wholeEscape
	by['['].next = parameters
	return by
}()

func oneOf(c byte, of string) bool {
	for i := range len(of) {
		if of[i] == c {
			return true
		}
	}
	return false
}

func hexDigit(c byte) bool {
	return '0' <= c && c <= '9' || 'A' <= c && c <= 'F' || 'a' <= c && c <= 'f'
}
