package anthropic

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/provider/internal/upstream"
	"github.com/prism-rpc/prism-rpc/schema"
)

// A builder writes the messages.
//
// The API wants the roles to alternate, beginning with the user, and no text to
// be blank. So neighbours of one role are one message, of which each is some of
// its blocks (P15), and what says nothing is left out.
type builder struct {
	upstream.List
	p    *Provider
	req  *provider.Request
	role schema.Role // of the message that is open; empty: none is
}

// unsaid stands before a dialogue that the model begins.
const unsaid = `{"role":"user","content":[{"type":"text","text":"(The dialogue goes on.)"}]}`

func (b *builder) messages() error {
	lasts := inputLasts(b.req)
	for i := range b.req.Segments {
		s := &b.req.Segments[i]
		var err error
		switch s.Kind {
		case provider.SegmentSystem:
		case provider.SegmentHistory:
			err = b.history(&s.History)
		default:
			err = b.all(s.Messages)
		}
		if err != nil {
			return err
		}
		if s.Kind == provider.SegmentHistory || s.Kind == provider.SegmentInput && lasts {
			b.mark()
		}
	}
	b.close()
	return nil
}

func (b *builder) all(messages []provider.Message) error {
	for i := range messages {
		if err := b.message(&messages[i]); err != nil {
			return err
		}
	}
	return nil
}

// history writes a dialogue. Its ends may join what stands beside them, and the
// last one carries a mark; what lies between goes in as the bytes it is kept
// as, and at once where all of it is as the API wants it.
func (b *builder) history(h *provider.History) error {
	last := h.Len() - 1
	for i := 0; i <= last; i++ {
		switch {
		case i > 0 && i < last && h.Even():
			b.raw(h.Span(i, last))
			i = last - 1
		case i > 0 && i < last && h.EvenAt(i):
			b.raw(h.Raw(i))
		default:
			m, err := provider.DecodeMessage(h.Raw(i))
			if err != nil {
				return err
			}
			if err := b.said(m.Role, m.Content); err != nil {
				return err
			}
		}
	}
	return nil
}

// raw writes whole messages.
func (b *builder) raw(messages []byte) {
	b.close()
	if len(messages) < 4096 {
		b.Copy(messages)
	} else {
		b.Take(messages)
	}
}

func (b *builder) message(m *provider.Message) error {
	switch {
	case m.ToolCallID != "":
		return b.block(schema.RoleUser, toolResult{"tool_result", m.ToolCallID, schema.PlainText(m.Content)})
	case m.Role == schema.RoleSystem:
		// No message has this role here; the place is what counts.
		return b.text(schema.RoleUser, "System:\n", schema.PlainText(m.Content))
	}
	if err := b.said(m.Role, m.Content); err != nil {
		return err
	}
	for _, c := range m.ToolCalls {
		input := jsontext.Value(c.Input)
		if input.Kind() != jsontext.KindBeginObject || !input.IsValid() {
			input = jsontext.Value("{}")
		}
		if err := b.block(m.Role, toolUse{"tool_use", c.ID, c.Name, input}); err != nil {
			return err
		}
	}
	return nil
}

type toolUse struct {
	Type  string         `json:"type"`
	ID    string         `json:"id"`
	Name  string         `json:"name"`
	Input jsontext.Value `json:"input"`
}

type toolResult struct {
	Type      string `json:"type"`
	ToolUseID string `json:"tool_use_id"`
	Content   string `json:"content"`
}

// said writes content as blocks: images of a user as such, all else as text.
func (b *builder) said(role schema.Role, content []schema.ContentBlock) error {
	for _, c := range content {
		if data, ok := b.req.Image(c); ok && role == schema.RoleUser {
			b.open(role)
			b.Buf = appendImage(b.Buf, data)
		} else if err := b.text(role, "", c.Plain()); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) text(role schema.Role, head, text string) error {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return b.block(role, textBlock{"text", head + text})
}

func (b *builder) block(role schema.Role, block any) error {
	b.open(role)
	return b.Encode(block)
}

// open makes room for one more block of a role.
func (b *builder) open(role schema.Role) {
	if b.role == role {
		b.Buf = append(b.Buf, ',')
		return
	}
	b.close()
	if b.Empty() && role != schema.RoleUser {
		b.Comma()
		b.Buf = append(b.Buf, unsaid...)
	}
	b.Comma()
	b.role = role
	b.Buf = append(b.Buf, `{"role":"`...)
	b.Buf = append(append(b.Buf, role...), `","content":[`...)
}

func (b *builder) close() {
	if b.role != "" {
		b.Buf = append(b.Buf, `]}`...)
	}
	b.role = ""
}

func appendImage(dst, data []byte) []byte {
	dst = slices.Grow(dst, base64.StdEncoding.EncodedLen(len(data))+128)
	dst = append(dst, `{"type":"image","source":{"type":"base64","media_type":"`...)
	dst = append(dst, schema.ImageType(data)...)
	dst = append(dst, `","data":"`...)
	dst = base64.StdEncoding.AppendEncode(dst, data)
	return append(dst, `"}}`...)
}
