package rpc

import (
	"iter"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/schema"
)

// applyParams tell the client of the turn. All of it is redacted already, but
// for the name.
func (s *server) applyParams(name string, wants []schema.Want, turn inject.Context) *schema.ApplyInjectorParams {
	p := &schema.ApplyInjectorParams{Name: s.redacting().Text(name, nil), Context: schema.TurnContext{
		SessionID: turn.SessionID, RunID: turn.RunID, Turn: turn.Turn, Step: turn.Step, Input: turn.Input, Metadata: turn.Metadata,
	}}
	if p.Context.Metadata.Kind() != jsontext.KindBeginObject {
		p.Context.Metadata = jsontext.Value("{}")
	}
	if slices.Contains(wants, schema.WantHistory) {
		p.Context.History = []schema.Message{}
		p.Context.History = lastMessages(turn.Recent, s.roomForHistory(p))
	}
	return p
}

// roomForHistory is what may be told of the dialogue beside the rest.
func (s *server) roomForHistory(p *schema.ApplyInjectorParams) int {
	const envelope = 128 // around the params
	return min(schema.MaxCallbackHistory, s.conn.sizes.room()-sizeOf(p)-envelope)
}

// lastMessages is the end of a dialogue, whole messages that take at most so
// many bytes as JSON; of a last one that is larger, its beginning.
func lastMessages(recent func(most int) iter.Seq[schema.Message], room int) []schema.Message {
	if recent == nil {
		return []schema.Message{}
	}
	for most := 64; ; most *= 4 {
		all := slices.Collect(recent(most))
		first := firstThatFits(all, room)
		if first > 0 || len(all) < most {
			return withCut(all, first, room)
		}
	}
}

func firstThatFits(all []schema.Message, room int) int {
	first := len(all)
	for first > 0 {
		if room -= sizeOf(all[first-1]) + len(","); room < 0 {
			break
		}
		first--
	}
	return first
}

func withCut(all []schema.Message, first, room int) []schema.Message {
	if len(all) == 0 || first < len(all) {
		return append([]schema.Message{}, all[first:]...)
	}
	last := all[len(all)-1]
	text := schema.PlainText(last.Content)
	cut := schema.Message{Role: last.Role, Content: []schema.ContentBlock{schema.TextBlock("")}}
	if room -= sizeOf(cut) + len(","); room <= 0 {
		return []schema.Message{}
	}
	cut.Content[0].Text = text[:fitting(text, room)]
	return []schema.Message{cut}
}
