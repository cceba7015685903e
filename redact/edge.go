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
	bytes   uint64 // the last eight, the latest lowest, zeros where there are none
	escapes uint8  // bit n: the one n before the latest may begin an escape
}

// follow adds c.
func (t trail) follow(c byte) trail {
	return trail{t.bytes<<8 | uint64(c), t.escapes<<1 | beginsEscape[c]}
}

// edge is what is behind the trail.
func (t trail) edge() edge {
	if t.escapes == 0 {
		return edgeBehind[byte(t.bytes)]
	}
	return edgeOf(t.bytes)
}

// trailOf is the trail of a whole text.
func trailOf(text string) (t trail) {
	for _, c := range []byte(text[max(0, len(text)-8):]) {
		t = t.follow(c)
	}
	return t
}

// edgeOf is what is behind a text that ends with these bytes.
func edgeOf(bytes uint64) edge {
	here := edgeBehind[byte(bytes)]
	if escaped(bytes) || coloured(bytes) {
		here |= wordStart
	}
	return here
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

// coloured tells whether it ends with a terminal's colour code (ESC[1;31m).
func coloured(bytes uint64) bool {
	if byte(bytes) != 'm' {
		return false
	}
	for n := uint(1); n < 7; n++ {
		switch c := byte(bytes >> (8 * n)); {
		case c == '[':
			return byte(bytes>>(8*(n+1))) == 0x1b
		case c != ';' && (c < '0' || c > '9'):
			return false
		}
	}
	return false
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
