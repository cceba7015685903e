package filestore_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/filestore"
	"github.com/prism-rpc/prism-rpc/session/internal/storetest"
)

// tear leaves a torn tail of session id, as a crash and the next Open do.
func tear(t *testing.T, store *filestore.Store, dir, id string) {
	t.Helper()
	f, err := os.OpenFile(logPath(dir, id), os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	_, err = f.WriteString("torn")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	l, _ := storetest.Reopen(t, store, id)
	require.NoError(t, l.Close())
}

// files are all below the store's folder, relative to it.
func files(t *testing.T, dir string) (paths []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			paths = append(paths, filepath.ToSlash(path[len(dir)+1:]))
		}
		return err
	}))
	return paths
}

func TestDeleteLeavesNothingOfTheSession(t *testing.T) {
	dir := t.TempDir()
	store := open(t, dir)
	for _, id := range []string{"s1", "s1.5", "s1.5.7", "s10"} {
		storetest.Write(t, store, id, storetest.HeaderAt(id, noon, "/folder/of/"+id))
		tear(t, store, dir, id)
	}
	tear(t, store, dir, "s1")
	foreign := filepath.Join(dir, "torn", "s1.notes")
	require.NoError(t, os.WriteFile(foreign, nil, 0o600))
	list(t, store)
	require.Equal(t, 4, mentions(t, indexPath(dir), "/folder/of/s1"))

	require.NoError(t, store.Delete("s1"))
	left := files(t, dir)
	assert.Len(t, left, 3+3+1+1, "logs, tails, a file that is none of ours, the index")
	assert.FileExists(t, foreign)
	assert.Equal(t, 3, mentions(t, indexPath(dir), "/folder/of/s1"))
	for _, id := range []string{"s1.5", "s1.5.7", "s10"} {
		require.NoError(t, store.Delete(id))
	}
	assert.Equal(t, []string{"index/sessions", "torn/s1.notes"}, files(t, dir))
}

func mentions(t *testing.T, path, text string) int {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return strings.Count(string(b), text)
}

// A list that is being made when a session is deleted doesn't bring its row
// back.
func TestDeletedSessionStaysOffTheIndexWhileOthersList(t *testing.T) {
	dir := t.TempDir()
	store := open(t, dir)
	storetest.Fill(t, store, "other", 1)
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					_, _, err := store.List("", 0, "")
					assert.NoError(t, err)
				}
			}
		})
	}
	for i := range 100 {
		id := fmt.Sprintf("s%d", i)
		folder := fmt.Sprintf("/folder/%d/", i)
		storetest.Write(t, store, id, storetest.HeaderAt(id, noon, folder))
		list(t, store)
		require.NoError(t, store.Delete(id))
		require.Zero(t, mentions(t, indexPath(dir), folder))
	}
	close(done)
	wg.Wait()
}

func TestDeleteIsFinishedWhereACrashLeftIt(t *testing.T) {
	dir := t.TempDir()
	store := open(t, dir)
	storetest.Fill(t, store, "s1", 1)
	tear(t, store, dir, "s1")
	list(t, store)
	require.NoError(t, os.Remove(logPath(dir, "s1")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "locks", "s1.lock"), []byte("1 x\n"), 0o600))
	require.NoError(t, store.Delete("s1"))
	assert.Equal(t, []string{"index/sessions"}, files(t, dir))
}

// A damaged index, and one that can't be replaced, could still tell of the
// session.
func TestDeleteRemovesAnIndexThatItCannotRead(t *testing.T) {
	dir := t.TempDir()
	store := open(t, dir)
	storetest.Fill(t, store, "s1", 1)
	list(t, store)
	require.NoError(t, os.Truncate(indexPath(dir), 30))
	require.NoError(t, store.Delete("s1"))
	assert.Empty(t, files(t, dir))
}

func TestDeleteTakesWhatCannotBeRead(t *testing.T) {
	for claim, log := range map[string]string{
		"never begun":       "",
		"cut in its header": seals(storetest.Header("s1"))[:20],
		"damaged":           string(flip(seals(storetest.Header("s1")), 20)),
		"another's":         seals(storetest.Header("s2")),
		"newer":             seals([]byte(`{"v":2,"t":"session","name":"s1"}`)),
		"junk":              "hello\n",
	} {
		dir := writeLog(t, "s1", log)
		require.NoError(t, open(t, dir).Delete("s1"), claim)
		assert.Empty(t, files(t, dir), claim)
	}
}

// Where a file system doesn't tell case apart, the log of S1 is offered for s1.
func TestDeleteLeavesTheLogOfAnIDInOtherCase(t *testing.T) {
	log := seals(storetest.Header("S1"))
	dir := writeLog(t, "s1", log)
	assert.ErrorIs(t, open(t, dir).Delete("s1"), filestore.ErrCorrupt)
	assertUntouched(t, dir, log)
}

func TestPruneTakesOldTailsAndWhatIsLeftOfCrashes(t *testing.T) {
	dir := t.TempDir()
	store := open(t, dir)
	now := time.Now()
	storetest.Write(t, store, "s1", storetest.HeaderAt("s1", now, ""))
	tear(t, store, dir, "s1")
	storetest.Write(t, store, "old", storetest.HeaderAt("old", noon, ""))
	tear(t, store, dir, "old")
	aged := filepath.Join(dir, "torn", "s1.9."+noon.Format("20060102T150405.000000000Z"))
	require.NoError(t, os.WriteFile(aged, nil, 0o600))
	long := now.Add(-48 * time.Hour)
	for _, id := range []string{"begun", "junk", "young"} {
		require.NoError(t, os.WriteFile(logPath(dir, id), []byte(`{"v":1`), 0o600))
	}
	require.NoError(t, os.WriteFile(logPath(dir, "junk"), []byte("junk\n"), 0o600))
	require.NoError(t, os.Chtimes(logPath(dir, "begun"), long, long))
	require.NoError(t, os.Chtimes(logPath(dir, "junk"), long, long))

	deleted, err := store.Prune(now.Add(-24 * time.Hour))
	require.NoError(t, err)
	assert.Equal(t, 2, deleted, "old and junk: one that was never begun is no session")
	left := files(t, dir)
	require.Len(t, left, 4, "%s", left)
	assert.NoFileExists(t, aged)
	assert.FileExists(t, logPath(dir, "s1"))
	assert.FileExists(t, logPath(dir, "young"))
	assert.Equal(t, "s1", storetest.IDs(list(t, store)))
}

func TestPruneGoesOnBehindWhatItCannotDelete(t *testing.T) {
	dir := t.TempDir()
	store, skips := openSkipping(t, dir)
	for i := range 3 {
		id := fmt.Sprintf("s%d", i)
		storetest.Write(t, store, id, storetest.HeaderAt(id, noon, ""))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "locks", "s1.lock"), 0o700))
	deleted, err := store.Prune(evening)
	assert.ErrorIs(t, err, filestore.ErrUnsafe)
	assert.Equal(t, 2, deleted)
	assert.Equal(t, "s1", storetest.IDs(list(t, store)))
	assert.Empty(t, *skips)
}

func TestForeignLogIsPrunedByItsFilesTimeToo(t *testing.T) {
	dir := writeLog(t, "s1", seals([]byte(`{"v":2,"t":"session","createdAt":"2026-01-02T12:00:00Z"}`)))
	require.NoError(t, os.Chtimes(logPath(dir, "s1"), evening, evening))
	store := open(t, dir)
	deleted, err := store.Prune(evening)
	require.NoError(t, err)
	assert.Zero(t, deleted, "its records may bear other times than we know of")
	deleted, err = store.Prune(evening.Add(time.Second))
	require.NoError(t, err)
	assert.Equal(t, 1, deleted)
}

// A mark is no place in a log that was cut before it, whatever came then.
func TestMarkEndsWithItsRecord(t *testing.T) {
	header, one, two := storetest.Header("s1"), storetest.Turn(1, "one"), storetest.Turn(2, "two")
	for claim, c := range map[string]struct {
		log  string
		want error
	}{
		"the same":                  {seals(header, one, two), nil},
		"more behind it":            {seals(header, one, two, storetest.Turn(3, "three")), nil},
		"a torn tail behind it":     {seals(header, one, two) + "torn", nil},
		"cut":                       {seals(header, one), session.ErrRewritten},
		"cut in its record":         {seals(header, one, two)[:len(seals(header, one, two))-1], session.ErrRewritten},
		"another record there":      {seals(header, one, storetest.Turn(2, "owt")), session.ErrRewritten},
		"longer records before it":  {seals(header, storetest.Turn(1, "longer"), two), session.ErrRewritten},
		"another header":            {seals([]byte(string(header[:len(header)-2])+" }"), one, two), session.ErrRewritten},
		"a record over that place":  {seals(header, storetest.Turn(1, "one"+string(make([]byte, 300)))), session.ErrRewritten},
		"never begun":               {seals(header)[:20], session.ErrNotFound},
		"a newer program's records": {seals(header, one, two, []byte(`{"v":1,"t":"hologram"}`)), session.ErrForeign},
		"a turn left out":           {seals(header, one, two, storetest.Turn(4, "")), filestore.ErrCorrupt},
	} {
		t.Run(claim, func(t *testing.T) {
			dir := writeLog(t, "s1", seals(header, one, two))
			store := open(t, dir)
			l, _ := storetest.Reopen(t, store, "s1")
			mark := l.Mark()
			require.NoError(t, l.Close())
			require.NoError(t, os.WriteFile(logPath(dir, "s1"), []byte(c.log), 0o600))
			l, err := store.OpenFrom("s1", mark, storetest.Ignore)
			require.ErrorIs(t, err, c.want)
			if c.want == nil {
				require.NoError(t, l.Close())
			}
		})
	}
}
