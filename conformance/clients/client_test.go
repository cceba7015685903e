package clients

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A client is a program that spawns prism-rpc and shows what it is told.
type client struct {
	name    string
	command string // as its file gives it, from the root of the repository
	file    string // examples/… or testdata/…
	framing string
	chatter string // regexp: what the client itself may say on stderr
}

// obituary is what Emacs, in batch, says of a server's end, unless it ends
// before it gets to that.
const obituary = `\[jsonrpc\] Server exited with status [09]\n`

// examples are the programs of examples/, which all hold one conversation.
var examples = []client{
	{"node, lines", "node examples/node/lines.mjs", "examples/node/lines.mjs", "lines", ""},
	{"vscode-jsonrpc", "node examples/node/vscode.mjs", "examples/node/vscode.mjs", "headers", ""},
	{"python, lines", "python3 examples/python/lines.py", "examples/python/lines.py", "lines", ""},
	{"neovim", "nvim --headless -u NONE -i NONE -S examples/neovim/prism.lua -c qall!", "examples/neovim/prism.lua", "headers", ""},
	{"emacs", "emacs -Q --batch -l examples/emacs/prism.el", "examples/emacs/prism.el", "headers", obituary},
	{"go, lines", "go run ./examples/go", "examples/go/main.go", "lines", ""},
	{"go, headers", "go run ./examples/go -headers", "examples/go/main.go", "headers", ""},
}

// A line that a client showed: NAME JSON.
type line struct {
	name  string
	value jsontext.Value
}

// A transcript is all of them, in order.
type transcript []line

// run runs the client until it ends, on a prism-rpc that it finds at program.
func (c client) run(t *testing.T, program string, env ...string) transcript {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.find(t), c.args()...)
	cmd.Dir, cmd.WaitDelay = root, time.Second
	cmd.Env = append(environment(t), "PRISM_RPC="+program)
	cmd.Env = append(cmd.Env, env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	require.NoError(t, err, "%s\n%s", &stdout, &stderr)
	own := regexp.MustCompile(c.chatter).ReplaceAllString(stderr.String(), "")
	assert.Empty(t, strings.TrimSpace(own), "the client's stderr")
	return parse(t, stdout.String())
}

// find is the path of the client's program; the test fails without it.
func (c client) find(t *testing.T) string {
	t.Helper()
	if strings.HasPrefix(c.command, "go run") {
		return goExample
	}
	name, _, _ := strings.Cut(c.command, " ")
	path, err := exec.LookPath(name)
	if err != nil && testing.Short() {
		t.Skip("there is no " + name)
	}
	require.NoError(t, err, "conformance/clients/install installs it")
	return path
}

func (c client) args() []string {
	return strings.Fields(strings.TrimPrefix(c.command, "go run"))[1:]
}

// environment is the test's, without what would configure prism-rpc.
func environment(t *testing.T) []string {
	dir := t.TempDir()
	env := []string{"LC_ALL=C.UTF-8", "XDG_CONFIG_HOME=" + dir, "XDG_STATE_HOME=" + dir, "XDG_DATA_HOME=" + dir, "XDG_CACHE_HOME=" + dir}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "OPENAI_") && !strings.HasPrefix(v, "XDG_") && !strings.HasPrefix(v, "LC_ALL=") {
			env = append(env, v)
		}
	}
	return env
}

func parse(t *testing.T, stdout string) transcript {
	t.Helper()
	var lines transcript
	for text := range strings.Lines(stdout) {
		name, value, found := strings.Cut(strings.TrimSuffix(text, "\n"), " ")
		require.True(t, found && jsontext.Value(value).IsValid(), text)
		lines = append(lines, line{name, jsontext.Value(value)})
	}
	return lines
}

// at is the place of the only line of that name.
func (tr transcript) at(t *testing.T, name string) int {
	t.Helper()
	found := -1
	for i, l := range tr {
		if l.name == name {
			require.Equal(t, -1, found, "%s is shown once", name)
			found = i
		}
	}
	require.NotEqual(t, -1, found, "%s is shown", name)
	return found
}

// get decodes it.
func get[T any](t *testing.T, tr transcript, name string) T {
	t.Helper()
	return decode[T](t, tr[tr.at(t, name)].value)
}

func decode[T any](t *testing.T, value jsontext.Value) T {
	t.Helper()
	var v T
	require.NoError(t, json.Unmarshal(value, &v), string(value))
	return v
}

// direct is a program that becomes prism-rpc and has its stderr in a file,
// since some clients keep that to themselves.
func direct(t *testing.T) (program, stderr string) {
	t.Helper()
	dir := t.TempDir()
	program, stderr = filepath.Join(dir, "prism-rpc"), filepath.Join(dir, "stderr")
	script := "#!/bin/sh\nexec '" + prismRPC + "' \"$@\" 2>>'" + stderr + "'\n"
	require.NoError(t, os.WriteFile(program, []byte(script), 0o700))
	return program, stderr
}
