package provider

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-rpc/prism-rpc/schema"
)

// History is a committed dialogue, kept as the bytes that go into requests:
// JSON messages joined by commas. It only grows, so that a copy of the value is
// a snapshot, and adding to it costs the same however long it is. One owner
// appends; copies may be read at any time.
type History struct {
	bytes  []byte
	items  []item
	traits traits // of any message
	size   int    // see Size

	images int // bytes of all images, which are kept elsewhere

	sources *[]sourced // of the messages that nobody said, in order; nil for none
}

type item struct {
	end    int
	traits traits
}

// Append adds messages as AppendMessage and AppendNotice encoded them.
func (h *History) Append(encoded ...[]byte) {
	for _, m := range encoded {
		m, source := unsourced(m)
		if source != nil {
			h.addSource(sourced{len(h.items), source})
		}
		if len(h.items) > 0 {
			h.bytes = append(h.bytes, ',')
		}
		h.bytes = append(h.bytes, m...)
		content, size := measure(m)
		t := traitsOf(m, content)
		if last := len(h.items) - 1; last >= 0 && h.items[last].traits&assistant == t&assistant {
			t |= again
		}
		h.count(t, content, size)
		h.items = append(h.items, item{len(h.bytes), t})
	}
}

// Expect makes room for messages of so many bytes, and as much again as there
// is where that is more: a long dialogue that is read in is copied less often.
func (h *History) Expect(bytes, messages int) {
	h.bytes, h.items = roomFor(h.bytes, bytes), roomFor(h.items, messages)
}

// Trim gives back most of the room that nothing came for.
func (h *History) Trim() {
	h.bytes, h.items = trimmed(h.bytes), trimmed(h.items)
}

func roomFor[T any](s []T, more int) []T {
	if cap(s)-len(s) >= more {
		return s
	}
	return slices.Grow(s, max(more, len(s)))
}

func trimmed[T any](s []T) []T {
	if cap(s) <= len(s)+len(s)/4 {
		return s
	}
	return slices.Clone(s)
}

// Size is about how many bytes of text a model reads of it, for estimates: what
// stands in messages beside their text hardly counts.
func (h *History) Size() int { return h.size }

// First is the dialogue up to its nth message. It shares its bytes with h, and
// nothing may be appended to it.
func (h *History) First(n int) History {
	if n == 0 {
		return History{}
	}
	out := History{bytes: h.bytes[:h.items[n-1].end], items: h.items[:n], sources: h.sourcesUpTo(n)}
	for i := range n {
		var content []schema.ContentBlock
		size := len(h.Raw(i))
		if h.Rich(i) {
			content, size = measure(h.Raw(i))
		}
		out.count(h.items[i].traits, content, size)
	}
	return out
}

// Behind is another dialogue: head, encoded by AppendMessage, and then what
// stands behind the nth message of h.
func (h *History) Behind(n int, head ...[]byte) History {
	var out History
	out.Append(head...)
	for i := n; i < h.Len(); i++ {
		out.Append(h.Encoded(i))
	}
	return out
}

// count adds what a message brings, as measure tells it.
func (h *History) count(t traits, content []schema.ContentBlock, size int) {
	h.traits |= t
	h.size += size
	h.images += imageBytes(content)
}

// Len is the number of messages.
func (h *History) Len() int { return len(h.items) }

// Plain is the whole dialogue as JSON messages joined by commas, when each of
// them holds text alone: then the bytes can stand in the request of any API
// that takes {"role":…,"content":string or [{"type":"text","text":…}]}.
func (h *History) Plain() ([]byte, bool) { return h.bytes, h.traits&rich == 0 }

// Raw is message i as it stands in requests, without a source.
func (h *History) Raw(i int) jsontext.Value {
	start := 0
	if i > 0 {
		start = h.items[i-1].end + 1
	}
	return h.bytes[start:h.items[i].end]
}

// Rich tells whether message i holds more than text.
func (h *History) Rich(i int) bool { return h.items[i].traits&rich != 0 }

// Messages decodes the messages of indexes [from, to), one at a time.
func (h *History) Messages(from, to int) iter.Seq2[int, schema.Message] {
	return func(yield func(int, schema.Message) bool) {
		for i := from; i < to; i++ {
			m, err := DecodeMessage(h.Raw(i))
			if err != nil {
				panic("history holds a message that AppendMessage did not encode: " + err.Error())
			}
			if !yield(i, m) {
				return
			}
		}
	}
}

// encoded is the form of a message in a history: content is a string where it
// is one text, else the blocks as they are.
type encoded struct {
	Role    schema.Role    `json:"role"`
	Content jsontext.Value `json:"content"`
	Source  *Source        `json:"source,omitempty"`
}

// AppendMessage appends m, encoded for a History, to dst.
func AppendMessage(dst []byte, m schema.Message) ([]byte, error) { return appendEncoded(dst, m, nil) }

func appendEncoded(dst []byte, m schema.Message, source *Source) ([]byte, error) {
	var content any = m.Content
	if len(m.Content) == 1 && m.Content[0].Type == schema.BlockText {
		content = m.Content[0].Text
	} else if len(m.Content) == 0 {
		content = ""
	}
	c, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(encoded{m.Role, c, source})
	return append(dst, b...), err
}

// DecodeMessage reads what AppendMessage and AppendNotice encoded, without the
// source. It checks the role: user or assistant.
func DecodeMessage(raw []byte) (schema.Message, error) {
	var e encoded
	if err := json.Unmarshal(raw, &e, json.RejectUnknownMembers(true)); err != nil {
		return schema.Message{}, err
	}
	if e.Role != schema.RoleUser && e.Role != schema.RoleAssistant {
		return schema.Message{}, fmt.Errorf("a message of role %q in a dialogue", e.Role)
	}
	if e.Source != nil && !endsInObject(raw) {
		return schema.Message{}, errors.New("a message whose source does not stand at its end")
	}
	m := schema.Message{Role: e.Role, Content: []schema.ContentBlock{}}
	var content schema.Input
	if err := json.Unmarshal(e.Content, &content); err != nil {
		return schema.Message{}, err
	}
	if len(content) == 1 && content[0].Type == schema.BlockText && content[0].Text == "" {
		return m, nil
	}
	m.Content = append(m.Content, content...)
	return m, nil
}

// CheckMessage tells whether raw is what AppendMessage encodes.
func CheckMessage(raw []byte) error {
	if isText(raw) {
		return nil
	}
	_, err := DecodeMessage(raw)
	return err
}

// isText tells, at once for nearly all messages, whether raw is a message of
// one text.
func isText(raw []byte) bool {
	text, ok := bytes.CutPrefix(raw, []byte(`{"role":"user","content":`))
	if !ok {
		if text, ok = bytes.CutPrefix(raw, []byte(`{"role":"assistant","content":`)); !ok {
			return false
		}
	}
	text, ok = bytes.CutSuffix(text, []byte("}"))
	return ok && jsontext.Value(text).Kind() == jsontext.KindString && jsontext.Value(text).IsValid()
}

// measure tells how much text is in a message, and its content if that is more
// than text.
func measure(raw []byte) (rich []schema.ContentBlock, size int) {
	if isText(raw) {
		return nil, len(raw)
	}
	m, err := DecodeMessage(raw)
	switch {
	case err != nil:
		return []schema.ContentBlock{}, len(raw)
	case !Rich(m.Content):
		return nil, len(raw)
	}
	return m.Content, Size(m.Content)
}

// Size is about how many bytes of text a model reads of content, ImageSize for
// an image.
func Size(content []schema.ContentBlock) int {
	size := 0
	for _, b := range content {
		if isImage(b) {
			size += ImageSize
		} else {
			size += len(b.Plain())
		}
	}
	return size
}

// Rich tells whether content holds more than text: other blocks, or members
// that are their sender's own.
func Rich(content []schema.ContentBlock) bool {
	return slices.ContainsFunc(content, func(b schema.ContentBlock) bool {
		return b.Type != schema.BlockText || len(b.Annotations) > 0 || len(b.Meta.Meta) > 0
	})
}
