package openai

import (
	"net/http"
	"testing"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/provider/internal/hostile"
	"github.com/prism-rpc/prism-rpc/provider/internal/upstream"
)

func open(o upstream.Options) (provider.Provider, error) {
	return New(Options{
		BaseURL: o.BaseURL, Key: o.Key, IdleTimeout: o.IdleTimeout, TotalTimeout: o.TotalTimeout, MaxRetries: o.MaxRetries,
		RootCAs: o.RootCAs, AllowInsecure: o.AllowInsecure, UserAgent: o.UserAgent, Transport: o.Transport,
	})
}

// serve makes a provider whose server is h, within a synctest bubble.
func serve(t *testing.T, h http.HandlerFunc) provider.Provider {
	t.Helper()
	p, _ := hostile.Serve(t, open, upstream.Options{}, h)
	return p
}

// text is an event that adds s, which needs no escapes, to the answer.
func text(s string) string   { return `{"choices":[{"index":0,"delta":{"content":"` + s + `"}}]}` }
func finish(s string) string { return `{"choices":[{"delta":{},"finish_reason":"` + s + `"}]}` }

func TestHostileServers(t *testing.T) {
	hostile.Run(t, hostile.Wire{
		Open: open, Path: "chat/completions", KeyHeader: "Authorization", KeyPrefix: "Bearer ",
		Text:     text,
		Thinking: func(s string) string { return `{"choices":[{"delta":{"reasoning":"` + s + `"}}]}` },
		End:      []string{finish("stop"), "[DONE]"},
		Error:    func(kind, s string) string { return `{"error":{"type":"` + kind + `","message":"` + s + `"}}` },
		Failures: map[string]hostile.Failed{
			"DONE and nothing else":            {Events: []string{"[DONE]"}, Class: provider.ClassInterrupted},
			"an event of another shape":        {Events: []string{text("par"), `{"choices":5}`}, Class: provider.ClassInterrupted, Partial: "par"},
			"an error event without error":     {Events: []string{text("par"), `{"object":"error","message":"oops","code":503}`, "[DONE]"}, Class: provider.ClassOverloaded, Status: 503, Partial: "par"},
			"an error event of that type":      {Events: []string{text("par"), `{"type":"error","error":{"type":"rate_limit_error"}}`, "[DONE]"}, Class: provider.ClassRateLimit, Partial: "par"},
			"an error event that is a message": {Events: []string{text("par"), `{"message":"oops","code":"x"}`, "[DONE]"}, Class: provider.ClassInterrupted, Partial: "par"},
			"an error event that is a detail":  {Events: []string{text("par"), `{"detail":"oops"}`, "[DONE]"}, Class: provider.ClassInterrupted, Partial: "par"},
			"an error event that says nothing": {Events: []string{text("par"), `{"error":{}}`, "[DONE]"}, Class: provider.ClassInterrupted, Partial: "par"},
			"an error as finish reason":        {Events: []string{text("par"), finish("error")}, Class: provider.ClassInterrupted, Partial: "par"},
			"a tool call of a far-off index":   {Events: []string{`{"choices":[{"delta":{"tool_calls":[{"index":1000000000}]}}]}`}, Class: provider.ClassTooLarge},
		},
	})
}
