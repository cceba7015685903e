// Package plain makes text from outside fit to be shown: on a terminal, in an
// error message, in a title.
package plain

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text returns s in at most max bytes (3 or more), with every control (but tab and
// newline), bidirectional, invisible and invalid character escaped. A cut ends
// in … and never splits a character.
func Text(s string, max int) string {
	if safe(s) && len(s) <= max {
		return s
	}
	var b strings.Builder
	fits := 0 // how much of b leaves room for the sign of a cut
	for i, r := range s {
		piece := s[i : i+runeLen(s[i:], r)]
		if !Visible(r) || r == utf8.RuneError && len(piece) == 1 {
			piece = escape(r, piece)
		}
		if b.Len()+len(piece) > max {
			return b.String()[:fits] + cutSign
		}
		b.WriteString(piece)
		if b.Len() <= max-len(cutSign) {
			fits = b.Len()
		}
	}
	return b.String()
}

const cutSign = "…"

func runeLen(s string, r rune) int {
	if r == utf8.RuneError {
		_, n := utf8.DecodeRuneInString(s)
		return n
	}
	return utf8.RuneLen(r)
}

func safe(s string) bool {
	for i, r := range s {
		if !Visible(r) || r == utf8.RuneError && runeLen(s[i:], r) == 1 {
			return false
		}
	}
	return true
}

// Visible tells whether r shows itself, or is a tab or the end of a line.
func Visible(r rune) bool {
	switch {
	case r == '\t' || r == '\n':
		return true
	case r == 0x2028, r == 0x2029:
		return false
	}
	return !Filler(r) && !unicode.In(r, unicode.Cc, unicode.Cf)
}

// Filler tells whether r is a letter or a mark by category that shows nothing.
func Filler(r rune) bool {
	switch r {
	case 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0:
		return true
	}
	return false
}

func escape(r rune, raw string) string {
	switch {
	case r == utf8.RuneError && len(raw) == 1:
		return fmt.Sprintf(`\x%02x`, raw[0])
	case r < 0x10000:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}
