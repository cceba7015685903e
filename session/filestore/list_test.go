package filestore_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session/filestore"
	"github.com/prism-rpc/prism-rpc/session/internal/storetest"
)

var (
	noon    = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	evening = noon.Add(6 * time.Hour)
)

// A skipped is one call of Options.OnSkip.
type skipped struct {
	name string
	err  error
}

func openSkipping(t testing.TB, dir string) (*filestore.Store, *[]skipped) {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o700))
	require.NoError(t, os.Chmod(dir, 0o700))
	var skips []skipped
	store, err := filestore.Open(dir, filestore.Options{OnSkip: func(name string, err error) {
		skips = append(skips, skipped{name, err})
	}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store, &skips
}

func indexPath(dir string) string { return filepath.Join(dir, "index", "sessions") }

func list(t testing.TB, store *filestore.Store) []schema.SessionInfo {
	t.Helper()
	return storetest.List(t, store, 0, "")
}

// Each log is listed with what can be read of it, first without an index and
// then with one.
func TestEveryLogIsListed(t *testing.T) {
	header, turn := storetest.HeaderAt("s1", noon, "/home"), storetest.TurnAt(1, noon)
	fine := schema.SessionInfo{SessionID: "s1", Turn: 1, UpdatedAt: "2026-01-02T12:00:00.000Z", CWD: "/home"}
	begun := schema.SessionInfo{SessionID: "s1", UpdatedAt: fine.UpdatedAt, CWD: "/home"}
	bare := schema.SessionInfo{SessionID: "s1", UpdatedAt: "2026-01-02T18:00:00.000Z"}
	for _, c := range []struct {
		claim, log string
		want       schema.SessionInfo
	}{
		{"a sound one", seals(header, turn), fine},
		{"up to a torn tail", seals(header, turn) + seals(storetest.TurnAt(2, noon))[:40], fine},
		{"up to damage", seals(header, turn) + string(flip(seals(storetest.TurnAt(2, noon)), 20)), fine},
		{"up to what may not stand there", seals(header, turn, turn), fine},
		{"a damaged header, by its file's time", string(flip(seals(header, turn), 30)), bare},
		{"another session's log, by its file's time", seals(storetest.HeaderAt("s2", noon, "/other"), turn), bare},
		{"no log at all, by its file's time", "hello\nworld\n", bare},
		{"an unknown type of record", seals(header, []byte(`{"v":1,"t":"hologram"}`), turn), fine},
		{"a record of a newer version", seals(header, []byte(`{"v":2,"t":"hologram"}`), turn), fine},
		{"a newer turn that looks like ours", seals(header, []byte(`{"v":2,"t":"turn","turn":1,"at":"2026-01-02T12:00:00Z"}`)), fine},
		{"a newer header that looks like ours", seals([]byte(`{"v":2,"t":"session","createdAt":"2026-01-02T12:00:00Z","settings":{"cwd":"/home"}}`)), begun},
		{"a newer header that doesn't", seals([]byte(`{"v":2,"t":"session","name":"s1"}`)), bare},
		{"a newer frame, by its file's time", `{"v":2,"t":"session","id":"s1","sha":"…"}` + "\n", bare},
	} {
		t.Run(c.claim, func(t *testing.T) {
			dir := writeLog(t, "s1", c.log)
			require.NoError(t, os.Chtimes(logPath(dir, "s1"), evening, evening))
			store, skips := openSkipping(t, dir)
			for range 3 {
				assert.Equal(t, []schema.SessionInfo{c.want}, list(t, store))
			}
			assert.Empty(t, *skips)
			assertUntouched(t, dir, c.log)
		})
	}
}

func TestNoLogIsNotListed(t *testing.T) {
	dir := t.TempDir()
	store, skips := openSkipping(t, dir)
	storetest.Fill(t, store, "s1", 1)
	for name, text := range map[string]string{
		"begun.jsonl": seals(storetest.Header("begun"))[:40], "empty.jsonl": "", "s1.txt": "x", ".jsonl": "x", "-x.jsonl": "x", "com1.jsonl": "x", "é.jsonl": "x",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "sessions", name), []byte(text), 0o600))
	}
	for range 3 {
		assert.Equal(t, "s1", storetest.IDs(list(t, store)))
	}
	assert.Empty(t, *skips)
}

// An index row counts for one version of a log alone.
func TestIndexRowOfAnotherVersionIsStale(t *testing.T) {
	one := seals(storetest.HeaderAt("s1", noon, "/one"))
	two := seals(storetest.HeaderAt("s1", noon, "/two"))
	require.Len(t, two, len(one))
	for claim, change := range map[string]func(t *testing.T, path string){
		"another size": func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(path, []byte(two+seals(storetest.Started(1))), 0o600))
			require.NoError(t, os.Chtimes(path, noon, noon))
		},
		"another time": func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(path, []byte(two), 0o600))
			require.NoError(t, os.Chtimes(path, noon, noon.Add(time.Nanosecond)))
		},
		"a shorter log": func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(path, []byte(seals(storetest.HeaderAt("s1", noon, "/two"))), 0o600))
		},
		"another file": func(t *testing.T, path string) {
			if os.PathSeparator != '/' {
				t.Skip("a file has no number here")
			}
			require.NoError(t, os.WriteFile(path+".new", []byte(two), 0o600))
			require.NoError(t, os.Chtimes(path+".new", noon, noon))
			require.NoError(t, os.Rename(path+".new", path))
		},
	} {
		t.Run(claim, func(t *testing.T) {
			dir := writeLog(t, "s1", one)
			require.NoError(t, os.Chtimes(logPath(dir, "s1"), noon, noon))
			store := open(t, dir)
			require.Equal(t, "/one", list(t, store)[0].CWD)
			change(t, logPath(dir, "s1"))
			assert.Equal(t, "/two", list(t, store)[0].CWD)
			assert.Equal(t, "/two", list(t, open(t, dir))[0].CWD, "the index was made again")
		})
	}
}

// Whatever becomes of the index, lists are right, and the next one has an
// index again.
func TestDamagedIndexIsMadeAgain(t *testing.T) {
	dir := t.TempDir()
	store, skips := openSkipping(t, dir)
	for i := range 3 {
		id := fmt.Sprintf("s%d", i)
		storetest.Write(t, store, id, storetest.HeaderAt(id, noon, "/"+id))
	}
	want := list(t, store)
	index, err := os.ReadFile(indexPath(dir))
	require.NoError(t, err)
	check := func(damaged []byte) {
		t.Helper()
		require.NoError(t, os.WriteFile(indexPath(dir), damaged, 0o600))
		require.Equal(t, want, list(t, store))
		again, err := os.ReadFile(indexPath(dir))
		require.NoError(t, err)
		require.Len(t, again, len(index))
	}
	for size := range index {
		check(index[:size])
	}
	for i := range index {
		check(flip(string(index), i))
	}
	check(append(index, index...))
	require.NoError(t, os.RemoveAll(filepath.Dir(indexPath(dir))))
	assert.Equal(t, want, list(t, store))
	assert.FileExists(t, indexPath(dir))
	assert.Empty(t, *skips)
}

func TestIndexThatCannotBeWrittenIsDoneWithout(t *testing.T) {
	dir := t.TempDir()
	store, skips := openSkipping(t, dir)
	storetest.Fill(t, store, "s1", 2)
	require.NoError(t, os.MkdirAll(indexPath(dir), 0o700), "a folder in its place")
	for n := 1; n <= 2; n++ {
		assert.Equal(t, 2, list(t, store)[0].Turn)
		require.Len(t, *skips, n, "it is told each time")
	}
	assert.Equal(t, "sessions", (*skips)[0].name)
	entries, err := os.ReadDir(filepath.Join(dir, "index"))
	require.NoError(t, err)
	assert.Len(t, entries, 1, "nothing unfinished is left")
}

func TestUnfinishedIndexIsSweptOnceItIsOld(t *testing.T) {
	dir := t.TempDir()
	store := open(t, dir)
	storetest.Fill(t, store, "s1", 1)
	list(t, store)
	old, young := indexPath(dir)+".1.1.tmp", indexPath(dir)+".2.2.tmp"
	for _, path := range []string{old, young} {
		require.NoError(t, os.WriteFile(path, []byte("half"), 0o600))
	}
	long := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(old, long, long))
	list(t, store)
	assert.FileExists(t, old, "nothing is written while nothing changes")
	storetest.Fill(t, store, "s2", 1)
	list(t, store)
	assert.NoFileExists(t, old)
	assert.FileExists(t, young)
}

func TestTenThousandSessionsArePagedThrough(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const many = 10_000
	dir := writeLog(t, "s0", seals(storetest.HeaderAt("s0", noon, "")))
	for i := 1; i < many; i++ {
		id := fmt.Sprintf("s%d", i)
		log := seals(storetest.HeaderAt(id, noon.Add(time.Duration(i/7)*time.Second), ""), storetest.TurnAt(1, noon))
		require.NoError(t, os.WriteFile(logPath(dir, id), []byte(log), 0o600))
	}
	store, skips := openSkipping(t, dir)
	seen := map[string]bool{}
	last := "9999"
	for _, info := range storetest.List(t, store, 1000, "") {
		seen[info.SessionID] = true
		assert.LessOrEqual(t, info.UpdatedAt, last)
		last = info.UpdatedAt
	}
	assert.Len(t, seen, many)
	deleted, err := store.Prune(noon.Add(50 * time.Second))
	require.NoError(t, err)
	assert.Equal(t, 350, deleted)
	assert.Len(t, list(t, store), many-350)
	assert.Empty(t, *skips)
}
