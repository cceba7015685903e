// Package trivial tells input that asks for nothing new from all other: an
// acknowledgement, a greeting, a word to go on, a slash command alone
// (requirement R4). Reminders are left out of such turns, and predicates can
// ask for it.
//
// What is not plainly trivial is substantive: a reminder too many costs less
// than one that is missing.
package trivial

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/prism-rpc/prism-rpc/schema"
)

// Bounds of the words that a Table takes beside its own.
const (
	MaxWords     = 256
	MaxWordBytes = 64
)

// Errors of With.
var (
	ErrTooMany = errors.New("too many words: 256 at most")
	ErrTooLong = errors.New("word is longer than 64 bytes")
	ErrNoWord  = errors.New("word has no letter or digit")
)

// A Table knows the words that are trivial. The nil Table knows those of this
// package. It may be used from many goroutines at once.
type Table struct {
	words map[string]bool
	own   []string // of words, as they were given
}

// Words are those that were added, as they were given.
func (t *Table) Words() []string {
	if t == nil {
		return nil
	}
	return t.own
}

// With is the table of this package with further words. A word may be several
// with spaces between them; how it is written is compared as input is. Errors:
// ErrTooMany, ErrTooLong, ErrNoWord.
func With(words []string) (*Table, error) {
	if len(words) == 0 {
		return nil, nil
	}
	if len(words) > MaxWords {
		return nil, ErrTooMany
	}
	t := &Table{words: map[string]bool{}, own: words}
	for _, w := range words {
		folded := fold(w)
		switch {
		case len(w) > MaxWordBytes:
			return nil, ErrTooLong
		case folded == "":
			return nil, ErrNoWord
		}
		t.words[folded] = true
	}
	return t, nil
}

// Input tells whether a turn's fresh input is trivial. Only text can be: a
// link, a resource or an image says something by itself.
func (t *Table) Input(content []schema.ContentBlock) bool {
	for _, b := range content {
		if b.Type != schema.BlockText {
			return false
		}
	}
	return t.Text(schema.PlainText(content))
}

// maxBytes is how long a text may be to be looked at word by word.
const maxBytes = 1 << 10

// Text tells whether a text is trivial.
func (t *Table) Text(s string) bool {
	if silent(s) {
		return true
	}
	if len(s) > maxBytes {
		return false
	}
	return command(s) || t.spoken(fold(s))
}

// silent tells whether s has no letter and no digit: it is white space,
// punctuation, symbols or emoji alone.
func silent(s string) bool {
	for s != "" {
		n := keycap(s)
		if n == 0 {
			r, size := utf8.DecodeRuneInString(s)
			if isWord(r) {
				return false
			}
			n = size
		}
		s = s[n:]
	}
	return true
}

// keycap is how many bytes of the emoji with which s begins are that of a digit
// in a box; 0 when it begins with none.
func keycap(s string) int {
	if s == "" || s[0] < '0' || s[0] > '9' {
		return 0
	}
	n := 1
	if strings.HasPrefix(s[n:], "\ufe0f") {
		n += len("\ufe0f")
	}
	if !strings.HasPrefix(s[n:], "\u20e3") {
		return 0
	}
	return n + len("\u20e3")
}

// isWord tells whether r can say something: a letter or a digit, but for the
// letter that is an emoji.
func isWord(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsNumber(r)) && r != 'ℹ'
}

// maxCommand is how many bytes may follow a slash command's first letter.
const maxCommand = 23

// command tells whether s is a slash command without anything behind it.
func command(s string) bool {
	name, ok := strings.CutPrefix(strings.TrimSpace(bare(norm.NFKC.String(s))), "/")
	if !ok || name == "" || len(name) > 1+maxCommand || !asciiLetter(name[0]) {
		return false
	}
	for i := range len(name) {
		if c := name[i]; !asciiLetter(c) && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

func asciiLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
