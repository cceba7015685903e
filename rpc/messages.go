package rpc

import (
	"cmp"
	"unicode/utf8"

	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
)

const messagesPage = 100 // turns

// messages gives a page of the committed dialogue, a piece of one turn's text,
// or an image that the dialogue names. Notices are looked up in the log.
func (s *server) messages(c *call, p *schema.MessagesParams) (reply, error) {
	target, err := s.reading(orZero(p.SessionID))
	if err != nil {
		return reply{}, err
	}
	if p.Notices {
		return reply{look: true, wait: func() (any, error) {
			return target.MessagesWithNotices(p.AfterTurn, cmp.Or(p.Limit, messagesPage), p.Text)
		}}, nil
	}
	result, err := s.dialogue(c, target, p)
	return reply{result: result}, err
}

func (s *server) dialogue(c *call, target *session.Session, p *schema.MessagesParams) (*schema.MessagesResult, error) {
	room, offset := s.conn.sizes.roomForResult(c), orZero(p.Offset)
	if p.Attachment != "" {
		return attachment(target, p.Attachment, offset, room)
	}
	if p.Turn == nil {
		return target.Messages(p.AfterTurn, cmp.Or(p.Limit, messagesPage)), nil
	}
	text, err := turnText(target, *p.Turn, cmp.Or(schema.Role(p.Role), schema.RoleAssistant))
	if err != nil {
		return nil, err
	}
	return piece(text, offset, room)
}

// turnText is what one side says in a committed turn.
func turnText(target *session.Session, turn int, role schema.Role) (string, error) {
	var blocks []schema.ContentBlock
	found := false
	for _, m := range target.Messages(turn-1, 1).Messages {
		if m.Turn == turn && m.Role == role {
			found, blocks = true, append(blocks, m.Content...)
		}
	}
	if !found {
		return "", schema.BadField("turn", "known", "is not a committed turn of this session")
	}
	return schema.PlainText(blocks), nil
}

// piece is what fits of text from offset on, whole characters.
func piece(text string, offset, room int) (*schema.MessagesResult, error) {
	switch {
	case offset > len(text):
		return nil, schema.BadField("offset", "max", "is past the end of the text")
	case offset < len(text) && !utf8.RuneStart(text[offset]):
		return nil, schema.BadField("offset", "boundary", "is inside a character; use the nextOffset of the piece before")
	}
	const around = len(`{"text":"","nextOffset":1234567890}`)
	next := offset + fitting(text[offset:], room-around)
	part := text[offset:next]
	result := &schema.MessagesResult{Text: &part}
	if next < len(text) {
		result.NextOffset = &next
	}
	return result, nil
}
