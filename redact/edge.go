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

// A trail is the end of the text read, as far as edges depend on it: the last
// byte, and those from where an escape may have begun.
type trail struct {
	bytes   uint64 // the latest lowest, at most eight
	escapes uint8  // bit n: the one n before the latest may begin an escape
	control control
}

// trailOf is the trail of a text with nothing before c that it depends on.
func trailOf(c byte) trail { return trail{bytes: uint64(c), escapes: beginsEscape[c]} }

// follow adds c.
func (t trail) follow(c byte) trail {
	if t.plain() {
		return trailOf(c)
	}
	return trail{t.bytes<<8 | uint64(c), t.escapes<<1 | beginsEscape[c], t.controlWith(c)}
}

// plain tells whether no escape may be under way, nor has just ended.
func (t trail) plain() bool { return t.escapes == 0 && t.control == noControl }

// edge is what is behind the trail.
func (t trail) edge() edge {
	if t.plain() {
		return edgeBehind[byte(t.bytes)]
	}
	return t.edgeOfEscape()
}

func (t trail) edgeOfEscape() edge {
	here := edgeBehind[byte(t.bytes)]
	if t.control == wholeControl || escaped(t.bytes) {
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
	for last > 0 && parameter(text[last-1]) {
		last--
	}
	return max(0, last-9) // and "[", and eight more
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

var beginsEscape = [256]uint8{'\\': 1, '%': 1, 0x1b: 1}

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

// A control says how much of a terminal's control sequence, such as a colour's
// (ESC[1;31m), a trail ends with.
type control uint8

const (
	noControl control = iota
	openControl
	wholeControl
)

// controlWith is the control of t with c.
func (t trail) controlWith(c byte) control {
	switch {
	case c == '[' && t.endsWithESC():
		return openControl
	case t.control != openControl:
		return noControl
	case parameter(c):
		return openControl
	case wordByte(c):
		return wholeControl
	}
	return noControl
}

func parameter(c byte) bool { return '0' <= c && c <= ';' }

// endsWithESC tells whether it ends with ESC, as it is or escaped (\x1b, \u001b,
// \033, \e, %1B).
func (t trail) endsWithESC() bool {
	switch uint16(t.bytes) {
	case '1'<<8 | 'b', '1'<<8 | 'B', '3'<<8 | '3', '\\'<<8 | 'e':
		return t.escapes != 0
	}
	return byte(t.bytes) == 0x1b
}

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
