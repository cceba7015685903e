package inject

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/prism-rpc/prism-rpc/internal/plain"
)

// withoutInvisible takes out of text what a reader can't see and a model can
// (P23): tags, bidirectional overrides, fillers, soft hyphens, selectors and
// joiners where nothing is selected or joined. A byte order mark at the start
// is a matter of CleanText.
func withoutInvisible(text string) (string, []unseen) {
	if !mayHide(text) {
		return text, nil
	}
	var found []unseen
	var b strings.Builder
	s := scan{text: text}
	for s.at < len(text) {
		r, size := utf8.DecodeRuneInString(text[s.at:])
		if n := s.keeps(r, size); n > 0 {
			b.WriteString(text[s.at : s.at+n])
			s.at += n
			continue
		}
		found = append(found, unseen{r, s.at})
		s.at += size
	}
	return b.String(), found
}

// mayHide is quick, and right in that what it says no to holds nothing hidden:
// every such character has a lead byte of 0xC2 (soft hyphen) or above.
func mayHide(text string) bool {
	return strings.IndexFunc(text, suspect) >= 0
}

// suspect tells whether r is seen only in the right company, or never.
func suspect(r rune) bool {
	return r > 0x7F && (hidden(r) || joiner(r) || selector(r) || direction(r))
}

// A scan is where in a text it is looked for what can't be seen.
type scan struct {
	text string
	at   int
	prev rune // the last character that was kept; 0 at the start
	base rune // the last one that is more than a selector or a modifier
}

// keeps tells how many bytes from here on are kept; 0 for none.
func (s *scan) keeps(r rune, size int) int {
	if n := s.flag(r, size); n > 0 {
		s.prev, s.base = r, r
		return n
	}
	if !s.seen(r, size) {
		return 0
	}
	s.prev = r
	if !joiner(r) && !selector(r) && !modifier(r) {
		s.base = r
	}
	return size
}

// flag is the length of a black flag and the tags that make it that of a part
// of a country: two letters, one to four letters or digits, the closing tag.
func (s *scan) flag(r rune, size int) int {
	const black, closing = 0x1F3F4, 0xE007F
	if r != black {
		return 0
	}
	n, tags := size, 0
	for tags <= 6 {
		tag, width := utf8.DecodeRuneInString(s.text[s.at+n:])
		n += width
		switch {
		case tag == closing && tags >= 3:
			return n
		case tag >= 0xE0061 && tag <= 0xE007A, tags >= 2 && tag >= 0xE0030 && tag <= 0xE0039:
			tags++
		default:
			return 0
		}
	}
	return 0
}

func (s *scan) seen(r rune, size int) bool {
	switch {
	case r <= 0x7F, r == 0xFEFF && s.at == 0:
		return true
	case hidden(r):
		return false
	case joiner(r):
		return s.joins(r, size)
	case selector(r):
		return s.selects(r)
	case direction(r):
		return rightToLeft(s.line())
	}
	return true
}

// joins tells whether a joiner stands between emoji, or in a word of a script
// that writes with joiners.
func (s *scan) joins(r rune, size int) bool {
	next, _ := utf8.DecodeRuneInString(s.text[s.at+size:])
	if r == 0x200D && pictograph(s.base) && (pictograph(s.prev) || selector(s.prev) || modifier(s.prev)) {
		return pictograph(next)
	}
	return unicode.In(s.prev, joined...)
}

// selects tells whether a variation selector follows something that has
// variants.
func (s *scan) selects(r rune) bool {
	switch {
	case r == 0xFE0E || r == 0xFE0F:
		return pictograph(s.prev) || keycap(s.prev) || unicode.In(s.prev, unicode.Han)
	case r >= 0xE0100:
		return unicode.In(s.prev, unicode.Han)
	case r >= 0xFE00:
		return unicode.In(s.prev, unicode.Han, unicode.Sm, unicode.Myanmar, unicode.Phags_Pa, unicode.Manichaean)
	}
	return unicode.In(s.prev, unicode.Mongolian)
}

// line is the line that the scan is in.
func (s *scan) line() string {
	begin := strings.LastIndexByte(s.text[:s.at], '\n') + 1
	if end := strings.IndexByte(s.text[s.at:], '\n'); end >= 0 {
		return s.text[begin : s.at+end]
	}
	return s.text[begin:]
}

// hidden is what is never seen, or hides what is.
func hidden(r rune) bool {
	switch {
	case plain.Filler(r), r == 0x00AD, r == 0x180E, r == 0x200B, r >= 0x2060 && r <= 0x2065, r == 0xFEFF,
		r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x206F, // embeddings, overrides, isolates, shaping
		r >= 0xFFF0 && r <= 0xFFFB,                                 // annotations
		r >= 0x1BCA0 && r <= 0x1BCA3,                               // shorthand controls
		r >= 0x1D173 && r <= 0x1D17A,                               // musical ones
		r >= 0xE0000 && r <= 0xE00FF, r >= 0xE01F0 && r <= 0xE0FFF: // tags, and what is not assigned
		return true
	}
	return false
}

func joiner(r rune) bool { return r == 0x200C || r == 0x200D }

func selector(r rune) bool {
	return r >= 0xFE00 && r <= 0xFE0F || r >= 0xE0100 && r <= 0xE01EF || r >= 0x180B && r <= 0x180F && r != 0x180E
}

// direction marks say where a line of mixed scripts turns.
func direction(r rune) bool { return r == 0x200E || r == 0x200F || r == 0x061C }

func modifier(r rune) bool { return r >= 0x1F3FB && r <= 0x1F3FF }

func keycap(r rune) bool { return r >= '0' && r <= '9' || r == '#' || r == '*' }

// pictograph tells whether emoji are made of r.
func pictograph(r rune) bool {
	switch {
	case r >= 0x1F000 && r <= 0x1FAFF, r >= 0x2190 && r <= 0x21FF, r >= 0x2300 && r <= 0x27BF,
		r >= 0x2900 && r <= 0x297F, r >= 0x2B00 && r <= 0x2BFF:
		return true
	}
	switch r {
	case 0xA9, 0xAE, 0x203C, 0x2049, 0x2122, 0x2139, 0x3030, 0x303D, 0x3297, 0x3299:
		return true
	}
	return false
}

// joined are the scripts in whose words joiners stand.
var joined = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Mongolian, unicode.Mandaic, unicode.Devanagari,
	unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu,
	unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Tibetan,
}

func rightToLeft(line string) bool {
	return strings.IndexFunc(line, func(r rune) bool {
		return unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko)
	}) >= 0
}
