//go:build unix

package main

import (
	"bufio"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// startKeeping starts a child that keeps its sessions and reminders in files.
func startKeeping(t *testing.T, dir string) *child {
	t.Helper()
	c := &child{stderr: &strings.Builder{}, Cmd: command(t, "--store=file", "--store-dir", filepath.Join(dir, "store"))}
	c.Env = append(c.Env, "XDG_CONFIG_HOME="+filepath.Join(dir, "config"))
	c.Stderr = c.stderr
	var err error
	c.in, err = c.StdinPipe()
	require.NoError(t, err)
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	c.out = bufio.NewReader(out)
	require.NoError(t, c.Start())
	return c
}

// R6: what one process saves is live at the next turn of another, which tells
// its client; a revision that was read before is stale there.
func TestR6RemindersAreLiveInOtherProcesses(t *testing.T) {
	dir := t.TempDir()
	a, b := startKeeping(t, dir), startKeeping(t, dir)
	a.send(t, `{"jsonrpc":"2.0","id":1,"method":"prompt","params":{"sessionId":"a","input":"a question"}}`)
	assert.Contains(t, a.until(t, `"id":1,"result"`), `"injected":[]`)
	a.send(t, `{"jsonrpc":"2.0","id":2,"method":"getReminders"}`)
	_, read, _ := strings.Cut(a.until(t, `"id":2,"result"`), `"revision":"`)
	revision, _, _ := strings.Cut(read, `"`)

	b.send(t, `{"jsonrpc":"2.0","id":1,"method":"setReminders","params":{"prompts":[{"id":"wiki","text":"Search the wiki."}]}}`)
	b.until(t, `"id":1,"result"`)
	a.send(t, `{"jsonrpc":"2.0","id":3,"method":"prompt","params":{"sessionId":"a","input":"another question"}}`)
	a.until(t, `"kind":"reminders_changed"`)
	assert.Contains(t, a.until(t, `"id":3,"result"`), `"injected":[{"name":"wiki","origin":"user"`)
	a.send(t, `{"jsonrpc":"2.0","id":4,"method":"setReminders","params":{"prompts":[],"revision":"`+revision+`"}}`)
	assert.Contains(t, a.until(t, `"id":4,"error"`), `"code":-32005`)

	// In one write, a change is in force for the turn that is asked for behind it.
	b.send(t, `{"jsonrpc":"2.0","id":2,"method":"setReminders","params":{"enabled":false}}`+"\n"+
		`{"jsonrpc":"2.0","id":3,"method":"prompt","params":{"sessionId":"b","input":"a question"}}`)
	assert.Contains(t, b.until(t, `"id":3,"result"`), `"injected":[]`)
	for _, c := range []*child{a, b} {
		require.NoError(t, c.in.Close())
		require.NoError(t, c.Wait())
		assert.Empty(t, c.stderr.String())
	}
}

// R2, R1: what is due after a compaction, and what is kept, outlives kill -9.
func TestR2RemindersAfterAKill(t *testing.T) {
	dir := t.TempDir()
	a := startKeeping(t, dir)
	a.send(t, `{"jsonrpc":"2.0","id":1,"method":"setReminders","params":{"prompts":[{"id":"once","text":"Read the plan.","trigger":"postCompaction"},{"id":"kept","text":"Tabs.","retention":"keep"}]}}
{"jsonrpc":"2.0","id":2,"method":"prompt","params":{"sessionId":"s","input":"a question"}}`)
	a.until(t, `"id":2,"result"`)
	a.send(t, `{"jsonrpc":"2.0","id":3,"method":"compact","params":{"sessionId":"s"}}`)
	a.until(t, `"id":3,"result"`)
	require.NoError(t, a.Process.Kill())
	require.Error(t, a.Wait())

	a = startKeeping(t, dir)
	a.send(t, `{"jsonrpc":"2.0","id":1,"method":"prompt","params":{"sessionId":"s","input":"another question"}}`)
	assert.Contains(t, a.until(t, `"id":1,"result"`), `Injected: once (notice), kept (notice)`)
	require.NoError(t, a.Process.Kill())
	require.Error(t, a.Wait())

	a = startKeeping(t, dir)
	a.send(t, `{"jsonrpc":"2.0","id":1,"method":"prompt","params":{"sessionId":"s","input":"one more question"}}`)
	assert.Contains(t, a.until(t, `"id":1,"result"`), `Injected: kept (notice)`)
	a.send(t, `{"jsonrpc":"2.0","id":2,"method":"messages","params":{"sessionId":"s"}}`)
	assert.NotContains(t, a.until(t, `"id":2,"result"`), "Tabs.")
	require.NoError(t, a.in.Close())
	require.NoError(t, a.Wait())
}
