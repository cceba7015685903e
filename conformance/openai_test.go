package conformance

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/provider/openai"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
)

func adapter(t *testing.T, server *aimock, key string) *openai.Provider {
	p, err := openai.New(openai.Options{BaseURL: server.url + "/v1", Key: redact.NewSecret(key)})
	require.NoError(t, err)
	return p
}

func request(input string) *provider.Request {
	return &provider.Request{Model: "gpt-4o-mini", Segments: []provider.Segment{
		{Kind: provider.SegmentSystem, Messages: []provider.Message{provider.Text(schema.RoleSystem, "Be brief.")}},
		{Kind: provider.SegmentInput, Messages: []provider.Message{provider.Text(schema.RoleUser, input)}},
	}}
}

func call(ctx context.Context, p *openai.Provider, input string) (text, thinking string, res *provider.Result, err error) {
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
	server := startAimock(t)
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
			text, thinking, res, err := call(t.Context(), adapter(t, server, apiKey), input)
			require.NoError(t, err)
			assert.Equal(t, want.text, text)
			assert.Equal(t, want.thinking, thinking)
			assert.Equal(t, want.stop, res.StopReason)
			assert.NotNil(t, res.Usage.InputTokens)
			assert.NotNil(t, res.Usage.OutputTokens)
		})
	}
	for _, e := range server.journal(t) {
		assert.Equal(t, "/v1/chat/completions", e.Path)
		assert.True(t, e.Body.Stream)
		assert.Equal(t, message{"system", "Be brief."}, e.Body.Messages[0])
		assert.Len(t, e.Body.Messages, 2)
	}
}

func TestAdapterClassesFailures(t *testing.T) {
	server := startAimock(t)
	for input, want := range failures {
		t.Run(input, func(t *testing.T) {
			t.Parallel()
			text, _, res, err := call(t.Context(), adapter(t, server, apiKey), input)
			var failed *provider.Error
			require.ErrorAs(t, err, &failed)
			assert.Equal(t, want.class, failed.Class)
			assert.Equal(t, want.partial, text != "")
			assert.Nil(t, res)
		})
	}
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
	server := startAimock(t)
	_, _, _, err := call(t.Context(), adapter(t, server, "sk-wrong-key"), "hello")
	var failed *provider.Error
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, provider.ClassAuth, failed.Class)
	assert.NotContains(t, err.Error(), "sk-wrong-key")
}

func TestAdapterEndsWithItsContext(t *testing.T) {
	server := startAimock(t)
	ctx, cancel := context.WithCancel(t.Context())
	start := time.Now()
	_, err := adapter(t, server, apiKey).Stream(ctx, request("patience"), func(provider.Event) error {
		cancel()
		return nil
	})
	assert.ErrorIs(t, err, context.Canceled)
	assert.Less(t, time.Since(start), 5*time.Second)
}
