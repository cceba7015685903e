package openairesponses

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/provider/internal/upstream"
	"github.com/prism-rpc/prism-rpc/schema"
)

// noStop is what a request with stop texts is answered with: an answer that
// ran on past them would be no answer to it.
const noStop = "the Responses API takes no stop texts; leave options.stop out, or use the openai provider"

// body encodes req. A history of strings goes in as the bytes it is kept as:
// the cost doesn't grow with it.
func (p *Provider) body(req *provider.Request) (*upstream.Body, error) {
	if len(req.Options.Stop) > 0 {
		return nil, &provider.Error{Class: provider.ClassBadRequest, Message: noStop}
	}
	b := builder{req: req}
	return b.BodyOf(req, "input", p.settings(req), &b)
}

// settings are the members beside model and input. Nothing is to be stored at
// the vendor's: a session's log is ours.
type settings struct {
	Stream          bool     `json:"stream"`
	Store           bool     `json:"store"`
	Temperature     *float64 `json:"temperature,omitempty"`
	MaxOutputTokens *int     `json:"max_output_tokens,omitempty"`
	Tools           []tool   `json:"tools,omitempty"`
	PromptCacheKey  string   `json:"prompt_cache_key,omitempty"`
}

type tool struct {
	Type        string         `json:"type"`
	Name        string         `json:"name"`
	Description string         `json:"description,omitempty"`
	Parameters  jsontext.Value `json:"parameters"`
	Strict      bool           `json:"strict"` // else true, which few schemas pass
}

func (p *Provider) settings(req *provider.Request) settings {
	s := settings{Stream: true, Temperature: req.Options.Temperature, MaxOutputTokens: req.Options.MaxOutputTokens}
	if p.cacheKey {
		s.PromptCacheKey = upstream.CacheKey(req.SessionID)
	}
	for _, t := range req.Tools {
		takes := jsontext.Value(t.Schema)
		if len(takes) == 0 {
			takes = jsontext.Value(`{"type":"object","properties":{}}`)
		}
		s.Tools = append(s.Tools, tool{"function", t.Name, t.Description, takes, false})
	}
	return s
}

// A builder writes the input's items.
type builder struct {
	upstream.List
	req *provider.Request
}

// History implements upstream.Dialogue.
func (b *builder) History(h *provider.History) error {
	if h.Len() == 0 {
		return nil
	}
	if whole, ok := h.Strings(); ok {
		b.Take(whole)
		return nil
	}
	for i := range h.Len() {
		if h.String(i) {
			b.Copy(h.Raw(i))
			continue
		}
		m, err := provider.DecodeMessage(h.Raw(i))
		if err != nil {
			return err
		}
		if err := b.said(m); err != nil {
			return err
		}
	}
	return nil
}

// Message writes a message just as a history will hold it, so that the input of
// one turn is a prefix of the next turn's request; and tool calls and results
// as the items of their own that they are here.
func (b *builder) Message(m *provider.Message) error {
	if m.ToolCallID != "" {
		return b.Item(callOutput{"function_call_output", m.ToolCallID, schema.PlainText(m.Content)})
	}
	if len(m.Content) > 0 || len(m.ToolCalls) == 0 {
		if err := b.said(schema.Message{Role: m.Role, Content: m.Content}); err != nil {
			return err
		}
	}
	for _, c := range m.ToolCalls {
		if err := b.Item(functionCall{"function_call", c.ID, c.Name, string(c.Input)}); err != nil {
			return err
		}
	}
	return nil
}

type functionCall struct {
	Type      string `json:"type"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type callOutput struct {
	Type   string `json:"type"`
	CallID string `json:"call_id"`
	Output string `json:"output"`
}
