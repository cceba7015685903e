package redact_test

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/prism-rpc/prism-rpc/redact"
)

const canary = "hunter2hunter2"

// A holder has a Secret where fmt can and can't call its methods.
type holder struct {
	Open   redact.Secret
	Ptr    *redact.Secret
	closed redact.Secret
	List   []redact.Secret
	Map    map[string]redact.Secret
}

func newHolder() holder {
	s := redact.NewSecret(canary)
	return holder{s, &s, s, []redact.Secret{s}, map[string]redact.Secret{"k": s}}
}

func TestSecretPrintsRedacted(t *testing.T) {
	s := redact.NewSecret(canary)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "% x", "%10.3s"} {
		assert.Equal(t, "[redacted]", fmt.Sprintf(verb, s), verb)
		assert.Equal(t, "[redacted]", fmt.Sprintf(verb, &s), verb)
		for _, held := range []any{newHolder(), []holder{newHolder()}, map[redact.Secret]int{s: 1}} {
			shown := fmt.Sprintf(verb, held)
			assert.NotContains(t, shown, canary, verb)
			assert.NotContains(t, shown, fmt.Sprintf("%x", canary), verb)
		}
	}
	assert.Equal(t, canary, s.Reveal())
	assert.Empty(t, redact.Secret{}.Reveal())
	assert.Equal(t, "[redacted]", redact.Secret{}.String())
}

func TestSecretEncodesRedacted(t *testing.T) {
	h := newHolder()
	assert.Equal(t, canary, h.closed.Reveal())
	v1, err := stdjson.Marshal(h)
	require.NoError(t, err)
	v2, err := json.Marshal(h)
	require.NoError(t, err)
	for _, out := range [][]byte{v1, v2} {
		assert.NotContains(t, string(out), canary)
		assert.Contains(t, string(out), `"Open":"[redacted]"`)
	}
	key, err := json.Marshal(map[redact.Secret]int{h.Open: 1})
	require.NoError(t, err)
	assert.Equal(t, `{"[redacted]":1}`, string(key))
}

func TestSecretLogsRedacted(t *testing.T) {
	var out bytes.Buffer
	core := zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.AddSync(&out), zap.DebugLevel)
	h := newHolder()
	zap.New(core).Info("m", zap.Any("s", h.Open), zap.Any("p", h.Ptr), zap.Any("h", h), zap.Reflect("r", h.List), zap.Stringer("x", h.Open))
	slog.New(slog.NewTextHandler(&out, nil)).Info("m", "s", h.Open, "h", h)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("m", "s", h.Open, "h", h)
	assert.Contains(t, out.String(), "[redacted]")
	assert.NotContains(t, out.String(), canary)
}
