package provider

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-rpc/prism-rpc/schema"
)

// Not every API takes every dialogue as it is kept: some want each content to
// be a string, some that the roles alternate and no text is blank. What a
// message is like is noted when it is appended, so that a long history which
// is right needs no look at its messages.

// traits are what an adapter may have to know of a message.
type traits uint8

const (
	rich      traits = 1 << iota // holds more than text
	parts                        // its content is no string
	blank                        // a text of it is white space
	assistant                    // by the model
	again                        // of the same role as the message before it
)

// Strings is Plain for a dialogue in which each content is a string.
func (h *History) Strings() ([]byte, bool) { return h.bytes, h.traits&(rich|parts) == 0 }

// Even tells whether the dialogue is text alone, the roles alternate, and no
// text is blank.
func (h *History) Even() bool { return h.traits&(rich|blank|again) == 0 }

// EvenAt tells whether that is so of message i and those beside it.
func (h *History) EvenAt(i int) bool {
	near := h.items[i].traits & (rich | again | blank)
	if i > 0 {
		near |= h.items[i-1].traits & blank
	}
	if i+1 < len(h.items) {
		near |= h.items[i+1].traits & (blank | again)
	}
	return near == 0
}

// String tells whether message i is one text, kept as a string.
func (h *History) String(i int) bool { return h.items[i].traits&(rich|parts) == 0 }

// Span is messages [from, to) as they stand in requests, joined by commas.
func (h *History) Span(from, to int) []byte {
	if from >= to {
		return nil
	}
	start := 0
	if from > 0 {
		start = h.items[from-1].end + 1
	}
	return h.bytes[start:h.items[to-1].end]
}

// traitsOf are those of a message, but again; content is what measure gives.
func traitsOf(raw []byte, content []schema.ContentBlock) traits {
	var t traits
	if bytes.HasPrefix(raw, []byte(`{"role":"assistant"`)) {
		t |= assistant
	}
	if content != nil {
		return t | rich | blankOf(content)
	}
	if said, ok := bytes.CutSuffix(raw, []byte("}")); ok && isText(raw) {
		if blankString(said[bytes.IndexByte(raw, ',')+len(`,"content":`):]) {
			t |= blank
		}
		return t
	}
	m, err := DecodeMessage(raw)
	if err != nil {
		return t | rich
	}
	return t | parts | blankOf(m.Content)
}

func blankOf(content []schema.ContentBlock) traits {
	for _, b := range content {
		if strings.TrimSpace(b.Plain()) == "" {
			return blank
		}
	}
	if len(content) == 0 {
		return blank
	}
	return 0
}

// blankString tells whether a JSON string is white space; nearly always its
// first letter tells.
func blankString(quoted []byte) bool {
	if c := quoted[1]; c > ' ' && c < 0x80 && c != '\\' && c != '"' {
		return false
	}
	var s string
	err := json.Unmarshal(quoted, &s, jsontext.AllowInvalidUTF8(true))
	return err == nil && strings.TrimSpace(s) == ""
}
