package session_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/memstore"
)

func TestASummaryHoldsNoSecret(t *testing.T) {
	red, err := redact.New(redact.Value{Secret: redact.NewSecret("hunter2-hunter2")})
	require.NoError(t, err)
	store := memstore.New()
	p := summarises(counting("yes"), ends("the password is hunter2-hunter2, later tell-me-later", schema.StopEndTurn))
	m := newManager(t, session.Config{Provider: p, Redactor: red, Store: store})
	ask(t, m, "s", "one", session.RunOptions{})
	mustCompact(t, m, "s")
	require.NoError(t, m.Learn([]schema.SecretValue{{Value: "tell-me-later"}}))
	ask(t, m, "s", "two", session.RunOptions{})
	sent := historyOf(p.asked()[2])
	assert.Contains(t, sent, "[REDACTED]")
	assert.NotContains(t, sent, "hunter2-hunter2")
	assert.NotContains(t, sent, "tell-me-later")
	require.NoError(t, store.Read("s", func(record []byte) error {
		assert.NotContains(t, string(record), "hunter2-hunter2")
		return nil
	}))
}

func TestAForkTakesTheCompactionsOfItsTurns(t *testing.T) {
	for name, store := range map[string]session.Store{"with a store": memstore.New(), "without": nil} {
		t.Run(name, func(t *testing.T) {
			p := summarises(counting("yes"), counting("SUM"))
			m := newManager(t, session.Config{Provider: p, Store: store})
			ask(t, m, "s", "one", session.RunOptions{})
			ask(t, m, "s", "two", session.RunOptions{})
			mustCompact(t, m, "s")
			ask(t, m, "s", "three", session.RunOptions{})
			for turn, generation := range map[int]int{1: 0, 2: 1, 3: 1} {
				id := fmt.Sprint("f", turn)
				fork, err := m.Fork("s", turn, id)
				require.NoError(t, err)
				assert.Equal(t, generation, fork.State().Generation)
				ask(t, m, id, "on", session.RunOptions{})
				sent := historyOf(p.asked()[len(p.asked())-1])
				assert.Equal(t, generation == 0, strings.Contains(sent, "one"))
				assert.Len(t, messagesOf(t, m, id), 2*turn+2)
			}
		})
	}
}

// failing is a store of which the logs refuse compactions.
type failing struct {
	session.Store
	err error
}

func (f *failing) Create(id string, header []byte) (session.Log, error) {
	log, err := f.Store.Create(id, header)
	return &failingLog{log, f}, err
}

type failingLog struct {
	session.Log
	store *failing
}

func (l *failingLog) Append(record []byte) error {
	if strings.Contains(string(record), `"t":"compaction"`) && l.store.err != nil {
		return l.store.err
	}
	return l.Log.Append(record)
}

func TestACompactionThatCantBeKeptIsNone(t *testing.T) {
	p := summarises(counting("yes"), counting("SUM"))
	store := &failing{memstore.New(), errors.New("the disk is full")}
	m := newManager(t, session.Config{Provider: p, Store: store})
	ask(t, m, "s", "one", session.RunOptions{})
	before := state(t, m, "s")
	var seen recorder
	_, err := compact(t, m, "s", session.CompactOptions{OnEvent: seen.take})
	assert.ErrorIs(t, err, session.ErrStore)
	event, ok := seen.events[1].(*schema.CompactionFailed)
	require.True(t, ok)
	assert.Equal(t, "store_error", event.Kind)
	assert.Equal(t, before, state(t, m, "s"))
	store.err = nil
	assert.Equal(t, 1, mustCompact(t, m, "s").Generation)
}

// A log is input: a compaction in it must be one.
func TestACompactionInALogIsChecked(t *testing.T) {
	const (
		turns   = `{"v":1,"t":"turn","turn":1,"runId":"a","at":"2026-01-01T00:00:00.000Z","stopReason":"end_turn","usage":{},"injected":[],"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}]}`
		good    = `{"v":1,"t":"compaction","turn":1,"generation":1,"runId":"b","at":"2026-01-01T00:00:00.000Z","usage":{},"summary":{"role":"user","content":"s"}}`
		without = `{"v":1,"t":"compaction","turn":1,"generation":1}`
	)
	for name, row := range map[string]struct {
		records []string
		good    bool
	}{
		"one":                               {[]string{good}, true},
		"two of the same turns":             {[]string{good, strings.Replace(good, `"generation":1`, `"generation":2`, 1)}, true},
		"one that was written twice":        {[]string{good, good}, true},
		"one without a summary":             {[]string{without}, false},
		"a summary that is no message":      {[]string{strings.Replace(good, `{"role":"user","content":"s"}`, `"s"`, 1)}, false},
		"a summary that the assistant said": {[]string{strings.Replace(good, `"user"`, `"assistant"`, 1)}, false},
		"no generation":                     {[]string{strings.Replace(good, `"generation":1`, `"generation":0`, 1)}, false},
		"a generation that falls":           {[]string{strings.Replace(good, `"generation":1`, `"generation":2`, 1), good}, false},
	} {
		t.Run(name, func(t *testing.T) {
			store := memstore.New()
			log, err := store.Create("s", []byte(`{"v":1,"t":"session","id":"s","createdAt":"2026-01-01T00:00:00.000Z","settings":{}}`))
			require.NoError(t, err)
			require.NoError(t, log.Commit(1, []byte(turns)))
			for _, record := range row.records {
				require.NoError(t, log.Append([]byte(record)))
			}
			require.NoError(t, log.Close())
			m := newManager(t, session.Config{Provider: says("x"), Store: store})
			s, err := m.Lookup("s")
			if !row.good {
				assert.ErrorIs(t, err, session.ErrStore)
				return
			}
			require.NoError(t, err)
			assert.Positive(t, s.State().Generation)
		})
	}
}
