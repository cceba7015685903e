package storetest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/session"
)

func replaysExactly(t *testing.T, store session.Store) {
	written := Fill(t, store, "s1", 3)
	assert.Equal(t, written, Read(t, store, "s1"))

	l, replayed := Reopen(t, store, "s1")
	assert.Equal(t, written, replayed)
	more := Turn(4, "more")
	require.NoError(t, l.Commit(4, more))
	require.NoError(t, l.Sync())
	require.NoError(t, l.Close())
	assert.Equal(t, append(written, more), Read(t, store, "s1"))
}

func replaysNasty(t *testing.T, store session.Store) {
	records := [][]byte{Header("s1")}
	for _, text := range []string{
		"\u2028\u2029\u0085", `\u0000\ud800`, `","crc":"00000000"}`, `,\"crc\":\"e3069283\"}`, "\r", "\t\x7f\xff\xfe",
		strings.Repeat("long ", 100_000), "",
	} {
		records = append(records, fmt.Appendf(nil, `{"v":1,"t":"started","input":"%s"}`, text))
	}
	records = append(records, []byte(`{"v":1,"t":"failed" }`), []byte(`{"t":"settings","v":1,"crc":"00000000"}`))

	l, err := store.Create("s1", records[0])
	require.NoError(t, err)
	for _, r := range records[1:] {
		require.NoError(t, l.Append(r))
	}
	require.NoError(t, l.Close())
	assert.Equal(t, records, Read(t, store, "s1"))
}

func notFound(t *testing.T, store session.Store) {
	_, err := store.Open("s1", Ignore)
	assert.ErrorIs(t, err, session.ErrNotFound)
	assert.ErrorIs(t, store.Read("s1", Ignore), session.ErrNotFound)
	exists, err := store.Exists("s1")
	require.NoError(t, err)
	assert.False(t, exists)

	Fill(t, store, "s1", 0)
	exists, err = store.Exists("s1")
	require.NoError(t, err)
	assert.True(t, exists)
}

func badIDs(t *testing.T, store session.Store) {
	for _, id := range []string{"", ".", "..", "../s1", "a/b", `a\b`, "/etc/passwd", "-x", "a.", "NUL", "com1.txt", "a\x00", "é", strings.Repeat("a", 129)} {
		_, err := store.Create(id, Header(id))
		assert.Error(t, err, "%q", id)
		_, err = store.Open(id, Ignore)
		assert.ErrorIs(t, err, session.ErrNotFound, "%q", id)
		assert.ErrorIs(t, store.Read(id, Ignore), session.ErrNotFound, "%q", id)
		exists, err := store.Exists(id)
		require.NoError(t, err)
		assert.False(t, exists, "%q", id)
	}
	Fill(t, store, strings.Repeat("a", 128), 1)
}

func createdOnce(t *testing.T, store session.Store) {
	written := Fill(t, store, "s1", 1)
	_, err := store.Create("s1", Header("s1"))
	assert.ErrorIs(t, err, session.ErrExists)

	l, _ := Reopen(t, store, "s1")
	_, err = store.Create("s1", Header("s1"))
	assert.ErrorIs(t, err, session.ErrExists, "while it is held")
	require.NoError(t, l.Close())
	assert.Equal(t, written, Read(t, store, "s1"))
}

func wrongHeader(t *testing.T, store session.Store) {
	for _, header := range [][]byte{
		Header("s2"), Header("S1"), Turn(1, ""), []byte(`{"v":1,"t":"session"}`), []byte(`{"v":2,"t":"session","id":"s1"}`),
		append(Header("s1"), '\n'), {}, nil,
	} {
		_, err := store.Create("s1", header)
		assert.Error(t, err, "%s", header)
		exists, err := store.Exists("s1")
		require.NoError(t, err)
		assert.False(t, exists, "%s", header)
	}
	Fill(t, store, "s1", 1)
}

func badRecords(t *testing.T, store session.Store) {
	written := Fill(t, store, "s1", 1)
	l, _ := Reopen(t, store, "s1")
	for _, record := range []string{
		"", "{}", `"x"`, `{"v":1,"t":"started"`, "{\"v\":1,\n\"t\":\"started\"}", `{"v":1,"t":"started"}` + "\n",
		`{"v":2,"t":"started"}`, `{"v":1,"t":"hologram"}`, `{"v":1}`, string(Header("s1")), string(Turn(1, "again")), string(Turn(3, "skipped")),
	} {
		assert.Error(t, l.Append([]byte(record)), "%q", record)
		assert.Error(t, l.Commit(2, []byte(record)), "%q", record)
	}
	assert.ErrorIs(t, l.Append([]byte(`{"v":2,"t":"started"}`)), session.ErrForeign)
	assert.Equal(t, written, Read(t, store, "s1"))
	assert.NoError(t, l.Commit(2, Turn(2, "good")))
	assert.NoError(t, l.Close())
}

func oneWriter(t *testing.T, store session.Store) {
	Fill(t, store, "s1", 1)
	l, _ := Reopen(t, store, "s1")
	_, err := store.Open("s1", Ignore)
	var locked *session.LockedError
	require.ErrorAs(t, err, &locked)
	assert.Equal(t, os.Getpid(), locked.PID)
	_, err = time.Parse(time.RFC3339, locked.Since)
	assert.NoError(t, err)

	require.NoError(t, l.Close())
	require.NoError(t, l.Close(), "closing twice")
	next, _ := Reopen(t, store, "s1")
	require.NoError(t, l.Close(), "closing what another holds now")
	_, err = store.Open("s1", Ignore)
	assert.ErrorAs(t, err, &locked)
	assert.NoError(t, next.Close())
}

func readWhileHeld(t *testing.T, store session.Store) {
	written := Fill(t, store, "s1", 1)
	l, _ := Reopen(t, store, "s1")
	started, turn := Started(2), Turn(2, "new")
	require.NoError(t, l.Append(started))
	assert.Equal(t, append(written, started), Read(t, store, "s1"))
	require.NoError(t, l.Commit(2, turn))
	assert.Equal(t, append(written, started, turn), Read(t, store, "s1"))
	require.NoError(t, l.Close())
}

func conflict(t *testing.T, store session.Store) {
	written := Fill(t, store, "s1", 2)
	l, _ := Reopen(t, store, "s1")
	for _, turn := range []int{-1, 0, 1, 2, 4} {
		assert.ErrorIs(t, l.Commit(turn, Turn(turn, "lost")), session.ErrConflict, turn)
	}
	assert.Error(t, l.Commit(3, Turn(4, "another's record")))
	assert.Error(t, l.Commit(3, Started(3)), "no turn at all")
	assert.Equal(t, written, Read(t, store, "s1"))
	assert.NoError(t, l.Commit(3, Turn(3, "won")))
	assert.ErrorIs(t, l.Commit(3, Turn(3, "again")), session.ErrConflict)
	assert.NoError(t, l.Close())
}

func copied(t *testing.T, store session.Store) {
	from := Fill(t, store, "s1", 3)
	l, err := store.Create("s2", Header("s2"))
	require.NoError(t, err)
	for _, record := range from[1:] {
		require.NoError(t, l.Append(record))
	}
	require.NoError(t, l.Sync())
	assert.ErrorIs(t, l.Commit(3, Turn(3, "there already")), session.ErrConflict)
	assert.NoError(t, l.Commit(4, Turn(4, "new")))
	assert.NoError(t, l.Close())
	assert.Len(t, Read(t, store, "s2"), len(from)+1)
}

func replayError(t *testing.T, store session.Store) {
	Fill(t, store, "s1", 3)
	enough := errors.New("enough")
	for _, replay := range []func(func([]byte) error) error{
		func(each func([]byte) error) error { return store.Read("s1", each) },
		func(each func([]byte) error) error { _, err := store.Open("s1", each); return err },
	} {
		seen := 0
		err := replay(func([]byte) error {
			if seen++; seen == 3 {
				return enough
			}
			return nil
		})
		assert.ErrorIs(t, err, enough)
		assert.Equal(t, 3, seen)
	}
	l, records := Reopen(t, store, "s1")
	assert.Len(t, records, 7)
	assert.NoError(t, l.Close())
}

func replayReenters(t *testing.T, store session.Store) {
	Fill(t, store, "s1", 1)
	l, err := store.Open("s1", func([]byte) error {
		exists, err := store.Exists("s1")
		assert.True(t, exists)
		return errors.Join(err, store.Read("s1", Ignore))
	})
	require.NoError(t, err)
	assert.NoError(t, l.Close())
}

func replayScribbles(t *testing.T, store session.Store) {
	written := Fill(t, store, "s1", 3)
	var seen [][]byte
	l, err := store.Open("s1", func(record []byte) error {
		seen = append(seen, append([]byte{}, record...))
		_ = append(record, strings.Repeat("x", 1000)...)
		for i := range record {
			record[i] = 'x'
		}
		return nil
	})
	require.NoError(t, err)
	assert.Equal(t, written, seen)
	assert.Equal(t, written, Read(t, store, "s1"))
	assert.NoError(t, l.Close())
}

func reusedBuffer(t *testing.T, store session.Store) {
	header := Header("s1")
	l, err := store.Create("s1", header)
	require.NoError(t, err)
	started := Started(1)
	require.NoError(t, l.Append(started))
	turn := Turn(1, "kept")
	require.NoError(t, l.Commit(1, turn))
	for _, b := range [][]byte{header, started, turn} {
		clear(b)
	}
	require.NoError(t, l.Close())
	assert.Equal(t, [][]byte{Header("s1"), Started(1), Turn(1, "kept")}, Read(t, store, "s1"))
}

func raceCreate(t *testing.T, store session.Store) {
	wins := race(func() (session.Log, error) { return store.Create("s1", Header("s1")) }, func(err error) {
		assert.ErrorIs(t, err, session.ErrExists)
	})
	require.Len(t, wins, 1)
	assert.NoError(t, wins[0].Close())
	assert.Equal(t, [][]byte{Header("s1")}, Read(t, store, "s1"))
}

func raceOpen(t *testing.T, store session.Store) {
	Fill(t, store, "s1", 1)
	wins := race(func() (session.Log, error) { return store.Open("s1", Ignore) }, func(err error) {
		var locked *session.LockedError
		assert.ErrorAs(t, err, &locked)
	})
	require.Len(t, wins, 1)
	assert.NoError(t, wins[0].Close())
}

// race calls take from several goroutines at once, all of which have ended
// when it returns. Those that lose are shown to lost.
func race(take func() (session.Log, error), lost func(error)) []session.Log {
	var wg sync.WaitGroup
	var mu sync.Mutex
	var wins []session.Log
	start := make(chan struct{})
	for range 8 {
		wg.Go(func() {
			<-start
			l, err := take()
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				lost(err)
				return
			}
			wins = append(wins, l)
		})
	}
	close(start)
	wg.Wait()
	return wins
}

func parallelSessions(t *testing.T, store session.Store) {
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			id := fmt.Sprintf("s%d", i)
			l, err := store.Create(id, Header(id))
			if !assert.NoError(t, err) {
				return
			}
			for n := 1; n <= 5; n++ {
				assert.NoError(t, l.Append(Started(n)))
				assert.NoError(t, l.Commit(n, Turn(n, id)))
				assert.NoError(t, store.Read(id, Ignore))
			}
			assert.NoError(t, l.Close())
		})
	}
	wg.Wait()
	for i := range 8 {
		assert.Len(t, Read(t, store, fmt.Sprintf("s%d", i)), 11)
	}
}

func closedLog(t *testing.T, store session.Store) {
	l, err := store.Create("s1", Header("s1"))
	require.NoError(t, err)
	require.NoError(t, l.Close())
	assert.ErrorIs(t, l.Append(Started(1)), fs.ErrClosed)
	assert.ErrorIs(t, l.Commit(1, Turn(1, "late")), fs.ErrClosed)
	assert.ErrorIs(t, l.Sync(), fs.ErrClosed)
	assert.Equal(t, [][]byte{Header("s1")}, Read(t, store, "s1"))
}

func closedStore(t *testing.T, store session.Store) {
	l, err := store.Create("s1", Header("s1"))
	require.NoError(t, err)
	require.NoError(t, store.Close())
	assert.ErrorIs(t, l.Append(Started(1)), fs.ErrClosed)
	assert.NoError(t, l.Close())
	_, err = store.Create("s2", Header("s2"))
	assert.ErrorIs(t, err, fs.ErrClosed)
	_, err = store.Open("s1", Ignore)
	assert.ErrorIs(t, err, fs.ErrClosed)
	assert.ErrorIs(t, store.Read("s1", Ignore), fs.ErrClosed)
	_, err = store.Exists("s1")
	assert.ErrorIs(t, err, fs.ErrClosed)
}
