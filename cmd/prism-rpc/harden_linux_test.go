package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// procFile reads a file of /proc of a child that has answered once.
func procFile(t *testing.T, c *child, name string) string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", c.Process.Pid, name))
	require.NoError(t, err)
	return string(text)
}

// answered is a child that has answered a ping.
func answered(t *testing.T, cmd *exec.Cmd) *child {
	t.Helper()
	c := &child{Cmd: cmd}
	launch(t, c)
	c.send(t, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	c.until(t, `"id":1`)
	return c
}

func (c *child) end(t *testing.T) {
	t.Helper()
	require.NoError(t, c.in.Close())
	require.NoError(t, c.Wait())
	assert.Empty(t, c.stderr.String())
}

func coreLimit(t *testing.T, c *child) string {
	for line := range strings.Lines(procFile(t, c, "limits")) {
		if rest, found := strings.CutPrefix(line, "Max core file size"); found {
			return strings.Fields(rest)[0]
		}
	}
	return ""
}

func TestTheProcessLeavesNoCoreFile(t *testing.T) {
	c := answered(t, command(t))
	assert.Equal(t, "0", coreLimit(t, c))
	c.end(t)
}

// The environment of a process that is not dumpable is root's to read.
func TestOthersOfTheUserCanNotReadTheEnvironment(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to run the program as somebody else")
	}
	binary, err := exec.LookPath("prism-rpc")
	require.NoError(t, err)
	program, err := os.ReadFile(binary)
	require.NoError(t, err)
	copied := filepath.Join(openFolder(t), "prism-rpc")
	require.NoError(t, os.WriteFile(copied, program, 0o755))
	for flag, owner := range map[string]uint32{"--framing=lines": 0, "--debuggable": 65534} {
		cmd := exec.CommandContext(t.Context(), copied, "--provider=mock", "--store=memory", "--parent-watch=off", flag)
		cmd.Env = []string{"HOME=/nonexistent", "OPENAI_API_KEY=canary-of-the-environment"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		c := answered(t, cmd)
		info, err := os.Stat(fmt.Sprintf("/proc/%d/environ", c.Process.Pid))
		require.NoError(t, err)
		stat, ok := info.Sys().(*syscall.Stat_t)
		require.True(t, ok)
		assert.Equal(t, owner, stat.Uid, flag)
		c.end(t)
	}
}

// openFolder is a folder that everybody may look into.
func openFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "prism")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755))
	return dir
}
