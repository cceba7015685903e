package openairesponses

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

const (
	created  = `{"type":"response.created","sequence_number":0,"response":{"id":"r","status":"in_progress","output":[],"usage":null,"error":null,"incomplete_details":null}}`
	added    = `{"type":"response.output_item.added","output_index":0,"item":{"id":"m","type":"message","status":"in_progress","content":[],"role":"assistant"}}`
	complete = `{"type":"response.completed","response":{"status":"completed","error":null,"incomplete_details":null,"output":[],"usage":{"input_tokens":3,"output_tokens":2,"total_tokens":5}}}`
)

// text is an event that adds s, which needs no escapes, to the answer.
func text(s string) string {
	return `{"type":"response.output_text.delta","item_id":"m","output_index":0,"content_index":0,"delta":"` + s + `"}`
}

func thought(s string) string {
	return `{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"` + s + `"}`
}

func incomplete(reason string) string {
	return `{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"` + reason + `"}}}`
}

func failed(code string) string {
	return `{"type":"response.failed","response":{"status":"failed","error":{"code":"` + code + `","message":"oops"}}}`
}

func TestHostileServers(t *testing.T) {
	fails := func(class provider.Class, partial string, events ...string) hostile.Failed {
		return hostile.Failed{Events: events, Class: class, Partial: partial}
	}
	hostile.Run(t, hostile.Wire{
		Open: open, Path: "responses", KeyHeader: "Authorization", KeyPrefix: "Bearer ",
		Text:     text,
		Thinking: thought,
		End:      []string{complete},
		Error: func(kind, s string) string {
			return `{"type":"error","sequence_number":1,"code":"` + kind + `","message":"` + s + `","param":null}`
		},
		Failures: map[string]hostile.Failed{
			"a text that is done and no end":       fails(provider.ClassInterrupted, "par", created, added, text("par"), `{"type":"response.output_text.done","text":"par"}`, `{"type":"response.output_item.done","output_index":0,"item":{"type":"message"}}`),
			"DONE and nothing else":                fails(provider.ClassInterrupted, "", "[DONE]"),
			"failed":                               fails(provider.ClassInterrupted, "par", text("par"), failed("server_error")),
			"failed for the rate":                  fails(provider.ClassRateLimit, "par", text("par"), failed("rate_limit_exceeded")),
			"failed for the length":                fails(provider.ClassContextOverflow, "par", text("par"), failed("context_length_exceeded")),
			"failed without an error":              fails(provider.ClassInterrupted, "par", text("par"), `{"type":"response.failed","response":{"status":"failed","error":null}}`),
			"completed, but failed":                fails(provider.ClassInterrupted, "par", text("par"), `{"type":"response.completed","response":{"status":"failed","error":{"message":"oops"}}}`),
			"cancelled":                            fails(provider.ClassInterrupted, "par", text("par"), `{"type":"response.cancelled","response":{"status":"cancelled"}}`),
			"completed, but still under way":       fails(provider.ClassInterrupted, "par", text("par"), `{"type":"response.completed","response":{"status":"in_progress"}}`),
			"incomplete for nobody knows what":     fails(provider.ClassInterrupted, "par", text("par"), incomplete("tired")),
			"completed without a response":         fails(provider.ClassInterrupted, "", `{"type":"response.completed"}`),
			"an answer in an item of another kind": fails(provider.ClassBadRequest, "", `{"type":"response.output_item.added","output_index":0,"item":{"type":"image_generation_call"}}`, complete),
			"an event of another shape":            fails(provider.ClassInterrupted, "par", text("par"), `{"type":7}`),
			"an error in an error's own member":    fails(provider.ClassRateLimit, "par", text("par"), `{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`),
		},
	})
}

func TestTheCallsOfAnAnswerAreBounded(t *testing.T) {
	a := answer{Answer: upstream.Answer{Emit: func(provider.Event) error { return nil }}}
	for i := range upstream.MaxToolCalls {
		require.NoError(t, a.added(i*1000, []byte(`{"type":"function_call","call_id":"c","name":"f"}`)))
	}
	assert.Equal(t, provider.ClassTooLarge, hostile.Failure(a.added(1<<30, []byte(`{"type":"function_call"}`))).Class)
}
