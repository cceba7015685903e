package conformance

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
)

// build makes the program from source.
func build(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "prism-rpc")
	cmd := exec.Command("go", "build", "-o", path, "./cmd/prism-rpc")
	cmd.Dir = ".."
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return path
}

// A client speaks to a prism-rpc of its own, a line a message.
type client struct {
	t   *testing.T
	in  io.WriteCloser
	out *bufio.Reader
	cmd *exec.Cmd
	id  int
}

// An incoming message: a reply or a notification.
type incoming struct {
	ID     jsontext.Value `json:"id"`
	Method string         `json:"method"`
	Params jsontext.Value `json:"params"`
	Result jsontext.Value `json:"result"`
	Error  *rpcError      `json:"error"`
}

type rpcError struct {
	Code    int            `json:"code"`
	Message string         `json:"message"`
	Data    map[string]any `json:"data"`
}

// An event of a turn.
type event struct {
	Type string `json:"type"`
	Text string `json:"text"`
	Name string `json:"name"`
}

func spawn(t *testing.T, program string, env []string, args ...string) *client {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	home := t.TempDir()
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_CONFIG_HOME=" + home, "XDG_STATE_HOME=" + home}, env...)
	cmd.Dir = home
	cmd.Stderr = t.Output()
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	return &client{t: t, in: in, out: bufio.NewReader(out), cmd: cmd}
}

// call sends a request and returns its reply and the events before it.
func (c *client) call(method string, params any) (incoming, []event) {
	c.t.Helper()
	c.id++
	encoded, err := json.Marshal(params)
	require.NoError(c.t, err)
	_, err = fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", c.id, method, encoded)
	require.NoError(c.t, err)
	var events []event
	for {
		m := c.next()
		switch {
		case m.Method == "event":
			var e event
			require.NoError(c.t, json.Unmarshal(m.Params, &e))
			events = append(events, e)
		case string(m.ID) == fmt.Sprint(c.id):
			return m, events
		}
	}
}

func (c *client) next() incoming {
	c.t.Helper()
	line, err := c.out.ReadBytes('\n')
	require.NoError(c.t, err)
	var m incoming
	require.NoError(c.t, json.Unmarshal(line, &m), string(line))
	return m
}

// close ends the input, which ends the program: with code 0.
func (c *client) close() {
	c.t.Helper()
	require.NoError(c.t, c.in.Close())
	late := time.AfterFunc(time.Minute, func() { _ = c.cmd.Process.Kill() })
	defer late.Stop()
	_, err := io.Copy(io.Discard, c.out)
	require.NoError(c.t, err)
	require.NoError(c.t, c.cmd.Wait())
}

// turnResult is what the tests look at of a prompt's result.
type turnResult struct {
	SessionID  string `json:"sessionId"`
	Turn       int    `json:"turn"`
	Committed  bool   `json:"committed"`
	StopReason string `json:"stopReason"`
	Message    struct {
		Content []struct{ Text string } `json:"content"`
	} `json:"message"`
	Usage struct {
		InputTokens int `json:"inputTokens"`
	} `json:"usage"`
	Injected []struct {
		Name      string `json:"name"`
		Placement string `json:"placement"`
	} `json:"injected"`
}

func (c *client) turn(method string, params any) (turnResult, []event) {
	c.t.Helper()
	reply, events := c.call(method, params)
	require.Nil(c.t, reply.Error)
	var r turnResult
	require.NoError(c.t, json.Unmarshal(reply.Result, &r, json.MatchCaseInsensitiveNames(true)))
	return r, events
}

func (r turnResult) text() string {
	if len(r.Message.Content) == 0 {
		return ""
	}
	return r.Message.Content[0].Text
}
