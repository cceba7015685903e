package openai

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/provider/internal/upstream"
	"github.com/prism-rpc/prism-rpc/schema"
)

// body encodes req. A history of text goes in as the bytes it is kept as: the
// cost doesn't grow with it.
func (p *Provider) body(req *provider.Request) (*upstream.Body, error) {
	b := builder{req: req}
	return b.BodyOf(req, "messages", p.settings(req), &b)
}

// settings are the members beside model and messages.
type settings struct {
	Stream              bool          `json:"stream"`
	StreamOptions       streamOptions `json:"stream_options"`
	Temperature         *float64      `json:"temperature,omitempty"`
	MaxTokens           *int          `json:"max_tokens,omitempty"`
	MaxCompletionTokens *int          `json:"max_completion_tokens,omitempty"`
	Stop                []string      `json:"stop,omitempty"`
	Tools               []tool        `json:"tools,omitempty"`
	PromptCacheKey      string        `json:"prompt_cache_key,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type tool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitempty"`
	Parameters  jsontext.Value `json:"parameters,omitempty"`
}

func (p *Provider) settings(req *provider.Request) settings {
	s := settings{
		Stream:        true,
		StreamOptions: streamOptions{IncludeUsage: true},
		Temperature:   req.Options.Temperature,
		Stop:          req.Options.Stop,
	}
	// OpenAI's and Azure's newer models refuse max_tokens, while other servers
	// know that name alone and would leave the answer unbounded.
	if p.vendor {
		s.MaxCompletionTokens = req.Options.MaxOutputTokens
	} else {
		s.MaxTokens = req.Options.MaxOutputTokens
	}
	if p.cacheKey {
		s.PromptCacheKey = upstream.CacheKey(req.SessionID)
	}
	for _, t := range req.Tools {
		s.Tools = append(s.Tools, tool{"function", function{t.Name, t.Description, t.Schema}})
	}
	return s
}

// A builder writes the messages.
type builder struct {
	upstream.List
	req *provider.Request
}

// History implements upstream.Dialogue.
func (b *builder) History(h *provider.History) error {
	if h.Len() == 0 {
		return nil
	}
	if whole, ok := h.Plain(); ok {
		b.Take(whole)
		return nil
	}
	for i := range h.Len() {
		if !h.Rich(i) {
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
// one turn is a prefix of the next turn's request.
func (b *builder) Message(m *provider.Message) error {
	if len(m.ToolCalls) > 0 || m.ToolCallID != "" {
		return b.Item(toolMessageOf(m))
	}
	return b.said(schema.Message{Role: m.Role, Content: m.Content})
}

func (b *builder) said(m schema.Message) error {
	switch {
	case m.Role == schema.RoleUser && shows(m.Content):
		return b.parts(m.Content)
	case provider.Rich(m.Content):
		m.Content = []schema.ContentBlock{schema.TextBlock(schema.PlainText(m.Content))} // links and resources as text
	}
	b.Comma()
	var err error
	b.Buf, err = provider.AppendMessage(b.Buf, m)
	return err
}

type toolMessage struct {
	Role       schema.Role `json:"role"`
	Content    string      `json:"content"`
	ToolCalls  []toolCall  `json:"tool_calls,omitempty"`
	ToolCallID string      `json:"tool_call_id,omitempty"`
}

type toolCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function functionCall `json:"function"`
}

type functionCall struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

func toolMessageOf(m *provider.Message) toolMessage {
	t := toolMessage{Role: m.Role, Content: schema.PlainText(m.Content), ToolCallID: m.ToolCallID}
	for _, c := range m.ToolCalls {
		t.ToolCalls = append(t.ToolCalls, toolCall{c.ID, "function", functionCall{c.Name, string(c.Input)}})
	}
	return t
}
