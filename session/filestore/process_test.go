package filestore_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/filestore"
	"github.com/prism-rpc/prism-rpc/session/internal/storetest"
)

// These name the part that this test binary plays when a test runs it again as
// another process, and the store it plays it on.
const (
	childPart = "FILESTORE_TEST_PART"
	childDir  = "FILESTORE_TEST_DIR"
)

var parts = map[string]func(*filestore.Store) error{
	"commit": commitForEver,
	"hold":   holdUntilTold,
	"full":   fillUp,
	"list":   listForEver,
	"delete": deleteForEver,
	"packed": listWithoutRoom,
}

func TestMain(m *testing.M) {
	part := parts[os.Getenv(childPart)]
	if part == nil {
		os.Exit(m.Run())
	}
	store, err := filestore.Open(os.Getenv(childDir), filestore.Options{})
	if err == nil {
		err = part(store)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// commitForEver goes on with session s1 and prints each turn once committed.
func commitForEver(store *filestore.Store) error {
	turns := 0
	l, err := store.Open("s1", func(record []byte) error {
		if strings.Contains(string(record[:20]), `"t":"turn"`) {
			turns++
		}
		return nil
	})
	if err != nil {
		return err
	}
	text := strings.Repeat("answer ", 20_000)
	for n := turns + 1; ; n++ {
		if err := errors.Join(l.Append(storetest.Started(n)), l.Commit(n, storetest.Turn(n, text))); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// holdUntilTold holds session s1 until stdin ends.
func holdUntilTold(store *filestore.Store) error {
	l, err := store.Open("s1", storetest.Ignore)
	if err != nil {
		return err
	}
	fmt.Println("held")
	_, err = io.Copy(io.Discard, os.Stdin)
	return errors.Join(err, l.Close(), store.Close())
}

// A child is this test binary playing a part.
type child struct {
	*exec.Cmd
	stdin io.WriteCloser
	lines *bufio.Scanner
}

func play(t *testing.T, part, dir string) *child {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	c := &child{Cmd: exec.CommandContext(t.Context(), exe)}
	c.Env = append(os.Environ(), childPart+"="+part, childDir+"="+dir)
	c.Stderr = os.Stderr
	c.stdin, err = c.StdinPipe()
	require.NoError(t, err)
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	c.lines = bufio.NewScanner(out)
	require.NoError(t, c.Start())
	return c
}

func (c *child) line(t *testing.T) string {
	t.Helper()
	require.True(t, c.lines.Scan(), "the child says nothing more: %v", c.lines.Err())
	return c.lines.Text()
}

// kill ends the child at once, wherever it is, and returns what it still said.
func (c *child) kill(t *testing.T) (rest []string) {
	t.Helper()
	require.NoError(t, c.Process.Kill())
	for c.lines.Scan() {
		rest = append(rest, c.lines.Text())
	}
	assert.Error(t, c.Wait())
	return rest
}

func TestU11KilledWriterLosesNoCommittedTurn(t *testing.T) {
	dir := t.TempDir()
	store := open(t, dir)
	storetest.Fill(t, store, "s1", 0)
	last := 0
	for round := range 8 {
		c := play(t, "commit", dir)
		said := []string{c.line(t)}
		for range round {
			said = append(said, c.line(t))
		}
		said = append(said, c.kill(t)...)

		first, err := strconv.Atoi(said[0])
		require.NoError(t, err)
		assert.Greater(t, first, last, "a child goes on behind what was committed")
		last, err = strconv.Atoi(said[len(said)-1])
		require.NoError(t, err)
		assert.GreaterOrEqual(t, countTurns(t, store), last)
	}
	l, _ := storetest.Reopen(t, store, "s1")
	assert.NoError(t, l.Close(), "a dead process's lock is free")
}

func countTurns(t *testing.T, store session.Store) (turns int) {
	t.Helper()
	for _, record := range storetest.Read(t, store, "s1") {
		if strings.HasPrefix(string(record), `{"v":1,"t":"turn",`) {
			turns++
			require.True(t, strings.HasPrefix(string(record), fmt.Sprintf(`{"v":1,"t":"turn","turn":%d,`, turns)))
		}
	}
	return turns
}

func TestU12SecondProcessIsToldWhoHoldsTheSession(t *testing.T) {
	dir := t.TempDir()
	store := open(t, dir)
	written := storetest.Fill(t, store, "s1", 1)
	storetest.Fill(t, store, "s2", 1)

	c := play(t, "hold", dir)
	require.Equal(t, "held", c.line(t))
	_, err := store.Open("s1", storetest.Ignore)
	var locked *session.LockedError
	require.ErrorAs(t, err, &locked)
	assert.Equal(t, c.Process.Pid, locked.PID)
	_, err = time.Parse(time.RFC3339, locked.Since)
	assert.NoError(t, err)
	_, err = store.Create("s1", storetest.Header("s1"))
	assert.ErrorIs(t, err, session.ErrExists)
	assert.Equal(t, written, storetest.Read(t, store, "s1"), "reading needs no lock")
	other, _ := storetest.Reopen(t, store, "s2")
	require.NoError(t, other.Close())

	require.NoError(t, c.stdin.Close())
	require.NoError(t, c.Wait())
	l, _ := storetest.Reopen(t, store, "s1")
	assert.NoError(t, l.Close())
}

// Locks are taken and let go of in quick turn, so that removing a lock file
// and locking it meet. The stores know nothing of each other.
func TestU12LockExcludesWhileItsFileComesAndGoes(t *testing.T) {
	dir := t.TempDir()
	storetest.Fill(t, open(t, dir), "s1", 1)
	var holders, takes atomic.Int32
	var wg sync.WaitGroup
	for range 4 {
		store := open(t, dir)
		wg.Go(func() {
			for range 200 {
				l, err := store.Open("s1", storetest.Ignore)
				if err != nil {
					var locked *session.LockedError
					assert.ErrorAs(t, err, &locked)
					continue
				}
				assert.EqualValues(t, 1, holders.Add(1))
				takes.Add(1)
				holders.Add(-1)
				assert.NoError(t, l.Close())
			}
		})
	}
	wg.Wait()
	assert.Positive(t, takes.Load())
}

func TestU12StaleLockIsTakenOver(t *testing.T) {
	dir := t.TempDir()
	store := open(t, dir)
	storetest.Fill(t, store, "s1", 1)
	c := play(t, "hold", dir)
	require.Equal(t, "held", c.line(t))
	c.kill(t)
	require.FileExists(t, dir+"/locks/s1.lock")

	l, _ := storetest.Reopen(t, store, "s1")
	_, err := open(t, dir).Open("s1", storetest.Ignore)
	var locked *session.LockedError
	require.ErrorAs(t, err, &locked)
	assert.Equal(t, os.Getpid(), locked.PID, "the dead process's name is gone")
	require.NoError(t, l.Close())
	assert.NoFileExists(t, dir+"/locks/s1.lock")
}
