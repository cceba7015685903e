package session_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
)

// A catalogue is a model that knows its names.
type catalogue struct {
	*model
	models []provider.Model
	err    error
}

func (c catalogue) Models(context.Context) ([]provider.Model, error) {
	if c.err == nil {
		return c.models, nil
	}
	return nil, c.err
}

func TestModelsAreTold(t *testing.T) {
	const secret = "correct-horse-battery"
	known, err := redact.New(redact.Value{Name: "pw", Secret: redact.NewSecret(secret)})
	require.NoError(t, err)
	ask := func(ctx context.Context, c catalogue) (*schema.ListModelsResult, error) {
		m, err := session.NewManager(session.Config{Provider: says("x"), Providers: map[string]provider.Provider{"other": c}, Redactor: known})
		require.NoError(t, err)
		defer m.Close()
		list, err := m.BeginModels("other")
		require.NoError(t, err)
		return list(ctx)
	}
	got, err := ask(t.Context(), catalogue{models: []provider.Model{
		{ID: "b", Name: "B\x1b[31m of " + secret, ContextTokens: 7}, {ID: "a"}, {ID: "m-" + secret}, {ID: "m\u202e"}, {ID: "m\n"},
	}})
	require.NoError(t, err)
	require.Len(t, got.Models, 2, "those that can be named in a request")
	assert.Equal(t, schema.ModelInfo{Model: "a"}, got.Models[1])
	assert.Equal(t, "b", got.Models[0].Model)
	assert.NotContains(t, got.Models[0].Name, secret)
	assert.NotContains(t, got.Models[0].Name, "\x1b")

	_, err = ask(t.Context(), catalogue{err: &provider.Error{Class: provider.ClassAuth, Status: 401, Message: "no " + secret, Err: assert.AnError}})
	var failed *session.ProviderError
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, provider.Error{Class: provider.ClassAuth, Status: 401, Message: "no [REDACTED:pw]"}, *failed.Failure)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = ask(ctx, catalogue{err: &provider.Error{Class: provider.ClassInterrupted, Err: context.Canceled}})
	assert.ErrorIs(t, err, context.Canceled)
	assert.NotErrorAs(t, err, &failed, "a cancelled request is answered as such")
}
