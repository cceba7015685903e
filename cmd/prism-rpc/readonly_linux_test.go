package main

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadOnlyStoreIsToldInANoticeAndCanBeRead(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m,mode=700"); err != nil {
		t.Skip("no tmpfs can be mounted: ", err)
	}
	t.Cleanup(func() { assert.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	const ask = `{"jsonrpc":"2.0","id":"p","method":"prompt","params":{"sessionId":"s","input":"hi"}}`
	first := &child{Cmd: command(t, "--store=file", "--store-dir", dir)}
	launch(t, first)
	first.send(t, ask)
	assert.Contains(t, first.until(t, `"id":"p"`), `"committed":true`)
	require.NoError(t, first.in.Close())
	require.NoError(t, first.Wait())

	require.NoError(t, syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	second := &child{Cmd: command(t, "--store=file", "--store-dir", dir)}
	launch(t, second)
	second.send(t, `{"jsonrpc":"2.0","id":"m","method":"messages","params":{"sessionId":"s"}}`)
	assert.Contains(t, second.until(t, `"id":"m"`), `"text":"hi"`)
	assert.Contains(t, second.until(t, `"method":"notice"`), `"level":"warning","kind":"store_readonly"`)
	second.send(t, ask)
	assert.Contains(t, second.until(t, `"id":"p"`), `"kind":"store_error"`)
	require.NoError(t, second.in.Close())
	require.NoError(t, second.Wait())
}
