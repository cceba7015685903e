package anthropic

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/provider/internal/upstream"
	"github.com/prism-rpc/prism-rpc/schema"
)

// body encodes req: system text, tools and settings, then the messages.
func (p *Provider) body(req *provider.Request) (*upstream.Body, error) {
	settings, err := json.Marshal(p.settings(req))
	if err != nil {
		return nil, err
	}
	b := builder{p: p, req: req}
	b.Buf = append(b.Buf, settings[:len(settings)-1]...) // without its }
	if err := b.system(); err != nil {
		return nil, err
	}
	b.Buf = append(b.Buf, `,"messages":[`...)
	if err := b.messages(); err != nil {
		return nil, err
	}
	b.Buf = append(b.Buf, `]}`...)
	return b.End(), nil
}

// settings are the members beside system and messages.
type settings struct {
	Model         string   `json:"model"`
	MaxTokens     int      `json:"max_tokens"`
	Stream        bool     `json:"stream"`
	Temperature   *float64 `json:"temperature,omitempty"`
	StopSequences []string `json:"stop_sequences,omitempty"`
	Tools         []tool   `json:"tools,omitempty"`
}

type tool struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitempty"`
	InputSchema jsontext.Value `json:"input_schema"`
}

func (p *Provider) settings(req *provider.Request) settings {
	s := settings{
		Model: req.Model, MaxTokens: p.maxTokensOf(req), Stream: true,
		Temperature: req.Options.Temperature, StopSequences: req.Options.Stop,
	}
	for _, t := range req.Tools {
		takes := jsontext.Value(t.Schema)
		if len(takes) == 0 {
			takes = jsontext.Value(`{"type":"object"}`)
		}
		s.Tools = append(s.Tools, tool{t.Name, t.Description, takes})
	}
	return s
}

// maxTokensOf bounds an answer, as the API demands. Where nobody says how long
// one may be it is what each of the vendor's models takes, the oldest excepted,
// and leaves room in the context window.
func (p *Provider) maxTokensOf(req *provider.Request) int {
	switch {
	case req.Options.MaxOutputTokens != nil:
		return *req.Options.MaxOutputTokens
	case p.maxTokens > 0:
		return p.maxTokens
	case strings.Contains(strings.ToLower(req.Model), "claude-3"):
		return 4096
	}
	return 16384
}

type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// system writes the system text, which has a place of its own here: wherever
// it stands in the layout, it leads.
func (b *builder) system() error {
	open := `,"system":[`
	for i := range b.req.Segments {
		if b.req.Segments[i].Kind != provider.SegmentSystem {
			continue
		}
		for _, m := range b.req.Segments[i].Messages {
			text := schema.PlainText(m.Content)
			if strings.TrimSpace(text) == "" {
				continue
			}
			b.Buf = append(b.Buf, open...)
			if err := b.Encode(textBlock{"text", text}); err != nil {
				return err
			}
			open = ","
		}
	}
	if open == "," {
		b.Buf = append(b.p.appendMark(b.Buf), ']')
	}
	return nil
}
