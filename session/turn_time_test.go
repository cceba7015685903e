package session_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/internal/storetest"
	"github.com/prism-rpc/prism-rpc/session/memstore"
)

func TestTimeOfATurnIsThatOfItsRecord(t *testing.T) {
	const notKnown = "1970-01-01T00:00:00.000Z"
	for at, want := range map[string]string{
		"2026-01-02T03:04:05.678Z":         "2026-01-02T03:04:05.678Z",
		"2026-01-02T03:04:05.000Z":         "2026-01-02T03:04:05.000Z",
		"1969-12-31T23:59:59.999Z":         "1969-12-31T23:59:59.999Z",
		"0000-01-01T00:00:00.000Z":         "0000-01-01T00:00:00.000Z",
		"9999-12-31T23:59:59.999Z":         "9999-12-31T23:59:59.999Z",
		"2026-01-02T05:04:05.678999+02:00": "2026-01-02T03:04:05.678Z",
		"9999-12-31T23:59:59.999999-23:59": notKnown,
		"0000-01-01T00:00:00.000000+23:59": notKnown,
		"2026-02-30T00:00:00.000Z":         notKnown,
		"yesterday":                        notKnown,
		"":                                 notKnown,
	} {
		store := memstore.New()
		record := fmt.Appendf(nil, `{"v":1,"t":"turn","turn":1,"runId":"r","at":%q,"stopReason":"end_turn","usage":{},"injected":[],"messages":[{"role":"user","content":"hi"}]}`, at)
		storetest.Write(t, store, "s", storetest.Header("s"), record)
		m := newManager(t, session.Config{Store: store})
		s, err := m.View("s")
		require.NoError(t, err, "%q", at)
		require.Len(t, s.Messages(0, 1).Messages, 1)
		assert.Equal(t, want, s.Messages(0, 1).Messages[0].At, "%q", at)
	}
}
