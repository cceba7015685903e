package main

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// openTerminal returns the two ends of a new terminal.
func openTerminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminals here:", err)
	}
	t.Cleanup(func() { _ = person.Close() })
	fd := int(person.Fd())
	require.NoError(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	require.NoError(t, err)
	program, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = program.Close() })
	return person, program
}

func TestT10Terminal(t *testing.T) {
	person, program := openTerminal(t)
	cmd := command(t)
	stderr := &strings.Builder{}
	cmd.Stdin, cmd.Stderr = program, stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())

	_, err = io.WriteString(person, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n")
	require.NoError(t, err)
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	assert.Contains(t, line, `"id":1`)

	_, err = io.WriteString(person, "\x04") // the end of input, as a person types it
	require.NoError(t, err)
	require.NoError(t, cmd.Wait())
	assert.Equal(t, 1, strings.Count(stderr.String(), "\n"), "one line that says what is expected")
}

func TestT10TerminalThatSaysNothing(t *testing.T) {
	person, program := openTerminal(t)
	cmd := command(t)
	said, err := cmd.StderrPipe()
	require.NoError(t, err)
	cmd.Stdin = program
	require.NoError(t, cmd.Start())
	_, err = bufio.NewReader(said).ReadString('\n') // it has begun
	require.NoError(t, err)
	_, err = io.WriteString(person, "\x04")
	require.NoError(t, err)
	assert.NoError(t, cmd.Wait())
}

// A person's terminal gets nothing that would steer it; a pipe gets the text.
func TestTheAnswerIsMadeFitForATerminal(t *testing.T) {
	script := filepath.Join(t.TempDir(), "script.yaml")
	require.NoError(t, os.WriteFile(script, []byte(`- {text: "a\e[2Jb\u202Ec\e]52;c;aGk=\a\e]8;;http://x\e\\d\r"}`+"\n"), 0o600))
	shown := func(args ...string) string {
		person, program := openTerminal(t)
		cmd := command(t, append([]string{"--mock-script", script, "-p", "hi"}, args...)...)
		cmd.Stdout = program
		require.NoError(t, cmd.Run())
		line, err := bufio.NewReader(person).ReadString('\n')
		require.NoError(t, err)
		return line
	}
	const raw = "a\x1b[2Jb\u202ec\x1b]52;c;aGk=\a\x1b]8;;http://x\x1b\\d\r"
	assert.Equal(t, `a\u001b[2Jb\u202ec\u001b]52;c;aGk=\u0007\u001b]8;;http://x\u001b\d\u000d`+"\r\n", shown())
	assert.Equal(t, raw+"\r\n", shown("--raw"))

	piped := command(t, "--mock-script", script, "-p", "hi")
	out, err := piped.Output()
	require.NoError(t, err)
	assert.Equal(t, raw+"\n", string(out))
}
