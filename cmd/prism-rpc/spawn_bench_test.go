package main

import (
	"bufio"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkSpawn is the time from starting the process to its first answer:
// "echo" is the floor, a bare loop linked with the same libraries.
func BenchmarkSpawn(b *testing.B) {
	dir := b.TempDir()
	for name, pkg := range map[string]string{"prism-rpc": ".", "echo": "./testdata/echo"} {
		out, err := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(dir, name), pkg).CombinedOutput()
		require.NoError(b, err, "%s", out)
	}
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n"
	prompt := `{"jsonrpc":"2.0","id":1,"method":"prompt","params":{"input":"hi"}}` + "\n"
	b.Run("echo", func(b *testing.B) { spawn(b, ping, `"id":1`, filepath.Join(dir, "echo")) })
	b.Run("ping", func(b *testing.B) {
		spawn(b, ping, `"id":1`, filepath.Join(dir, "prism-rpc"), "--provider=mock", "--store=memory")
	})
	b.Run("first-delta", func(b *testing.B) {
		spawn(b, prompt, `"message_delta"`, filepath.Join(dir, "prism-rpc"), "--provider=mock", "--store=memory")
	})
	b.Run("first-delta-file-store", func(b *testing.B) {
		spawn(b, prompt, `"message_delta"`, filepath.Join(dir, "prism-rpc"), "--provider=mock", "--store-dir="+b.TempDir())
	})
}

func spawn(b *testing.B, request, until, program string, args ...string) {
	for b.Loop() {
		cmd := exec.Command(program, args...)
		in, err := cmd.StdinPipe()
		require.NoError(b, err)
		out, err := cmd.StdoutPipe()
		require.NoError(b, err)
		require.NoError(b, cmd.Start())
		_, err = io.WriteString(in, request)
		require.NoError(b, err)
		lines := bufio.NewScanner(out)
		for lines.Scan() && !strings.Contains(lines.Text(), until) {
		}
		require.Contains(b, lines.Text(), until)
		b.StopTimer()
		require.NoError(b, in.Close())
		_, err = io.Copy(io.Discard, out)
		require.NoError(b, err)
		require.NoError(b, cmd.Wait())
		b.StartTimer()
	}
}
