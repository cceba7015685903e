package conformance

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/provider/anthropic"
	"github.com/prism-rpc/prism-rpc/provider/openai"
	"github.com/prism-rpc/prism-rpc/provider/openairesponses"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
)

// adapters are all that speak to the server, by the path that each asks.
func adapters(t *testing.T, server *aimock, key string) map[string]provider.Provider {
	secret := redact.NewSecret(key)
	chat, err := openai.New(openai.Options{BaseURL: server.url + "/v1", Key: secret})
	require.NoError(t, err)
	responses, err := openairesponses.New(openairesponses.Options{BaseURL: server.url + "/v1", Key: secret})
	require.NoError(t, err)
	messages, err := anthropic.New(anthropic.Options{BaseURL: server.url, Key: secret})
	require.NoError(t, err)
	return map[string]provider.Provider{"/v1/chat/completions": chat, "/v1/responses": responses, "/v1/messages": messages}
}

// forEach runs a test for each adapter, with a server of its own.
func forEach(t *testing.T, key string, test func(t *testing.T, server *aimock, path string, p provider.Provider)) {
	for _, path := range []string{"/v1/chat/completions", "/v1/responses", "/v1/messages"} {
		t.Run(path, func(t *testing.T) {
			server := startAimock(t)
			test(t, server, path, adapters(t, server, key)[path])
		})
	}
}

func request(input string) *provider.Request {
	return &provider.Request{Model: "gpt-4o-mini", Segments: []provider.Segment{
		{Kind: provider.SegmentSystem, Messages: []provider.Message{provider.Text(schema.RoleSystem, "Be brief.")}},
		{Kind: provider.SegmentInput, Messages: []provider.Message{provider.Text(schema.RoleUser, input)}},
	}}
}

func call(ctx context.Context, p provider.Provider, input string) (text, thinking string, res *provider.Result, err error) {
	var answer, thoughts strings.Builder
	res, err = p.Stream(ctx, request(input), func(e provider.Event) error {
		if e.Kind == provider.EventThinking {
			thoughts.WriteString(e.Text)
		} else {
			answer.WriteString(e.Text)
		}
		return nil
	})
	return answer.String(), thoughts.String(), res, err
}

func TestAdapterReadsAnswers(t *testing.T) {
	forEach(t, apiKey, func(t *testing.T, server *aimock, path string, p provider.Provider) {
		for input, want := range map[string]struct {
			text, thinking string
			stop           schema.StopReason
		}{
			"hello":      {"Hello there, how are you today?", "", schema.StopEndTurn},
			"characters": {"Grüße 😀 你好 \u2028 \"quoted\" \\ 𝄞", "", schema.StopEndTurn},
			"think":      {"42.", "Let me see.", schema.StopEndTurn},
			"too long":   {"and so on and", "", schema.StopMaxTokens},
			"forbidden":  {"", "", schema.StopRefusal},
		} {
			t.Run(input, func(t *testing.T) {
				text, thinking, res, err := call(t.Context(), p, input)
				if input == "forbidden" && path == "/v1/responses" {
					assert.Error(t, err) // there the server has it fail
					return
				}
				require.NoError(t, err)
				assert.Equal(t, want.text, text)
				assert.Equal(t, want.thinking, thinking)
				assert.Equal(t, want.stop, res.StopReason)
				assert.NotNil(t, res.Usage.InputTokens)
				assert.NotNil(t, res.Usage.OutputTokens)
			})
		}
		for _, e := range server.journal(t) {
			assert.Equal(t, path, e.Path)
			assert.True(t, e.Body.Stream)
			assert.Equal(t, message{"system", "Be brief."}, e.Body.Messages[0])
			assert.Len(t, e.Body.Messages, 2)
		}
	})
}

func TestAdapterClassesFailures(t *testing.T) {
	forEach(t, apiKey, func(t *testing.T, _ *aimock, _ string, p provider.Provider) {
		for input, want := range failures {
			t.Run(input, func(t *testing.T) {
				t.Parallel()
				text, _, res, err := call(t.Context(), p, input)
				var failed *provider.Error
				require.ErrorAs(t, err, &failed)
				assert.Equal(t, want.class, failed.Class)
				assert.Equal(t, want.partial, text != "")
				assert.Nil(t, res)
			})
		}
	})
}

// failures are the inputs that the server answers wrongly.
var failures = map[string]struct {
	class   provider.Class
	partial bool
}{
	"slow down":   {provider.ClassRateLimit, false},
	"no money":    {provider.ClassQuota, false},
	"huge":        {provider.ClassContextOverflow, false},
	"who are you": {provider.ClassAuth, false},
	"cut":         {provider.ClassInterrupted, true},
	"break":       {provider.ClassNetwork, false},
	"garble":      {provider.ClassBadRequest, false},
	"drop":        {provider.ClassOverloaded, false},
}

func TestAdapterSendsItsKey(t *testing.T) {
	forEach(t, "sk-wrong-key", func(t *testing.T, _ *aimock, _ string, p provider.Provider) {
		_, _, _, err := call(t.Context(), p, "hello")
		var failed *provider.Error
		require.ErrorAs(t, err, &failed)
		assert.Equal(t, provider.ClassAuth, failed.Class)
		assert.NotContains(t, err.Error(), "sk-wrong-key")
	})
}

func TestAdapterEndsWithItsContext(t *testing.T) {
	forEach(t, apiKey, func(t *testing.T, _ *aimock, _ string, p provider.Provider) {
		ctx, cancel := context.WithCancel(t.Context())
		start := time.Now()
		_, err := p.Stream(ctx, request("patience"), func(provider.Event) error {
			cancel()
			return nil
		})
		assert.ErrorIs(t, err, context.Canceled)
		assert.Less(t, time.Since(start), 5*time.Second)
	})
}
