// Package storetest is what every session.Store must keep to, as tests.
package storetest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/session"
)

// Run tests the stores that open makes, an empty one for each test.
func Run(t *testing.T, open func(t *testing.T) session.Store) {
	for _, c := range []struct {
		claim string
		test  func(*testing.T, session.Store)
	}{
		{"records come back as they were given", replaysExactly},
		{"nasty records come back as they were given", replaysNasty},
		{"a session that nobody made is not found", notFound},
		{"what is no session id names nothing", badIDs},
		{"a session is made once", createdOnce},
		{"a header that names another session makes nothing", wrongHeader},
		{"what is no record leaves the log as it was", badRecords},
		{"U12 a session has one writer, the second is told of it", oneWriter},
		{"a session that is held can be read", readWhileHeld},
		{"P3 turns rise by one, a conflict leaves nothing", conflict},
		{"a copied log goes on where it ends", copied},
		{"an error of replay ends it and frees the session", replayError},
		{"replay may use the store", replayReenters},
		{"replay may spoil its record", replayScribbles},
		{"a record's bytes may be used again", reusedBuffer},
		{"of many that make a session at once one wins", raceCreate},
		{"of many that open a session at once one wins", raceOpen},
		{"sessions don't wait for each other", parallelSessions},
		{"U11 pieces of an answer stand in their turn", partials},
		{"a copy holds the same turns, and goes its own way", forks},
		{"a log that was given back goes on from where it was", resumes},
		{"a log that is another one goes on from nowhere", resumesNothingElse},
		{"a list shows each session, the newest first", listShows},
		{"a list goes with the logs", listGoesWithLogs},
		{"a list is paged while sessions come and go", listPages},
		{"a list refuses a cursor that it never gave", badCursors},
		{"a list copes with odd times", listOddTimes},
		{"a list copes with odd text", listOddText},
		{"a list can be made while turns are committed", listWhileBusy},
		{"a deleted session is gone, and may be deleted again", deletes},
		{"a session that is held can't be deleted", deleteHeld},
		{"what is old and held by nobody is pruned", prunes},
		{"what is attached comes back by its hash", attaches},
		{"what is attached can be read while the session is held", attachesWhileHeld},
		{"what is attached goes with the session", deletesAttachments},
		{"what is attached to what is old is pruned", prunesAttachments},
		{"a closed store lists and deletes nothing", closedStoreLists},
		{"a closed log takes nothing more", closedLog},
		{"a closed store does nothing more", closedStore},
	} {
		t.Run(c.claim, func(t *testing.T) {
			store := open(t)
			t.Cleanup(func() { assert.NoError(t, store.Close()) })
			c.test(t, store)
		})
	}
}

// Header is a header record of session id.
func Header(id string) []byte {
	return fmt.Appendf(nil, `{"v":1,"t":"session","id":%q,"createdAt":"2026-01-02T03:04:05.000Z","settings":{}}`, id)
}

// Started is a record of a turn that has begun.
func Started(turn int) []byte {
	return fmt.Appendf(nil, `{"v":1,"t":"started","turn":%d,"runId":"r%d","input":"hi"}`, turn, turn)
}

// Turn is the record of a turn in which text was answered.
func Turn(turn int, text string) []byte {
	return fmt.Appendf(nil, `{"v":1,"t":"turn","turn":%d,"runId":"r%d","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":%q}]}`,
		turn, turn, text)
}

// Fill makes session id with turns turns in it, and closes its log. It returns
// the records, the header first.
func Fill(t testing.TB, store session.Store, id string, turns int) [][]byte {
	t.Helper()
	records := [][]byte{Header(id)}
	l, err := store.Create(id, records[0])
	require.NoError(t, err)
	for n := 1; n <= turns; n++ {
		started, turn := Started(n), Turn(n, fmt.Sprintf("answer %d", n))
		require.NoError(t, l.Append(started))
		require.NoError(t, l.Commit(n, turn))
		records = append(records, started, turn)
	}
	require.NoError(t, l.Close())
	return records
}

// Read is the records of session id.
func Read(t testing.TB, store session.Store, id string) [][]byte {
	t.Helper()
	var records [][]byte
	require.NoError(t, store.Read(id, Collect(&records)))
	return records
}

// Reopen opens session id and returns its log and its records.
func Reopen(t testing.TB, store session.Store, id string) (session.Log, [][]byte) {
	t.Helper()
	var records [][]byte
	l, err := store.Open(id, Collect(&records))
	require.NoError(t, err)
	return l, records
}

// Collect is a replay that keeps copies of the records.
func Collect(into *[][]byte) func([]byte) error {
	return func(record []byte) error {
		*into = append(*into, append([]byte{}, record...))
		return nil
	}
}

// Ignore is a replay that keeps nothing.
func Ignore([]byte) error { return nil }
