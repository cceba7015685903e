package mock

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/schema"
)

// maxEcho bounds how much of an input the answer repeats, in bytes.
const maxEcho = 300

// echo is the answer without a script: the input, then what was injected, in
// pieces of a word.
func echo(req *provider.Request) Entry {
	var b strings.Builder
	b.WriteString("You said: " + cut(inputOf(req), maxEcho))
	for i, in := range req.Injected {
		if i == 0 {
			b.WriteString("\nInjected: ")
		} else {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s (%s)", in.Name, in.Placement)
	}
	return Entry{Deltas: words(b.String())}
}

// cut returns at most limit bytes of s, whole characters, and a … for the rest.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}

// words splits s after each space.
func words(s string) []string { return strings.SplitAfter(s, " ") }

// inputOf is the text of what the user says in req.
func inputOf(req *provider.Request) string {
	var texts []string
	for _, s := range req.Segments {
		if s.Kind != provider.SegmentInput {
			continue
		}
		for _, m := range s.Messages {
			texts = append(texts, schema.PlainText(m.Content))
		}
	}
	return strings.Join(texts, "\n")
}

// tokens estimates a count of tokens: four bytes each, rounded up.
func tokens(bytes int) int64 { return int64(bytes+3) / 4 }

// requestBytes is the size of all that req says, history as it is encoded.
func requestBytes(req *provider.Request) int {
	n := 0
	for i := range req.Segments {
		s := &req.Segments[i]
		history, _ := s.History.Plain()
		n += len(history)
		for _, m := range s.Messages {
			for _, b := range m.Content {
				n += len(b.Plain())
			}
		}
	}
	return n
}
