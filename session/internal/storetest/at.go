package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/session"
)

// Stamp is a time as records bear it.
func Stamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

// HeaderAt is a header record of session id, made at that time in the folder
// cwd.
func HeaderAt(id string, at time.Time, cwd string) []byte {
	return fmt.Appendf(nil, `{"v":1,"t":"session","id":%q,"createdAt":%q,"settings":{"cwd":%q}}`, id, Stamp(at), cwd)
}

// SettingsAt is a record of settings that were made at that time.
func SettingsAt(at time.Time, title, cwd string) []byte {
	return fmt.Appendf(nil, `{"v":1,"t":"settings","at":%q,"settings":{"title":%q,"cwd":%q}}`, Stamp(at), title, cwd)
}

// TurnAt is the record of a turn that was committed at that time.
func TurnAt(turn int, at time.Time) []byte {
	return fmt.Appendf(nil, `{"v":1,"t":"turn","turn":%d,"runId":"r","at":%q,"messages":[{"at":"9999-01-01T00:00:00.000Z"}]}`, turn, Stamp(at))
}

// FailedAt is the record of a turn that failed at that time.
func FailedAt(turn int, at time.Time) []byte {
	return fmt.Appendf(nil, `{"v":1,"t":"failed","turn":%d,"runId":"r","at":%q,"kind":"network"}`, turn, Stamp(at))
}

// Partial is the record of a piece of a turn's answer.
func Partial(turn int, text string) []byte {
	return fmt.Appendf(nil, `{"v":1,"t":"partial","turn":%d,"runId":"r%d","text":%q}`, turn, turn, text)
}

// Write makes a session of these records, the header first, and closes its
// log.
func Write(t testing.TB, store session.Store, id string, records ...[]byte) {
	t.Helper()
	l, err := store.Create(id, records[0])
	require.NoError(t, err)
	for _, r := range records[1:] {
		require.NoError(t, l.Append(r))
	}
	require.NoError(t, l.Close())
}
