package anthropic

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
	begin = `{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"model":"m","stop_reason":null,"usage":{"input_tokens":3,"output_tokens":1}}}`
	ping  = `{"type":"ping"}`
	block = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	end   = `{"type":"content_block_stop","index":0}`
	stop  = `{"type":"message_stop"}`
)

// text is an event that adds s, which needs no escapes, to the answer.
func text(s string) string {
	return `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"` + s + `"}}`
}

func thought(s string) string {
	return `{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"` + s + `"}}`
}

// finish is the event that tells the reason to stop.
func finish(reason string) string {
	return `{"type":"message_delta","delta":{"stop_reason":"` + reason + `","stop_sequence":null},"usage":{"output_tokens":2}}`
}

func TestHostileServers(t *testing.T) {
	fails := func(class provider.Class, partial string, events ...string) hostile.Failed {
		return hostile.Failed{Events: events, Class: class, Partial: partial}
	}
	hostile.Run(t, hostile.Wire{
		Open: open, Path: "messages", KeyHeader: "X-Api-Key",
		Text:     text,
		Thinking: thought,
		End:      []string{finish("end_turn"), stop},
		Error: func(kind, s string) string {
			return `{"type":"error","error":{"type":"` + kind + `","message":"` + s + `"}}`
		},
		Failures: map[string]hostile.Failed{
			"a reason to stop and no end of the message": fails(provider.ClassInterrupted, "par", begin, block, text("par"), end, finish("end_turn")),
			"an end of the message and nothing else":     fails(provider.ClassInterrupted, "", begin, stop),
			"an unknown reason to stop and no text":      fails(provider.ClassInterrupted, "", begin, finish("pause_turn"), stop),
			"an overload before any text":                fails(provider.ClassOverloaded, "", begin, ping, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`),
			"an event of another shape":                  fails(provider.ClassInterrupted, "par", text("par"), `{"type":"content_block_delta","delta":5}`),
			"a member of an error within an event":       fails(provider.ClassInterrupted, "par", text("par"), `{"type":"ping","error":{"message":"oops"}}`),
			"[DONE] is of another API":                   fails(provider.ClassInterrupted, "par", text("par"), "[DONE]"),
			"content that is no text":                    fails(provider.ClassBadRequest, "", begin, `{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"s"}}`, finish("end_turn"), stop),
		},
	})
}

func TestTheCallsOfAnAnswerAreBounded(t *testing.T) {
	a := answer{Answer: upstream.Answer{Emit: func(provider.Event) error { return nil }}}
	for i := range upstream.MaxToolCalls {
		require.NoError(t, a.start(i*1000, &contentBlock{Type: "tool_use", ID: "c", Name: "f"}))
	}
	assert.Equal(t, provider.ClassTooLarge, hostile.Failure(a.start(1<<30, &contentBlock{Type: "tool_use"})).Class)
}
