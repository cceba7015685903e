package trivial

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// bare is s without marks and format characters.
func bare(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.M, unicode.Cf) {
			return -1
		}
		return r
	}, s)
}

// fold is what s says: its words in lower case, one space between them,
// without the punctuation and the symbols around them. What holds words
// together (no-go, ok.go, k=yes) stays, and a text that begins with other
// punctuation is none: "".
//
// Where all marks go, NFKD is NFKC that has parted each mark from its letter.
func fold(s string) string {
	s = strings.ReplaceAll(s, "…", " ")
	s = strings.ReplaceAll(strings.ToLower(bare(norm.NFKD.String(s))), "’", "'")
	s = strings.ReplaceAll(s, "..", " ")
	var words []string
	for _, w := range strings.FieldsFunc(s, parts) {
		w = strings.TrimRightFunc(w, func(r rune) bool { return !isWord(r) })
		switch {
		case w != "":
			words = append(words, w)
		case len(words) == 0:
			return ""
		}
	}
	return strings.Join(words, " ")
}

// parts tells whether r parts words wherever it stands.
func parts(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.In(r, unicode.So, unicode.Sk) || strings.ContainsRune(",!?;。、", r)
}

// spoken tells whether a folded text is made of trivial words alone, in any
// number. Words of ASCII letters need something between them, unless it is the
// same one again; Chinese has nothing there.
func (t *Table) spoken(s string) bool {
	reached := make([]bool, len(s)+1)
	reached[0] = s != ""
	for i := range len(s) {
		if !reached[i] {
			continue
		}
		for n := 1; n <= min(longest, len(s)-i); n++ {
			if w := s[i : i+n]; t.knows(w) {
				reach(reached, s, i+n, w)
			}
		}
	}
	return reached[len(s)]
}

// reach marks where the next word may begin behind w, which ends at end.
func reach(reached []bool, s string, end int, w string) {
	switch {
	case end == len(s):
		reached[end] = true
	case s[end] == ' ':
		reached[end+1] = true
	case s[end] >= utf8.RuneSelf || s[end-1] >= utf8.RuneSelf, strings.HasPrefix(s[end:], w):
		reached[end] = true
	}
}

func (t *Table) knows(w string) bool { return table()[w] || t != nil && t.words[w] }
