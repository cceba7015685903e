package provider

import (
	"bytes"
	"sort"

	"github.com/go-json-experiment/json"

	"github.com/prism-rpc/prism-rpc/schema"
)

// A dialogue may hold messages that nobody typed: notices that were kept
// (R1). Their source stands in the encoded message, so that a log tells them
// apart; a History holds it beside the bytes, so that these go into requests as
// they are.

// Source says where a message that nobody typed comes from.
type Source struct {
	Kind    string `json:"kind"`
	Form    string `json:"form,omitempty"`
	Summary string `json:"summary,omitempty"`
}

// sourced is the source of message at.
type sourced struct {
	at     int
	source *Source
}

// AppendNotice is AppendMessage for a message with a source.
func AppendNotice(dst []byte, m Message) ([]byte, error) {
	return appendEncoded(dst, schema.Message{Role: m.Role, Content: m.Content}, m.Source)
}

// SourceOf is the source in a message that AppendNotice encoded; nil when it
// has none.
func SourceOf(raw []byte) *Source {
	if !endsInObject(raw) {
		return nil
	}
	var e struct {
		Source *Source `json:"source"`
	}
	if json.Unmarshal(raw, &e) != nil {
		return nil
	}
	return e.Source
}

// endsInObject tells at once, for nearly all messages, that one has no source,
// which would stand at its end.
func endsInObject(raw []byte) bool { return bytes.HasSuffix(raw, []byte("}}")) }

// unsourced parts a message from its source.
func unsourced(raw []byte) ([]byte, *Source) {
	source := SourceOf(raw)
	if source == nil {
		return raw, nil
	}
	m, err := DecodeMessage(raw)
	if err != nil {
		return raw, nil
	}
	plain, err := AppendMessage(nil, m)
	if err != nil {
		return raw, nil
	}
	return plain, source
}

// addSource leaves the list of a copy of h as it is.
func (h *History) addSource(s sourced) {
	more := append(h.sourced(), s)
	h.sources = &more
}

func (h *History) sourced() []sourced {
	if h.sources == nil {
		return nil
	}
	return *h.sources
}

// sourcesUpTo are those of the first n messages.
func (h *History) sourcesUpTo(n int) *[]sourced {
	if h.sources == nil {
		return nil
	}
	some := h.sourced()[:h.sourcesBefore(n)]
	return &some
}

// Source is where message i comes from; nil when somebody said it.
func (h *History) Source(i int) *Source {
	all, n := h.sourced(), h.sourcesBefore(i)
	if n < len(all) && all[n].at == i {
		return all[n].source
	}
	return nil
}

// sourcesBefore is how many of the messages before i have a source.
func (h *History) sourcesBefore(i int) int {
	all := h.sourced()
	return sort.Search(len(all), func(n int) bool { return all[n].at >= i })
}

// Encoded is message i as it was appended, with its source.
func (h *History) Encoded(i int) []byte {
	source := h.Source(i)
	if source == nil {
		return h.Raw(i)
	}
	encoded, err := json.Marshal(source)
	if err != nil {
		panic("a source has no encoding: " + err.Error()) // it was read from JSON
	}
	raw := h.Raw(i)
	out := append([]byte(nil), raw[:len(raw)-1]...)
	return append(append(append(out, `,"source":`...), encoded...), '}')
}

// Dialogue is h without the messages that nobody said; h itself when all were
// said. Nothing may be appended to it.
func (h *History) Dialogue() History {
	if h.sources == nil {
		return *h
	}
	var out History
	for i := range h.Len() {
		if h.Source(i) == nil {
			out.Append(h.Raw(i))
		}
	}
	return out
}

// LastSaid is from where on the last n messages stand that somebody said.
func (h *History) LastSaid(n int) int {
	i := h.Len()
	if h.sources == nil {
		return max(0, i-n)
	}
	for n > 0 && i > 0 {
		if i--; h.Source(i) == nil {
			n--
		}
	}
	return i
}
