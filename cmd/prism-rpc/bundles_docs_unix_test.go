//go:build unix

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each file that docs/bundles.md shows is written, then each command is run,
// and has to print what the page says.
func TestP18_the_examples_of_the_documentation_run(t *testing.T) {
	page, err := os.ReadFile("../../docs/bundles.md")
	require.NoError(t, err)
	root := t.TempDir()
	files := regexp.MustCompile("(?s)\n`([^`\n]+)`:\n\n```[a-z]+\n(.*?)```").FindAllSubmatch(page, -1)
	require.Equal(t, 8, len(files))
	for _, f := range files {
		path := filepath.Join(root, string(f[1]))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, f[2], 0o600))
	}
	commands := regexp.MustCompile("(?s)```sh\n(.*?)```\n\n```text\n(.*?)```").FindAllSubmatch(page, -1)
	require.Equal(t, 4, len(commands))
	for _, c := range commands {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		cmd := exec.CommandContext(ctx, "sh", "-c", string(c[1]))
		cmd.Dir, cmd.Env = root, append(os.Environ(), "HOME="+root, "GORACE=atexit_sleep_ms=0")
		out, err := cmd.Output()
		require.NoError(t, err, "%s", c[1])
		assert.Equal(t, string(c[2]), string(out), "%s", c[1])
	}
}
