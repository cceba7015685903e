package filestore_test

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/filestore"
	"github.com/prism-rpc/prism-rpc/session/internal/storetest"
)

// A repaired is one call of Options.OnRepair.
type repaired struct {
	id      string
	dropped int64
	kept    string
}

func openRepairing(t testing.TB, dir string) (*filestore.Store, *[]repaired) {
	t.Helper()
	var repairs []repaired
	store, err := filestore.Open(dir, filestore.Options{OnRepair: func(id string, dropped int64, kept string) {
		repairs = append(repairs, repaired{id, dropped, kept})
	}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store, &repairs
}

// seal is the line of a record, made independently of the store's code.
func seal(record string) string {
	body := record[:len(record)-1]
	sum := crc32.Checksum([]byte(body), crc32.MakeTable(crc32.Castagnoli))
	return fmt.Sprintf("%s,\"crc\":\"%08x\"}\n", body, sum)
}

func seals(records ...[]byte) (log string) {
	for _, r := range records {
		log += seal(string(r))
	}
	return log
}

// writeLog puts a log as it is on disk into a new store's folder.
func writeLog(t testing.TB, id, log string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "store")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "sessions"), 0o700))
	require.NoError(t, os.WriteFile(logPath(dir, id), []byte(log), 0o600))
	return dir
}

func TestLogIsLinesOfJSONWithTheirChecksum(t *testing.T) {
	dir := t.TempDir()
	records := storetest.Fill(t, open(t, dir), "s1", 2)
	got, err := os.ReadFile(logPath(dir, "s1"))
	require.NoError(t, err)
	assert.Equal(t, seals(records...), string(got))
	assert.Contains(t, seal(`{"v":1}`), `{"v":1,"crc":"`)
}

// A log is cut at every byte, as a crash may leave it: all records before the
// cut survive, what is left of the next is kept aside, and the session goes on.
func TestTornTailIsCutAndKept(t *testing.T) {
	dir := t.TempDir()
	records := storetest.Fill(t, open(t, dir), "s1", 1)
	whole, err := os.ReadFile(logPath(dir, "s1"))
	require.NoError(t, err)
	ends := []int{0}
	for i, c := range whole {
		if c == '\n' {
			ends = append(ends, i+1)
		}
	}
	store, repairs := openRepairing(t, dir)
	for size := range len(whole) + 1 {
		require.NoError(t, os.WriteFile(logPath(dir, "s1"), whole[:size], 0o600))
		good := 0
		for good+1 < len(ends) && ends[good+1] <= size {
			good++
		}
		*repairs = nil
		if good == 0 {
			beginAgain(t, store, size)
		} else {
			assert.Equal(t, records[:good], storetest.Read(t, store, "s1"), "read, cut at %d", size)
			goOn(t, store, records[:good], size)
		}
		checkKept(t, *repairs, whole[ends[good]:size])
	}
}

// goOn opens the log that was cut, and commits the turn it lost.
func goOn(t *testing.T, store session.Store, want [][]byte, size int) {
	t.Helper()
	l, replayed := storetest.Reopen(t, store, "s1")
	require.Equal(t, want, replayed, "cut at %d", size)
	turn := (len(want)-1)/2 + 1
	require.NoError(t, l.Commit(turn, storetest.Turn(turn, "new")))
	require.NoError(t, l.Close())
	require.Equal(t, append(want[:len(want):len(want)], storetest.Turn(turn, "new")), storetest.Read(t, store, "s1"))
}

// beginAgain makes the session whose header a crash cut short: nothing was
// ever committed to it.
func beginAgain(t *testing.T, store session.Store, size int) {
	t.Helper()
	exists, err := store.Exists("s1")
	require.NoError(t, err)
	require.False(t, exists, "cut at %d", size)
	require.ErrorIs(t, store.Read("s1", storetest.Ignore), session.ErrNotFound)
	_, err = store.Open("s1", storetest.Ignore)
	require.ErrorIs(t, err, session.ErrNotFound)
	l, err := store.Create("s1", storetest.Header("s1"))
	require.NoError(t, err)
	require.NoError(t, l.Commit(1, storetest.Turn(1, "new")))
	require.NoError(t, l.Close())
}

func checkKept(t *testing.T, repairs []repaired, tail []byte) {
	t.Helper()
	if len(tail) == 0 {
		require.Empty(t, repairs)
		return
	}
	require.Len(t, repairs, 1)
	assert.Equal(t, "s1", repairs[0].id)
	assert.Equal(t, int64(len(tail)), repairs[0].dropped)
	kept, err := os.ReadFile(repairs[0].kept)
	require.NoError(t, err)
	assert.Equal(t, tail, kept)
	assert.Equal(t, "torn", filepath.Base(filepath.Dir(repairs[0].kept)))
}

func TestNothingBehindDamageIsTrusted(t *testing.T) {
	header, one, two := storetest.Header("s1"), storetest.Turn(1, "one"), storetest.Turn(2, "two")
	start := seals(header, one)
	for claim, tail := range map[string]string{
		"a flipped bit":                   string(flip(seals(two), 20)),
		"a flipped bit, good ones behind": string(flip(seals(two), 20)) + seals(storetest.Turn(2, "two")),
		"a flipped checksum":              string(flip(seals(two), len(seals(two))-4)),
		"a checksum in capitals":          string(bytes.ToUpper([]byte(seals(two)))),
		"a line without checksum":         string(two) + "\n" + seals(two),
		"zeros":                           string(make([]byte, 4096)),
		"zeros, good ones behind":         string(make([]byte, 4096)) + seals(two),
		"a blank line":                    "\n" + seals(two),
		"a line of one brace":             "}\n",
		"CRLF":                            seals(two)[:len(seals(two))-1] + "\r\n",
		"an end without newline":          seals(two)[:len(seals(two))-1],
		"two records on one line":         seals(two)[:len(seals(two))-1] + seals(two),
		"text":                            "<<<<<<< HEAD\n",
	} {
		t.Run(claim, func(t *testing.T) {
			dir := writeLog(t, "s1", start+tail)
			store, repairs := openRepairing(t, dir)
			assert.Equal(t, [][]byte{header, one}, storetest.Read(t, store, "s1"))
			l, replayed := storetest.Reopen(t, store, "s1")
			assert.Equal(t, [][]byte{header, one}, replayed)
			checkKept(t, *repairs, []byte(tail))
			require.NoError(t, l.Commit(2, two))
			require.NoError(t, l.Close())
			got, err := os.ReadFile(logPath(dir, "s1"))
			require.NoError(t, err)
			assert.Equal(t, seals(header, one, two), string(got))
		})
	}
}

func flip(log string, at int) []byte {
	b := []byte(log)
	b[at] ^= 1
	return b
}

func TestLogThatIsWholeButWrongIsLeftAlone(t *testing.T) {
	header, one := storetest.Header("s1"), storetest.Turn(1, "one")
	for claim, log := range map[string]string{
		"another session's log":      seals(storetest.Header("s2"), one),
		"a name in other case":       seals(storetest.Header("S1"), one),
		"no header":                  seals(one),
		"two headers":                seals(header, header),
		"a turn twice":               seals(header, one, one),
		"a turn left out":            seals(header, one, storetest.Turn(3, "")),
		"a turn without number":      seals(header, []byte(`{"v":1,"t":"turn"}`)),
		"a sealed line that is junk": seals(header, []byte(`{"v":junk}`)),
		"a damaged header":           string(flip(seals(header, one), 30)),
		"a text file":                "hello\nworld\n",
		"an empty line":              "\n",
	} {
		t.Run(claim, func(t *testing.T) {
			dir := writeLog(t, "s1", log)
			store, repairs := openRepairing(t, dir)
			_, err := store.Open("s1", storetest.Ignore)
			assert.ErrorIs(t, err, filestore.ErrCorrupt)
			assert.NotErrorIs(t, err, session.ErrConflict)
			assert.ErrorIs(t, store.Read("s1", storetest.Ignore), filestore.ErrCorrupt)
			_, err = store.Create("s1", header)
			assert.ErrorIs(t, err, session.ErrExists)
			assertUntouched(t, dir, log)
			assert.Empty(t, *repairs)
		})
	}
}

func TestForeignLogIsReadAndNotWritten(t *testing.T) {
	header, one := storetest.Header("s1"), storetest.Turn(1, "one")
	next := []byte(`{"v":1,"t":"hologram","x":1}`)
	newer := []byte(`{"v":2,"t":"session","name":"s1"}`)
	for _, c := range []struct {
		claim, log string
		readable   [][]byte
	}{
		{"a newer header", seals(newer, next), [][]byte{newer, next}},
		{"an unknown type", seals(header, one, next), [][]byte{header, one, next}},
		{"an unknown type before a torn tail", seals(header, next) + "torn", [][]byte{header, next}},
		{"a record of a newer version", seals(header, []byte(`{"v":2,"t":"turn","turn":1}`), one),
			[][]byte{header, []byte(`{"v":2,"t":"turn","turn":1}`), one}},
	} {
		t.Run(c.claim, func(t *testing.T) {
			dir := writeLog(t, "s1", c.log)
			store := open(t, dir)
			_, err := store.Open("s1", storetest.Ignore)
			assert.ErrorIs(t, err, session.ErrForeign)
			assert.Equal(t, c.readable, storetest.Read(t, store, "s1"))
			assertUntouched(t, dir, c.log)
		})
	}
	t.Run("a newer frame", func(t *testing.T) {
		dir := writeLog(t, "s1", `{"v":2,"t":"session","id":"s1","sha":"…"}`+"\n")
		_, err := open(t, dir).Open("s1", storetest.Ignore)
		assert.ErrorIs(t, err, session.ErrForeign)
	})
}

func assertUntouched(t *testing.T, dir, log string) {
	t.Helper()
	got, err := os.ReadFile(logPath(dir, "s1"))
	require.NoError(t, err)
	assert.Equal(t, log, string(got))
	for _, folder := range []string{"locks", "torn"} {
		entries, err := os.ReadDir(filepath.Join(dir, folder))
		require.NoError(t, err)
		assert.Empty(t, entries, folder)
	}
}
