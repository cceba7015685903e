package redact_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/redact"
)

func TestHide(t *testing.T) {
	inner, err := redact.New(redact.Value{Secret: redact.NewSecret("inner-secret")})
	require.NoError(t, err)
	other, err := redact.New(redact.Value{Secret: redact.NewSecret("other-secret")})
	require.NoError(t, err)
	cause := errors.New("cause")

	assert.NoError(t, redact.Hide(nil, inner))
	assert.Same(t, other, redact.Hider(cause, other), "an error that nobody hid")
	hidden := fmt.Errorf("wrapped: %w", redact.Hide(cause, inner))
	assert.ErrorIs(t, hidden, cause)
	assert.Same(t, inner, redact.Hider(hidden, other))
	assert.Equal(t, "wrapped: cause", hidden.Error())
}
