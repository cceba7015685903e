package upstream

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A Text joins the JSON strings of a stream and gives their text back in
// pieces that are valid UTF-8. Servers cut strings by bytes or by UTF-16
// units, so that half a character can end one string and its other half begin
// the next: such a half is held back. What never becomes a character is U+FFFD.
type Text struct {
	held []byte // less than one character
}

// Add takes one JSON string with its quotes and returns what is whole.
func (t *Text) Add(raw []byte) string {
	raw = raw[1 : len(raw)-1]
	if len(t.held) == 0 && plainJSON(raw) {
		return string(raw)
	}
	b := appendUnquoted(t.held, raw)
	whole, rest := repair(b)
	t.held = append([]byte(nil), rest...)
	return whole
}

// Flush returns what is held back, as what it is worth.
func (t *Text) Flush() string {
	if len(t.held) == 0 {
		return ""
	}
	t.held = nil
	return string(utf8.RuneError)
}

func plainJSON(raw []byte) bool {
	return bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw)
}

// surrogate is the length of a UTF-16 unit of a pair in the bytes that UTF-8
// would have for it.
const surrogate = 3

// repair splits b into its text and the start of a character at its end.
func repair(b []byte) (whole string, rest []byte) {
	if utf8.Valid(b) {
		return string(b), nil
	}
	var out strings.Builder
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		switch unit := unitOf(b); {
		case r != utf8.RuneError || n > 1:
		case unit != 0 && utf16.DecodeRune(unit, unitOf(b[surrogate:])) != utf8.RuneError:
			r, n = utf16.DecodeRune(unit, unitOf(b[surrogate:])), 2*surrogate
		case unit != 0 && unit < 0xDC00 && len(b) == surrogate, !utf8.FullRune(b):
			return out.String(), b
		case unit != 0:
			n = surrogate
		}
		out.WriteRune(r)
		b = b[n:]
	}
	return out.String(), nil
}

// unitOf is the UTF-16 surrogate that b begins with; 0 when there is none.
func unitOf(b []byte) rune {
	if len(b) < surrogate || b[0] != 0xED || b[1] < 0xA0 || b[1] > 0xBF || b[2]&0xC0 != 0x80 {
		return 0
	}
	return 0xD000 | rune(b[1]&0x3F)<<6 | rune(b[2]&0x3F)
}

// appendUnquoted appends the bytes that a JSON string without its quotes
// stands for. A lone surrogate is three bytes, as repair reads them.
func appendUnquoted(dst, raw []byte) []byte {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' || i+1 == len(raw) {
			dst = append(dst, raw[i])
			continue
		}
		i++
		if raw[i] != 'u' {
			dst = append(dst, unescaped(raw[i]))
			continue
		}
		unit, err := strconv.ParseUint(string(raw[i+1:min(i+5, len(raw))]), 16, 16)
		if err != nil {
			unit = utf8.RuneError
		}
		i += 4
		if r := rune(unit); utf16.IsSurrogate(r) {
			dst = append(dst, 0xED, byte(0x80|r>>6&0x3F), byte(0x80|r&0x3F))
		} else {
			dst = utf8.AppendRune(dst, r)
		}
	}
	return dst
}

func unescaped(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}
