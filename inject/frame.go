package inject

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/prism-rpc/prism-rpc/internal/plain"
	"github.com/prism-rpc/prism-rpc/schema"
)

// A Framer marks where text of the workspace begins and ends among the
// dialogue (P28). Key is the session's: without it nobody can write a tag that
// closes the frame of a text, and with it the same text has the same frame on
// every turn. Without a key nothing is framed.
type Framer struct{ Key []byte }

const frameName = "context"

// frameDigits is how many hex digits of a text's HMAC its tag ends in.
const frameDigits = 16

// Text is text within a tag of its own. What looks like such a tag inside is
// defused first.
func (f Framer) Text(text string) string {
	if f.Key == nil {
		return text
	}
	text = defuse(text)
	mac := hmac.New(sha256.New, f.Key)
	mac.Write([]byte(text)) // a hash takes all it is given
	tag := frameName + "-" + hex.EncodeToString(mac.Sum(nil))[:frameDigits]
	return "<" + tag + ">\n" + text + "\n</" + tag + ">"
}

// block is b with all that it says in one frame, its title too.
func (f Framer) block(b schema.ContextBlock) schema.ContextBlock {
	text := schema.PlainText(b.Content)
	if f.Key == nil || blank(text) {
		return b
	}
	if b.Title != "" {
		text = b.Title + ":\n" + text
	}
	b.Title, b.Content = "", schema.Input{schema.TextBlock(f.Text(text))}
	return b
}

// Resources puts each document among content in a frame, in place: whoever
// gave it, a document is what some file said.
func (f Framer) Resources(content []schema.ContentBlock) {
	for i, part := range content {
		if f.Key != nil && part.Type == schema.BlockResource {
			content[i] = schema.TextBlock(f.Text(part.Plain()))
		}
	}
}

// defuse makes of every bracket that could open or close a frame a character
// reference.
func defuse(text string) string {
	var out strings.Builder
	done := 0
	for i, r := range text {
		if isBracket(r) && opensFrame(text[i+utf8.RuneLen(r):]) {
			out.WriteString(text[done:i])
			out.WriteString("&lt;")
			done = i + utf8.RuneLen(r)
		}
	}
	if done == 0 {
		return text
	}
	out.WriteString(text[done:])
	return out.String()
}

// isBracket tells whether r is < or looks like it.
func isBracket(r rune) bool { return strings.ContainsRune("<＜﹤‹〈⟨", r) }

// opensFrame tells whether text begins with the frames' name, in whatever
// case, width and with whatever a reader overlooks before and in it.
func opensFrame(text string) bool {
	want := frameName
	for _, r := range text {
		switch {
		case overlooked(r):
			continue
		case !strings.HasPrefix(want, folded(r)):
			return false
		}
		if want = want[len(folded(r)):]; want == "" {
			return true
		}
	}
	return false
}

// overlooked tells whether r may stand in a tag without changing how it reads.
func overlooked(r rune) bool {
	return strings.ContainsRune(`/／\\`, r) || unicode.IsSpace(r) || unicode.In(r, unicode.Cf, unicode.Cc, unicode.Mn, unicode.Me) || plain.Filler(r) || r == 0x2800 // a blank of Braille
}

// folded is r in lower case and of ordinary width, as one or more letters.
func folded(r rune) string { return strings.ToLower(norm.NFKC.String(string(r))) }
