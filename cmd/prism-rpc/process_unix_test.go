//go:build unix

package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A child is a running prism-rpc.
type child struct {
	*exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *strings.Builder
}

// command is prism-rpc with a home of its own. A test that it outlives kills it.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "prism-rpc", append([]string{"--provider", "mock", "--store=memory"}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "GORACE=atexit_sleep_ms=0")
	return cmd
}

// startChild starts a child whose mock stalls after its first words.
func startChild(t *testing.T, args ...string) *child {
	t.Helper()
	c := &child{Cmd: command(t, append([]string{"--mock-script", stallScript(t)}, args...)...)}
	launch(t, c)
	return c
}

// launch runs a child's command.
func launch(t *testing.T, c *child) {
	t.Helper()
	c.stderr = &strings.Builder{}
	c.Stderr = c.stderr
	var err error
	c.in, err = c.StdinPipe()
	require.NoError(t, err)
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	c.out = bufio.NewReader(out)
	require.NoError(t, c.Start())
}

// stallScript makes the mock stall after its first words.
func stallScript(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script.yaml")
	require.NoError(t, os.WriteFile(path, []byte("- {deltas: [some, words], then: stall}\n"), 0o600))
	return path
}

func (c *child) send(t *testing.T, line string) {
	t.Helper()
	_, err := io.WriteString(c.in, line+"\n")
	require.NoError(t, err)
}

// until reads lines up to the first that holds text.
func (c *child) until(t *testing.T, text string) string {
	t.Helper()
	for {
		line, err := c.out.ReadString('\n')
		require.NoError(t, err, "before a line with %s", text)
		if strings.Contains(line, text) {
			return line
		}
	}
}

const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

const prompt = `{"jsonrpc":"2.0","id":"p","method":"prompt","params":{"input":"hi"}}`

func TestSignalAnswersWhatIsPending(t *testing.T) {
	for signal, code := range map[syscall.Signal]int{syscall.SIGTERM: 143, syscall.SIGINT: 130, syscall.SIGHUP: 129} {
		t.Run(signal.String(), func(t *testing.T) {
			c := startChild(t)
			c.send(t, prompt)
			c.until(t, "message_delta")
			sent := time.Now()
			require.NoError(t, c.Process.Signal(signal))
			assert.Contains(t, c.until(t, `"id":"p"`), `"stopReason":"cancelled"`)
			assert.Less(t, time.Since(sent), 1500*time.Millisecond)
			_, err := io.Copy(io.Discard, c.out)
			require.NoError(t, err)
			_ = c.Wait()
			assert.Equal(t, code, c.ProcessState.ExitCode())
			assert.Empty(t, c.stderr.String())
		})
	}
}

func TestSignalEndsAnIdleProcess(t *testing.T) {
	c := startChild(t)
	c.send(t, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	c.until(t, `"id":1`)
	require.NoError(t, c.Process.Signal(syscall.SIGTERM))
	_ = c.Wait()
	assert.Equal(t, 143, c.ProcessState.ExitCode())
}

func TestSignalEndsAsking(t *testing.T) {
	c := startChild(t, "-p", "hi")
	word := make([]byte, 4)
	_, err := io.ReadFull(c.out, word)
	require.NoError(t, err)
	require.NoError(t, c.Process.Signal(syscall.SIGINT))
	_, err = io.Copy(io.Discard, c.out)
	require.NoError(t, err)
	_ = c.Wait()
	assert.Equal(t, 130, c.ProcessState.ExitCode())
}

func TestT11ReaderThatGoesWhileIdle(t *testing.T) {
	read, write, err := os.Pipe()
	require.NoError(t, err)
	cmd := command(t)
	cmd.Stdout = write
	in, err := cmd.StdinPipe() // stays open: the end of input is not what ends it
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	require.NoError(t, write.Close())
	_, err = io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n")
	require.NoError(t, err)
	_, err = bufio.NewReader(read).ReadString('\n')
	require.NoError(t, err)
	require.NoError(t, read.Close())
	_ = cmd.Wait()
	assert.Equal(t, 1, cmd.ProcessState.ExitCode())
	assert.Less(t, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime(), time.Second)
}

func TestStdinIsASocket(t *testing.T) { // as libuv's children have it
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	require.NoError(t, err)
	syscall.CloseOnExec(fds[0])
	syscall.CloseOnExec(fds[1])
	ours, theirs := os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs")
	cmd := command(t)
	cmd.Stdin, cmd.Stdout = theirs, theirs
	require.NoError(t, cmd.Start())
	require.NoError(t, theirs.Close())
	_, err = io.WriteString(ours, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n")
	require.NoError(t, err)
	line, err := bufio.NewReader(ours).ReadString('\n')
	require.NoError(t, err)
	assert.Contains(t, line, `"id":1`)
	require.NoError(t, ours.Close())
	_ = cmd.Wait()
	assert.True(t, cmd.ProcessState.Exited(), "it ends by itself")
}

func TestStderrThatNobodyReads(t *testing.T) {
	read, write, err := os.Pipe() // never read
	require.NoError(t, err)
	defer read.Close()
	c := command(t, "--log-level", "debug", "--redact-env", strings.Repeat("A", 200))
	for fill := make([]byte, 1<<12); ; { // until the pipe is full
		require.NoError(t, write.SetWriteDeadline(time.Now().Add(50*time.Millisecond)))
		if _, err := write.Write(fill); err != nil {
			break
		}
	}
	c.Stderr = write
	c.Stdin = strings.NewReader(prompt + "\n")
	out, err := c.Output()
	require.NoError(t, err)
	assert.Contains(t, string(out), `"stopReason":"end_turn"`)
}

func TestASecondSignalEndsAtOnce(t *testing.T) {
	script := filepath.Join(t.TempDir(), "script.yaml")
	require.NoError(t, os.WriteFile(script, []byte("- {deltas: [some, words], then: ignore_cancel}\n"), 0o600))
	c := startChild(t, "--mock-script", script)
	c.send(t, prompt)
	c.until(t, "message_delta")
	require.NoError(t, c.Process.Signal(syscall.SIGTERM))
	require.NoError(t, c.Process.Signal(syscall.SIGINT))
	sent := time.Now()
	_ = c.Wait()
	assert.Contains(t, []int{143, 130}, c.ProcessState.ExitCode(), "the system may swap them")
	assert.Less(t, time.Since(sent), time.Second)
}

func TestT11EveryCombinationOfClosedDescriptors(t *testing.T) {
	for closed := range 8 {
		redirect := ""
		for fd, how := range []string{" <&-", " >&-", " 2>&-"} {
			if closed&(1<<fd) != 0 {
				redirect += how
			}
		}
		t.Run("closed"+redirect, func(t *testing.T) {
			dir := t.TempDir()
			real := command(t, "--store=file", "--store-dir", dir, "--log-file", filepath.Join(dir, "log"), "--log-level", "debug")
			cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-c", `exec "$@"` + redirect, "sh"}, real.Args...)...)
			cmd.Env, cmd.Stdin = real.Env, strings.NewReader(ping+"\n")
			out, _ := cmd.Output() // the code is looked at below
			code := 0
			if closed&3 == 2 { // something may have been asked, and nobody can be answered
				code = 1
			}
			assert.Equal(t, code, cmd.ProcessState.ExitCode())
			assert.Equal(t, closed&3 == 0, strings.Contains(string(out), `"result":{}`))
			assert.Less(t, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime(), time.Second)
			assert.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
				if err == nil && !d.IsDir() {
					text, readErr := os.ReadFile(path)
					assert.NotContains(t, string(text), `"jsonrpc"`, path)
					err = readErr
				}
				return err
			}))
		})
	}
}

// What a library prints by the standard logger goes through ours: net/http
// prints what a server sends unasked, which may be anything.
func TestS2StandardLoggerIsRedacted(t *testing.T) {
	const canary = "canary-0123456789"
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() { // ends with the listener
		for {
			peer, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(peer, "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
			_, _ = io.WriteString(peer, canary)
		}
	}()
	for level, logged := range map[string]bool{"error": false, "debug": true} {
		cmd := command(t, "--provider=openai", "--base-url", "http://"+listener.Addr().String(), "--redact-env", "CANARY", "--log-level", level)
		cmd.Env = append(cmd.Env, "CANARY="+canary)
		stderr := &strings.Builder{}
		cmd.Stderr = stderr
		cmd.Stdin = strings.NewReader(prompt + "\n")
		out, err := cmd.Output()
		require.NoError(t, err)
		assert.NotContains(t, string(out)+stderr.String(), canary)
		for line := range strings.Lines(stderr.String()) {
			assert.True(t, strings.HasPrefix(line, `{"`), "a line of the log: %s", line)
			assert.True(t, logged, "nothing at level error: %s", line)
		}
	}
}

// How a turn ends does not hang on how fast the replayed server is.
func TestReplayOfTurnsThatWereCancelled(t *testing.T) {
	dir := t.TempDir()
	trace, script := filepath.Join(dir, "trace"), filepath.Join(dir, "script.yaml")
	require.NoError(t, os.WriteFile(script, []byte("- {match: slow, deltas: [some, words], then: stall, repeat: true}\n"), 0o600))
	c := startChild(t, "--mock-script", script, "--trace-file", trace)
	c.send(t, `{"jsonrpc":"2.0","id":1,"method":"newSession"}`)
	id := regexp.MustCompile(`"sessionId":"[^"]*"`).FindString(c.until(t, `"id":1`))
	c.send(t, `{"jsonrpc":"2.0","id":2,"method":"prompt","params":{"input":"slow",`+id+`}}`)
	run := regexp.MustCompile(`"runId":"[^"]*"`).FindString(c.until(t, "message_delta"))
	c.send(t, `{"jsonrpc":"2.0","id":3,"method":"prompt","params":{"input":"too soon",`+id+`}}`)
	c.send(t, `{"jsonrpc":"2.0","id":4,"method":"followUp","params":{"input":"next",`+id+`}}`)
	c.until(t, "session_busy")
	c.send(t, `{"jsonrpc":"2.0","id":5,"method":"abort","params":{`+run+`,`+id+`}}`)
	c.until(t, `"id":4`)
	c.send(t, `{"jsonrpc":"2.0","id":6,"method":"prompt","params":{"input":"slow","sessionId":"other"}}`)
	c.until(t, "message_delta")
	require.NoError(t, c.Process.Signal(syscall.SIGTERM))
	c.until(t, `"id":6`)
	_ = c.Wait() // its code is another test's
	for name, script := range map[string][]string{"with its script": {"--mock-script", script}, "with a mock that answers at once": nil} {
		t.Run(name, func(t *testing.T) {
			cmd := command(t, script...)
			cmd.Args = append(append(cmd.Args[:1:1], "replay", trace), script...)
			out, err := cmd.Output()
			assert.NoError(t, err)
			assert.True(t, strings.HasPrefix(string(out), "6 requests compared, 0 differences"), "%s", out)
		})
	}
	info, err := os.Stat(trace)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}
