//go:build unix

package config

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Neither waits for another end, nor reads without end.
func TestNothingButRegularFilesIsOpened(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, unix.Mkfifo(pipe, 0o600))
	for _, path := range []string{pipe, "/dev/zero", "/dev/tty", "/", "/dev/null"} {
		_, err := ReadFile(path, 8)
		assert.Error(t, err, path)
		if path == "/dev/null" {
			continue
		}
		_, err = OpenAppend(path)
		assert.Error(t, err, path)
	}
	_, err := ReadFile(pipe, 8)
	assert.ErrorIs(t, err, ErrNotRegular)
	_, err = OpenAppend(pipe)
	assert.ErrorIs(t, err, ErrNotRegular)

	_, err = Load(flags(t, "--config", pipe), environment{}.env())
	assert.ErrorAs(t, err, new(*Error))
}
