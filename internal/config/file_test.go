package config

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	require.NoError(t, os.WriteFile(path, []byte("12345678"), 0o600))

	data, err := ReadFile(path, 8)
	require.NoError(t, err)
	assert.Equal(t, "12345678", string(data))
	_, err = ReadFile(path, 7)
	assert.ErrorIs(t, err, ErrTooLarge)
	_, err = ReadFile(filepath.Join(dir, "none"), 8)
	assert.ErrorIs(t, err, os.ErrNotExist)
	_, err = ReadFile(dir, 8)
	assert.ErrorIs(t, err, ErrNotRegular)
}

func TestOpenAppend(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "log")
	for range 2 {
		f, err := OpenAppend(path)
		require.NoError(t, err)
		_, err = io.WriteString(f, "line\n")
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "line\nline\n", string(data))
	_, err = OpenAppend(dir)
	assert.ErrorIs(t, err, ErrNotRegular)
	f, err := OpenAppend(os.DevNull)
	require.NoError(t, err, "the way to say nowhere")
	assert.NoError(t, f.Close())
}
