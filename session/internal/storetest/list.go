package storetest

import (
	"encoding/base64"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func hours(n int) time.Time { return noon.Add(time.Duration(n) * time.Hour) }

// List is all of a list, in pages of limit.
func List(t testing.TB, store session.Store, limit int, cwd string) (all []schema.SessionInfo) {
	t.Helper()
	for cursor := ""; ; {
		page, next, err := store.List(cursor, limit, cwd)
		require.NoError(t, err)
		all = append(all, page...)
		if next == "" {
			return all
		}
		require.Len(t, page, limit, "only the last page may be short")
		cursor = next
	}
}

// IDs are those of a list's sessions, joined.
func IDs(list []schema.SessionInfo) string {
	var ids []string
	for _, info := range list {
		ids = append(ids, info.SessionID)
	}
	return strings.Join(ids, " ")
}

func listShows(t *testing.T, store session.Store) {
	page, next, err := store.List("", 10, "")
	require.NoError(t, err)
	assert.Empty(t, page)
	assert.NotNil(t, page)
	assert.Empty(t, next)

	Write(t, store, "new", HeaderAt("new", hours(1), "/new"))
	Write(t, store, "used", HeaderAt("used", hours(0), "/old"), SettingsAt(hours(9), "a", "/x"), TurnAt(1, hours(2)),
		SettingsAt(hours(9), "Ünï \"t\"", "/used"), TurnAt(2, hours(3)), Started(3), Partial(3, "x"), FailedAt(3, hours(9)))
	Write(t, store, "copied", HeaderAt("copied", hours(2), ""), TurnAt(1, hours(-5)))
	assert.Equal(t, []schema.SessionInfo{
		{SessionID: "used", Turn: 2, UpdatedAt: "2026-01-02T15:00:00.000Z", Title: "Ünï \"t\"", CWD: "/used"},
		{SessionID: "copied", Turn: 1, UpdatedAt: "2026-01-02T14:00:00.000Z"},
		{SessionID: "new", Turn: 0, UpdatedAt: "2026-01-02T13:00:00.000Z", CWD: "/new"},
	}, List(t, store, 10, ""))
}

func listGoesWithLogs(t *testing.T, store session.Store) {
	Write(t, store, "s1", HeaderAt("s1", hours(0), ""))
	Write(t, store, "s2", HeaderAt("s2", hours(1), ""))
	assert.Equal(t, "s2 s1", IDs(List(t, store, 10, "")))
	l, _ := Reopen(t, store, "s1")
	require.NoError(t, l.Append(Started(1)))
	require.NoError(t, l.Commit(1, TurnAt(1, hours(2))))
	list := List(t, store, 10, "")
	assert.Equal(t, "s1 s2", IDs(list), "while it is held")
	assert.Equal(t, 1, list[0].Turn)
	require.NoError(t, l.Append(SettingsAt(hours(3), "renamed", "/y")))
	require.NoError(t, l.Commit(2, TurnAt(2, hours(4))))
	require.NoError(t, l.Close())
	want := schema.SessionInfo{SessionID: "s1", Turn: 2, UpdatedAt: "2026-01-02T16:00:00.000Z", Title: "renamed", CWD: "/y"}
	assert.Equal(t, want, List(t, store, 10, "")[0])
	require.NoError(t, store.Delete("s1"))
	assert.Equal(t, "s2", IDs(List(t, store, 10, "")))
}

func listPages(t *testing.T, store session.Store) {
	for i := range 10 {
		id := fmt.Sprintf("s%d", i)
		Write(t, store, id, HeaderAt(id, hours(i/3), "/"+fmt.Sprint(i%2)))
	}
	const all = "s9 s6 s7 s8 s3 s4 s5 s0 s1 s2"
	for _, limit := range []int{1, 2, 3, 4, 9, 10, 11, 0, -1} {
		assert.Equal(t, all, IDs(List(t, store, limit, "")), "pages of %d", limit)
	}
	assert.Equal(t, "s6 s8 s4 s0 s2", IDs(List(t, store, 2, "/0")))
	assert.Empty(t, List(t, store, 2, "/0/"))

	page, next, err := store.List("", 4, "")
	require.NoError(t, err)
	assert.Equal(t, "s9 s6 s7 s8", IDs(page))
	Write(t, store, "s99", HeaderAt("s99", hours(99), ""))
	Write(t, store, "s6a", HeaderAt("s6a", hours(2), ""))
	require.NoError(t, store.Delete("s8"), "the row that the cursor names")
	page, next, err = store.List(next, 4, "")
	require.NoError(t, err)
	assert.Equal(t, "s3 s4 s5 s0", IDs(page), "nothing twice, nothing left out")
	page, next, err = store.List(next, 4, "")
	require.NoError(t, err)
	assert.Equal(t, "s1 s2", IDs(page))
	assert.Empty(t, next)
}

func badCursors(t *testing.T, store session.Store) {
	for i := range 3 {
		id := fmt.Sprintf("s%d", i)
		Write(t, store, id, HeaderAt(id, hours(i), ""))
	}
	_, good, err := store.List("", 1, "")
	require.NoError(t, err)
	encode := base64.RawURLEncoding.EncodeToString
	for _, cursor := range []string{
		"x", " ", "s1", good + "=", good + "A", good[1:], " " + good, good + "\n", "\x00", strings.Repeat("A", 100_000),
		encode([]byte("1")), encode([]byte("1 ../s1")), encode([]byte("-1 s1")), encode([]byte("01 s1")), encode([]byte("1  s1")),
		encode([]byte("1 s1 ")), encode([]byte("9223372036854775807 s1")), encode([]byte("18446744073709551617 s1")),
	} {
		_, _, err := store.List(cursor, 1, "")
		assert.ErrorIs(t, err, session.ErrCursor, "%q", cursor)
	}
}

// Times come from logs, which are input.
func listOddTimes(t *testing.T, store session.Store) {
	Fill(t, store, "fine", 0)
	header := func(id, at string) []byte {
		return fmt.Appendf(nil, `{"v":1,"t":"session","id":%q,"createdAt":%s}`, id, at)
	}
	start := time.Now().Add(-time.Minute)
	for i, at := range []string{`""`, `"yesterday"`, `null`, `7`, `{}`, `"0000-01-01T00:00:00Z"`, `"9999-12-31T23:59:59-12:00"`, `"2026-13-01T00:00:00.000Z"`} {
		id := fmt.Sprintf("odd%d", i)
		Write(t, store, id, header(id, at))
	}
	list := List(t, store, 3, "")
	require.Len(t, list, 9)
	assert.Equal(t, "fine", list[8].SessionID)
	for _, info := range list[:8] {
		at, err := time.Parse(time.RFC3339, info.UpdatedAt)
		require.NoError(t, err, info.SessionID)
		assert.True(t, at.After(start), "%s counts as made when it was written: %s", info.SessionID, info.UpdatedAt)
	}
	Write(t, store, "zone", header("zone", `"2999-01-01T01:00:00.1234567+02:00"`))
	assert.Equal(t, "2998-12-31T23:00:00.123Z", List(t, store, 3, "")[0].UpdatedAt)
	deleted, err := store.Prune(start)
	require.NoError(t, err)
	assert.Equal(t, 1, deleted, "but the fine one, which is old")
}

func listOddText(t *testing.T, store session.Store) {
	settings := func(text string) []byte { return fmt.Appendf(nil, `{"v":1,"t":"settings","settings":%s}`, text) }
	long := strings.Repeat("ä", 100_000)
	for i, c := range []struct{ settings, title, cwd string }{
		{`{"title":"` + long + `","cwd":"` + long + `"}`, long[:4096], ""},
		{`{"title":"a\ud800b","cwd":"` + "\xff" + `"}`, "a\ufffdb", "\ufffd"},
		{`{"title":7}`, "", ""},
		{`{"title":"t","title":"u"}`, "", ""},
		{`null`, "", ""},
		{`[]`, "", ""},
	} {
		Write(t, store, fmt.Sprint("s", i), HeaderAt(fmt.Sprint("s", i), hours(0), ""), settings(c.settings))
		list := List(t, store, 0, "")
		assert.Equal(t, c.title, list[i].Title, "%.60s", c.settings)
		assert.Equal(t, c.cwd, list[i].CWD, "%.60s", c.settings)
	}
}

// While sessions come and go, a list shows each of those that stay once, and
// turns that only rise.
func listWhileBusy(t *testing.T, store session.Store) {
	for i := range 20 {
		id := fmt.Sprintf("stay%02d", i)
		Write(t, store, id, HeaderAt(id, hours(i), ""))
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Go(func() { comeAndGo(t, store, fmt.Sprintf("go%d", i), done) })
	}
	turn := 0
	for range 40 {
		stayed := 0
		for _, info := range List(t, store, 3, "") {
			if strings.HasPrefix(info.SessionID, "stay") {
				stayed++
			}
			if info.SessionID == "go0" {
				turn = max(turn, info.Turn)
			}
		}
		assert.Equal(t, 20, stayed)
	}
	close(done)
	wg.Wait()
	assert.LessOrEqual(t, turn, 3)
}

func comeAndGo(t *testing.T, store session.Store, id string, done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		default:
		}
		l, err := store.Create(id, HeaderAt(id, hours(100), ""))
		if !assert.NoError(t, err) {
			return
		}
		for n := 1; n <= 3; n++ {
			assert.NoError(t, l.Commit(n, TurnAt(n, hours(100+n))))
		}
		assert.NoError(t, l.Close())
		assert.NoError(t, store.Delete(id))
	}
}
