package redact

import (
	"strings"
	"unicode/utf8"
)

const (
	marker      = "[REDACTED]"
	markerStart = "[REDACTED"
)

// minCore is what must be left, in bytes, of a value looked for within words
// once its edges are cut.
const minCore = 6

// A label is how the removal of one value is shown and counted.
type label struct {
	marker string
	name   string
}

func (l label) mark(t *Tally) string {
	t.add(l.name, 1)
	return l.marker
}

// labelAll makes the label of each value, then of each rule. A name that holds
// a secret is not used at all; one whose marker could be taken for a part of a
// secret is only counted.
func (r *Redactor) labelAll() []label {
	var labels []label
	for _, v := range r.values {
		labels = append(labels, r.label(v.Name))
	}
	if rules := r.rules.set(); rules != nil {
		for _, rule := range rules.rules {
			labels = append(labels, r.label(rule.name))
		}
	}
	return labels
}

func (r *Redactor) label(name string) label {
	if name == "" || r.Contains(name) {
		return label{marker: marker}
	}
	if m := markerStart + ":" + name + "]"; plainName(name) && !r.confusable(m) {
		return label{m, name}
	}
	return label{marker, name}
}

// confusable tells whether m shares bytes with an occurrence of a pattern in
// some text around it.
func (r *Redactor) confusable(m string) bool {
	if r.Contains(m) {
		return true
	}
	for _, p := range r.bracketed {
		if strings.Contains(p, m) || overlap(m, p) > 0 || overlap(p, m) > 0 {
			return true
		}
	}
	return false
}

func plainName(name string) bool {
	for i := range len(name) {
		if c := name[i]; !wordByte(c) && c != '-' && c != '.' {
			return false
		}
	}
	return true
}

// core cuts from the edges of a spelling what could be the edge of a marker,
// or half a character: what remains is found wherever the spelling is, never
// in part of a marker, and begins and ends between characters.
func core(s string) string {
	if !bracketed(s) {
		return wholeRunes(s)
	}
	for {
		cut := wholeRunes(s)
		cut = cut[overlap(marker, cut):]
		cut = cut[:len(cut)-overlap(cut, marker)]
		if cut == s {
			return s
		}
		s = cut
	}
}

// bracketed tells whether s may meet a marker.
func bracketed(s string) bool {
	return strings.IndexByte(s, '[') >= 0 || strings.IndexByte(s, ']') >= 0
}

// fit gives the core of a spelling, and whether enough of it is left to look
// for.
func fit(spelling string, short bool) (string, bool) {
	c := core(spelling)
	switch {
	case c == "" || strings.Contains(c, marker):
		return c, false
	case short || len(c) > len(marker):
		return c, true
	}
	return c, len(c) >= minCore && !strings.Contains(marker, c)
}

// overlap is the length of the longest end of a that b begins with.
func overlap(a, b string) int {
	for n := min(len(a), len(b)); n > 0; n-- {
		if a[len(a)-n:] == b[:n] {
			return n
		}
	}
	return 0
}

// wholeRunes cuts the end of a character from the beginning of s, and the
// beginning of one from the end.
func wholeRunes(s string) string {
	for s != "" && !utf8.RuneStart(s[0]) {
		s = s[1:]
	}
	return s[:len(s)-partialRune(s)]
}

// partialRune is the length of the unfinished character at the end of s.
func partialRune(s string) int {
	if s == "" || s[len(s)-1] < utf8.RuneSelf {
		return 0
	}
	for n := 1; n <= min(len(s), utf8.UTFMax); n++ {
		if tail := s[len(s)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRuneInString(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

func wordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}
