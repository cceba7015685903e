package wasm_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/prism-rpc/prism-rpc/inject/wasm"
)

// works applies the example with that cache, and gives what was logged.
func works(t *testing.T, dir string) []observer.LoggedEntry {
	t.Helper()
	core, logged := observer.New(zap.WarnLevel)
	l := newLoader(t, wasm.Options{Timeout: time.Minute, CacheDir: dir, Logger: zap.New(core)})
	c, err := loaded(t, l, exampleWAT(t)).Apply(t.Context(), says("json"))
	require.NoError(t, err)
	assert.Equal(t, "Answer in JSON.", c.Instructions)
	return logged.All()
}

// entries are the files that a cache holds.
func entries(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			out = append(out, path)
		}
		return err
	}))
	return out
}

func TestCache_IsOursAloneAndUsedAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "prism-rpc", "wasm")
	assert.Empty(t, works(t, dir))
	made := entries(t, dir)
	require.Len(t, made, 1)
	if runtime.GOOS != "windows" {
		for path := dir; path != filepath.Dir(made[0]); path = filepath.Dir(made[0]) {
			info, err := os.Stat(path)
			require.NoError(t, err)
			assert.Equal(t, os.FileMode(0o700), info.Mode().Perm(), path)
		}
	}
	before, err := os.Stat(made[0])
	require.NoError(t, err)
	assert.Empty(t, works(t, dir))
	after, err := os.Stat(made[0])
	require.NoError(t, err)
	assert.Equal(t, before.ModTime(), after.ModTime(), "not written a second time")
}

func TestCache_ThatCannotBeTrustedIsNotUsed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes say nothing there")
	}
	for name, prepare := range map[string]func(dir string) error{
		"a file":            func(dir string) error { return os.WriteFile(dir, nil, 0o600) },
		"a link":            func(dir string) error { return os.Symlink(t.TempDir(), dir) },
		"written by others": func(dir string) error { return errorsOf(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o777)) },
		"a link inside":     func(dir string) error { return errorsOf(os.Mkdir(dir, 0o700), os.Symlink(t.TempDir(), dir+"/wazero")) },
		"an open one inside": func(dir string) error {
			return errorsOf(os.Mkdir(dir, 0o700), os.Mkdir(dir+"/w", 0o700), os.Chmod(dir+"/w", 0o777))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "cache")
			require.NoError(t, prepare(dir))
			assert.Len(t, works(t, dir), 1)
			if info, err := os.Stat(dir); err == nil && info.IsDir() {
				assert.Empty(t, entries(t, dir))
			}
		})
	}
}

func errorsOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestCache_DamagedEntryIsCompiledAnew(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700))
	assert.Empty(t, works(t, dir))
	whole, err := os.ReadFile(entries(t, dir)[0])
	require.NoError(t, err)
	for name, damaged := range map[string][]byte{
		"empty": {}, "half": whole[:len(whole)/2], "another byte": append([]byte("X"), whole[1:]...),
	} {
		require.NoError(t, os.WriteFile(entries(t, dir)[0], damaged, 0o600), name)
		works(t, dir)
	}
}

func TestCache_KeepsABoundedNumber(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700))
	works(t, dir)
	kept := entries(t, dir)[0]
	for i := range 200 {
		old := filepath.Join(filepath.Dir(kept), string(rune('a'+i%26))+string(rune('a'+i/26)))
		require.NoError(t, os.WriteFile(old, nil, 0o600))
		require.NoError(t, os.Chtimes(old, time.Time{}, time.Unix(int64(i), 0)))
	}
	works(t, dir)
	left := entries(t, dir)
	assert.Len(t, left, 128)
	assert.Contains(t, left, kept)
}

func TestCache_KeepsABoundedSize(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700))
	works(t, dir)
	kept := entries(t, dir)[0]
	for i := range 10 {
		old := filepath.Join(filepath.Dir(kept), string(rune('a'+i)))
		require.NoError(t, os.WriteFile(old, nil, 0o600))
		require.NoError(t, os.Truncate(old, 50<<20)) // a hole takes no room
		require.NoError(t, os.Chtimes(old, time.Time{}, time.Unix(int64(i), 0)))
	}
	works(t, dir)
	left := entries(t, dir)
	assert.Len(t, left, 6)
	assert.Contains(t, left, kept)
}
