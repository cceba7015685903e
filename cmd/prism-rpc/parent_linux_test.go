package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// An orphan is a prism-rpc below a parent that can be killed. The test holds
// both of its pipes, as a grandchild or a sibling of the parent would: no end
// of input comes, and there is a reader. It inherits the orphan, to see how
// that ends.
type orphan struct {
	parent  *exec.Cmd
	process *os.Process
	in      *os.File
	out     *bufio.Reader
}

func startOrphan(t *testing.T, args ...string) *orphan {
	t.Helper()
	require.NoError(t, unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
	t.Cleanup(func() { assert.NoError(t, unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)) })
	inRead, inWrite := pipe(t)
	outRead, outWrite := pipe(t)
	child := command(t, args...)
	parent := exec.CommandContext(t.Context(), "parent", child.Args...)
	parent.Env, parent.Stdin, parent.Stdout = child.Env, inRead, outWrite
	said, err := parent.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, parent.Start())
	require.NoError(t, inRead.Close())
	require.NoError(t, outWrite.Close())
	line, err := bufio.NewReader(said).ReadString('\n')
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	require.NoError(t, err)
	process, err := os.FindProcess(pid)
	require.NoError(t, err)
	t.Cleanup(func() { _ = process.Kill() }) // gone already where the test holds
	return &orphan{parent, process, inWrite, bufio.NewReader(outRead)}
}

func pipe(t *testing.T) (read, write *os.File) {
	t.Helper()
	read, write, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = read.Close(), write.Close() })
	return read, write
}

func (o *orphan) send(t *testing.T, line string) {
	t.Helper()
	_, err := io.WriteString(o.in, line+"\n")
	require.NoError(t, err)
}

func (o *orphan) until(t *testing.T, text string) string {
	t.Helper()
	return (&child{out: o.out}).until(t, text)
}

// kill kills the parent.
func (o *orphan) kill(t *testing.T) {
	t.Helper()
	require.NoError(t, o.parent.Process.Kill())
	_ = o.parent.Wait() // says that it was killed
}

// code waits for the orphan's end, and brings it about where it doesn't come.
func (o *orphan) code(t *testing.T) int {
	t.Helper()
	late := time.AfterFunc(10*time.Second, func() { _ = o.process.Kill() })
	defer late.Stop()
	state, err := o.process.Wait()
	require.NoError(t, err)
	return state.ExitCode()
}

func TestT12ParentKilledWhileIdle(t *testing.T) {
	o := startOrphan(t)
	o.send(t, ping)
	o.until(t, `"id":1`)
	killed := time.Now()
	o.kill(t)
	assert.Equal(t, 1, o.code(t))
	assert.Less(t, time.Since(killed), time.Second) // some ms, were the machine ours
}

func TestT12ParentKilledMidAnswer(t *testing.T) {
	o := startOrphan(t, "--mock-script", stallScript(t))
	o.send(t, prompt)
	o.until(t, "message_delta")
	killed := time.Now()
	o.kill(t)
	assert.Contains(t, o.until(t, `"id":"p"`), `"stopReason":"cancelled"`, "whoever still reads has the answer")
	assert.Equal(t, 1, o.code(t))
	assert.Less(t, time.Since(killed), time.Second)
}

func TestT12ParentKilledWhileNobodyReadsTheAnswer(t *testing.T) {
	o := startOrphan(t)
	for range 200 { // more than the pipe takes
		o.send(t, `{"jsonrpc":"2.0","id":"`+strings.Repeat("x", 1000)+`","method":"ping"}`)
	}
	o.until(t, `"id"`)
	killed := time.Now()
	o.kill(t)
	assert.Equal(t, 1, o.code(t))
	assert.Less(t, time.Since(killed), killAfter)
}

func TestParentWatchOff(t *testing.T) {
	o := startOrphan(t, "--parent-watch=off")
	o.send(t, ping)
	o.until(t, `"id":1`)
	o.kill(t)
	o.send(t, prompt)
	o.until(t, `"stopReason":"end_turn"`)
	require.NoError(t, o.in.Close())
	assert.Equal(t, 0, o.code(t))
}

func TestParentThatWentBeforeItWasWatched(t *testing.T) {
	gone := exec.Command("true")
	require.NoError(t, gone.Run())
	assert.ErrorIs(t, awaitLoss(-1, gone.Process.Pid), errParentGone)
	assert.ErrorIs(t, awaitLoss(-1, 1), errParentGone, "another process has its id by now")
}

func TestNothingToWatch(t *testing.T) {
	assert.NoError(t, awaitLoss(-1, noParent))
	assert.NoError(t, awaitLoss(1<<20, noParent), "a descriptor that is none")
}
