package inject

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/rivo/uniseg"

	"github.com/prism-rpc/prism-rpc/internal/plain"
	"github.com/prism-rpc/prism-rpc/schema"
)

// NoticeForm is the form of every notice's source (R1).
const NoticeForm = "notice"

// NoticeKind tells whose notice one is: that of producer, or of this program
// (R8).
func NoticeKind(producer string) string {
	return "plugin:" + cmp.Or(producer, schema.DefaultProducer)
}

const (
	maxSummary      = 120  // graphemes, the sign of a cut included
	maxSummaryBytes = 4096 // a grapheme may have any number of marks
)

// Summary is what can be shown in a notice's place without opening it: its
// title, or else its name, as one line of at most 120 graphemes, the … of a cut
// included (R7). Control, bidirectional, invisible and invalid characters are
// escaped; what joins emoji and letters is not.
func Summary(title, name string) string {
	text := escaped(cmp.Or(strings.TrimSpace(title), name))
	if uniseg.GraphemeClusterCount(text) <= maxSummary && len(text) <= maxSummaryBytes {
		return text
	}
	end, count := 0, 0
	for g := uniseg.NewGraphemes(text); count < maxSummary-1 && g.Next(); count++ {
		_, to := g.Positions()
		if to > maxSummaryBytes-len("…") {
			break
		}
		end = to
	}
	return text[:end] + "…"
}

// escaped is text with what can't be seen, or moves what can, as its code
// point.
func escaped(text string) string {
	var b strings.Builder
	before := ' '
	for _, r := range text {
		switch {
		case joins(r) && !joins(before) && before != ' ', seen(r):
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		before = r
	}
	return b.String()
}

// joins tells whether r is one of the invisible characters that emoji and some
// scripts need within a word.
func joins(r rune) bool { return r == 0x200c || r == 0x200d }

func seen(r rune) bool { return r != '\t' && r != '\n' && plain.Visible(r) }
