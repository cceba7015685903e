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

// runPage writes each file that a page of the documentation shows, then runs
// each command, which has to print what the page says.
func runPage(t *testing.T, page string, fileCount, commandCount int) {
	t.Helper()
	text, err := os.ReadFile("../../docs/" + page)
	require.NoError(t, err)
	root := t.TempDir()
	files := regexp.MustCompile("(?s)\n`([^`\n]+)`:\n\n```[a-z]+\n(.*?)```").FindAllSubmatch(text, -1)
	require.Len(t, files, fileCount)
	for _, f := range files {
		path := filepath.Join(root, string(f[1]))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, f[2], 0o600))
	}
	commands := regexp.MustCompile("(?s)```sh\n(.*?)```\n\n```text\n(.*?)```").FindAllSubmatch(text, -1)
	require.Len(t, commands, commandCount)
	for _, c := range commands {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		cmd := exec.CommandContext(ctx, "sh", "-c", string(c[1]))
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "HOME="+root, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "GORACE=atexit_sleep_ms=0")
		out, err := cmd.Output()
		require.NoError(t, err, "%s", c[1])
		assert.Equal(t, string(c[2]), string(out), "%s", c[1])
	}
}

func TestP18_the_examples_of_the_documentation_of_bundles_run(t *testing.T) {
	runPage(t, "bundles.md", 8, 4)
}

// P11, P12: what is shown is what is sent, and the log says what was and what
// was not.
func TestP11_the_examples_of_the_documentation_of_preview_run(t *testing.T) {
	runPage(t, "preview.md", 1, 2)
}
