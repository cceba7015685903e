package filestore_test

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/filestore"
	"github.com/prism-rpc/prism-rpc/session/internal/storetest"
)

// listForEver makes a session at a time and lists all, so that each list
// writes the index anew; it prints how many it saw.
func listForEver(store *filestore.Store) error {
	for n := 0; ; n++ {
		id := fmt.Sprintf("new%d.%d", os.Getpid(), n)
		l, err := store.Create(id, storetest.Header(id))
		if err != nil {
			return err
		}
		page, _, err := store.List("", 0, "")
		if err = errors.Join(err, l.Close()); err != nil {
			return err
		}
		fmt.Println(len(page))
	}
}

// deleteForEver deletes s1 and makes it anew, while it isn't held elsewhere.
func deleteForEver(store *filestore.Store) error {
	for n := 0; ; n++ {
		err := store.Delete("s1")
		var locked *session.LockedError
		switch {
		case errors.As(err, &locked):
			fmt.Println("locked")
			continue
		case err != nil:
			return err
		}
		l, err := store.Create("s1", storetest.HeaderAt("s1", noon.Add(time.Duration(n)*time.Second), ""))
		if errors.Is(err, session.ErrExists) {
			continue // the other process came first
		}
		if err = errors.Join(err, l.Close()); err != nil {
			return err
		}
		fmt.Println("made")
	}
}

func TestListWhileAnotherProcessCommits(t *testing.T) {
	dir := t.TempDir()
	store := open(t, dir)
	storetest.Fill(t, store, "s1", 0)
	storetest.Fill(t, store, "s2", 3)
	c := play(t, "commit", dir)
	last := 0
	for range 20 {
		said, err := strconv.Atoi(c.line(t))
		require.NoError(t, err)
		page, _, err := store.List("", 0, "")
		require.NoError(t, err)
		require.Len(t, page, 2)
		for _, info := range page {
			if info.SessionID == "s1" {
				assert.GreaterOrEqual(t, info.Turn, max(said, last), "what was committed is listed")
				last = info.Turn
			}
		}
	}
	c.kill(t)
	assert.Equal(t, countTurns(t, store), turnOf(t, store, "s1"))
}

func turnOf(t *testing.T, store *filestore.Store, id string) int {
	t.Helper()
	for _, info := range list(t, store) {
		if info.SessionID == id {
			return info.Turn
		}
	}
	t.Fatalf("%s is not listed", id)
	return 0
}

// Several processes write the index at once, and are killed wherever they are.
func TestKilledListerLeavesListsRight(t *testing.T) {
	dir := t.TempDir()
	store := open(t, dir)
	for i := range 200 {
		id := fmt.Sprintf("s%d", i)
		storetest.Write(t, store, id, storetest.HeaderAt(id, noon, "/a/folder/with/quite/a/long/name"))
	}
	for round := range 4 {
		one, two := play(t, "list", dir), play(t, "list", dir)
		for range 1 + round*7 {
			one.line(t)
			two.line(t)
			list(t, store)
		}
		one.kill(t)
		two.kill(t)
		logs, err := os.ReadDir(dir + "/sessions")
		require.NoError(t, err)
		begun := 0
		for _, log := range logs {
			info, err := log.Info()
			require.NoError(t, err)
			if info.Size() > 0 {
				begun++
			}
		}
		assert.Len(t, list(t, store), begun)
	}
}

func TestHeldByAnotherProcessIsNeitherDeletedNorPruned(t *testing.T) {
	dir := t.TempDir()
	store := open(t, dir)
	storetest.Write(t, store, "s1", storetest.HeaderAt("s1", noon, ""))
	storetest.Write(t, store, "s2", storetest.HeaderAt("s2", noon, ""))
	c := play(t, "hold", dir)
	require.Equal(t, "held", c.line(t))
	var locked *session.LockedError
	require.ErrorAs(t, store.Delete("s1"), &locked)
	assert.Equal(t, c.Process.Pid, locked.PID)
	deleted, err := store.Prune(evening)
	require.NoError(t, err)
	assert.Equal(t, 1, deleted, "s2")
	assert.Equal(t, "s1", storetest.IDs(list(t, store)))
	assert.Len(t, storetest.Read(t, store, "s1"), 1)

	require.NoError(t, c.stdin.Close())
	require.NoError(t, c.Wait())
	deleted, err = store.Prune(evening)
	require.NoError(t, err)
	assert.Equal(t, 1, deleted)
	assert.Equal(t, []string{"index/sessions"}, files(t, dir))
}

// Another process deletes the session and makes it anew while this one gives
// it back and takes it again: what is replayed always belongs to what came
// before.
func TestResumedLogIsNeverAnotherOne(t *testing.T) {
	dir := t.TempDir()
	store := open(t, dir)
	c := play(t, "delete", dir)
	require.Equal(t, "made", c.line(t))
	var mark session.Mark
	var records [][]byte
	resumed, rewritten := 0, 0
	for turns := 0; resumed < 50 || rewritten < 5; {
		l, err := store.OpenFrom("s1", mark, storetest.Collect(&records))
		var locked *session.LockedError
		switch {
		case errors.As(err, &locked), errors.Is(err, session.ErrNotFound):
			continue
		case errors.Is(err, session.ErrRewritten):
			mark, records, turns = "", nil, 0
			rewritten++
			continue
		}
		require.NoError(t, err)
		turns++
		turn := storetest.Turn(turns, "mine")
		require.NoError(t, l.Commit(turns, turn))
		records = append(records, turn)
		require.Equal(t, records, storetest.Read(t, store, "s1"))
		mark = l.Mark()
		require.NoError(t, l.Close())
		resumed++
		if resumed%10 == 0 { // let the other one have it
			for c.line(t) != "made" {
				continue
			}
		}
	}
	c.kill(t)
}
