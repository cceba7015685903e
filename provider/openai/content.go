package openai

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-rpc/prism-rpc/provider/internal/upstream"
)

// present tells whether v is there and says something.
func present(v jsontext.Value) bool {
	switch string(v) {
	case "", "null", `""`, "[]", "{}", "false":
		return false
	}
	return true
}

// holdsForeign tells whether c holds an answer where none is looked for.
func (c *choice) holdsForeign() bool {
	d := &c.Delta
	return present(c.Message) || present(c.Text) || present(d.FunctionCall) || present(d.Audio) || present(d.Images)
}

// A part is an entry of content that is a list: Mistral's, and that of servers
// which answer in the form of what they are asked.
type part struct {
	Type     string         `json:"type"`
	Text     jsontext.Value `json:"text"`
	Thinking jsontext.Value `json:"thinking"`
	Refusal  jsontext.Value `json:"refusal"`
}

// content adds the content of a delta: a text, or parts of which the texts and
// the reasoning are taken.
func (a *answer) content(raw jsontext.Value) error {
	switch {
	case !present(raw):
		return nil
	case raw.Kind() == jsontext.KindString:
		return a.Text(raw)
	case raw.Kind() == jsontext.KindBeginObject:
		return a.part(raw)
	case raw.Kind() != jsontext.KindBeginArray:
		a.Foreign = true
		return nil
	}
	var list []jsontext.Value
	if err := json.Unmarshal(raw, &list, upstream.Lenient); err != nil {
		a.Foreign = true
		return nil
	}
	for _, v := range list {
		if err := a.part(v); err != nil {
			return err
		}
	}
	return nil
}

func (a *answer) part(raw jsontext.Value) error {
	if raw.Kind() == jsontext.KindString {
		return a.Text(raw)
	}
	var p part
	err := json.Unmarshal(raw, &p, upstream.Lenient)
	switch {
	case err != nil:
	case (p.Type == "" || p.Type == "text" || p.Type == "output_text") && p.Text.Kind() == jsontext.KindString:
		return a.Text(p.Text)
	case p.Type == "thinking":
		return a.reasoning(p.Thinking)
	case p.Type == "refusal":
		return a.Refusal(p.Refusal)
	}
	a.Foreign = true
	return nil
}

// reasoning adds what a part of reasoning holds: a text, or parts of text.
func (a *answer) reasoning(raw jsontext.Value) error {
	if raw.Kind() == jsontext.KindString {
		return a.Thinking(raw)
	}
	var list []part
	if err := json.Unmarshal(raw, &list, upstream.Lenient); err != nil {
		return nil
	}
	for _, p := range list {
		if err := a.Thinking(p.Text); err != nil {
			return err
		}
	}
	return nil
}
