package session_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/filestore"
	"github.com/prism-rpc/prism-rpc/session/memstore"
)

// heap is what is in use after a collection.
func heap() int {
	runtime.GC()
	runtime.GC() // what finalizers freed
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int(stats.HeapAlloc)
}

// quiet is a model that does not keep what it was asked.
type quiet struct{ *model }

func (q quiet) Stream(ctx context.Context, req *provider.Request, emit func(provider.Event) error) (*provider.Result, error) {
	return q.answer(ctx, req, emit)
}

// keptElsewhere is more sessions than the manager keeps the last request of, to
// compare previews with: these talk first, so that what it keeps is no cost of
// those that are measured.
const keptElsewhere = 100

const idleSessions = 1000

// idleCost is the memory of each of many sessions with one turn, and of their
// histories.
func idleCost(t testing.TB, store session.Store, after func()) (each, history int) {
	m, err := session.NewManager(session.Config{Provider: quiet{says("An answer.")}, Store: store})
	require.NoError(t, err)
	defer m.Close()
	talk := func(id string) int {
		s, err := m.Open(id)
		require.NoError(t, err)
		_, err = s.Run(t.Context(), input("A question of some length, so that there is a history."), session.RunOptions{})
		require.NoError(t, err)
		size := 0
		for _, msg := range s.Messages(0, 10).Messages {
			size += len(msg.Content[0].Text) + len(`{"role":"assistant","content":""},`)
		}
		return size
	}
	for i := range keptElsewhere {
		talk(fmt.Sprint("before", i))
	}
	before := heap()
	for i := range idleSessions {
		history += talk(fmt.Sprint("s", i))
	}
	after()
	each = (heap() - before) / idleSessions
	runtime.KeepAlive(m)
	return each, history / idleSessions
}

// BenchmarkIdleSession measures what a session costs beside its history: by
// itself, and with the file that it keeps open until it rests.
func BenchmarkIdleSession(b *testing.B) {
	for b.Loop() {
		each, history := idleCost(b, forgetful{memstore.New()}, func() {})
		b.ReportMetric(float64(each-history), "B/session")
		store, err := filestore.Open(b.TempDir(), filestore.Options{})
		require.NoError(b, err)
		each, history = idleCost(b, store, func() {})
		b.ReportMetric(float64(each-history), "B/session-with-file")
		require.NoError(b, store.Close())
	}
}

// forgetful is a store that keeps nothing in memory, so that what is left is the
// sessions.
type forgetful struct{ session.Store }

func (forgetful) Create(string, []byte) (session.Log, error) { return forgetfulLog{}, nil }

func (forgetful) Open(string, func([]byte) error) (session.Log, error) {
	return nil, session.ErrNotFound
}

type forgetfulLog struct{}

func (forgetfulLog) Append([]byte) error      { return nil }
func (forgetfulLog) Attach([]byte) error      { return nil }
func (forgetfulLog) Commit(int, []byte) error { return nil }
func (forgetfulLog) Sync() error              { return nil }
func (forgetfulLog) Mark() session.Mark       { return "mark" }
func (forgetfulLog) Close() error             { return nil }

func TestAnIdleSessionCostsLessThanAKilobyteBesideItsHistory(t *testing.T) {
	none := func(*testing.T) session.Store { return forgetful{memstore.New()} }
	stay, rest := func() {}, func() { time.Sleep(2 * idle); synctest.Wait() }
	for claim, c := range map[string]struct {
		store func(*testing.T) session.Store
		after func()
	}{
		"idle":                    {none, stay},
		"at rest":                 {none, rest},
		"idle with its file open": {inFiles, stay},
	} {
		t.Run(claim, func(t *testing.T) {
			store := c.store(t)
			synctest.Test(t, func(t *testing.T) {
				routines := runtime.NumGoroutine()
				each, history := idleCost(t, store, c.after)
				assert.Less(t, each-history, 1024)
				assert.LessOrEqual(t, runtime.NumGoroutine(), routines+2, "no goroutine of its own")
			})
		})
	}
}

func inFiles(t *testing.T) session.Store {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("an open file takes more memory there")
	}
	store, err := filestore.Open(t.TempDir(), filestore.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, store.Close()) })
	return store
}
