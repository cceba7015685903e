package session_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
)

func TestARetryIsAnEventAndNoText(t *testing.T) {
	retried := provider.Retry{Attempt: 2, Delay: 1500 * time.Millisecond, Class: provider.ClassRateLimit}
	p := &model{answer: func(_ context.Context, _ *provider.Request, emit func(provider.Event) error) (*provider.Result, error) {
		if err := emit(provider.Event{Kind: provider.EventRetry, Retry: retried}); err != nil {
			return nil, err
		}
		return &provider.Result{StopReason: schema.StopEndTurn}, emit(provider.Event{Text: "ok"})
	}}
	seen := &recorder{}
	run := begin(t, newManager(t, session.Config{Provider: p}), "s", "hi", false, session.RunOptions{OnEvent: seen.take})
	assert.Equal(t, "ok", schema.PlainText(wait(t, run).Message.Content))
	require.Equal(t, []schema.EventType{schema.EventTurnStarted, schema.EventRetry, schema.EventMessageDelta, schema.EventTurnEnded}, seen.types())
	got, ok := seen.events[1].(*schema.RetryEvent)
	require.True(t, ok)
	assert.Equal(t, schema.RetryEvent{EventHeader: got.EventHeader, Attempt: 2, DelayMs: 1500, Class: "rate_limit"}, *got)
}

// What a provider says is redacted as it came, and only then escaped and cut.
func TestAFailureHoldsNoPartOfASecret(t *testing.T) {
	for name, row := range map[string]struct{ secret, said, want string }{
		"of controls":              {"pass\x1bword\u202e1", "no pass\x1bword\u202e1", "no [REDACTED]"},
		"of white space":           {"pass \n\t word", "no pass \n\t word", "no [REDACTED]"},
		"across the place of cut":  {"0123456789abcdef", strings.Repeat("x", 1010) + "0123456789abcdef", strings.Repeat("x", 1010) + "[REDACTED]"},
		"longer than what is told": {strings.Repeat("0123456789abcdef", 512), "no " + strings.Repeat("0123456789abcdef", 512), "no [REDACTED]"},
	} {
		t.Run(name, func(t *testing.T) {
			red, err := redact.New(redact.Value{Secret: redact.NewSecret(row.secret)})
			require.NoError(t, err)
			p := &model{answer: func(context.Context, *provider.Request, func(provider.Event) error) (*provider.Result, error) {
				return nil, &provider.Error{Class: provider.ClassBadRequest, Message: row.said}
			}}
			_, err = begin(t, newManager(t, session.Config{Provider: p, Redactor: red}), "s", "hi", false, session.RunOptions{}).Wait()
			var failed *session.ProviderError
			require.ErrorAs(t, err, &failed)
			assert.Equal(t, row.want, failed.Failure.Message)
		})
	}
}

func TestAFailureIsFitToBeShown(t *testing.T) {
	p := &model{answer: func(context.Context, *provider.Request, func(provider.Event) error) (*provider.Result, error) {
		return nil, &provider.Error{Class: provider.ClassBadRequest, Message: "\x1b[31m" + strings.Repeat("é", 1<<15)}
	}}
	_, err := begin(t, newManager(t, session.Config{Provider: p}), "s", "hi", false, session.RunOptions{}).Wait()
	var failed *session.ProviderError
	require.ErrorAs(t, err, &failed)
	assert.LessOrEqual(t, len(failed.Failure.Message), 1024)
	assert.True(t, strings.HasPrefix(failed.Failure.Message, `\u001b[31mé`))
}
