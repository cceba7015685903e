package userfile_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/internal/userfile"
)

func file(t *testing.T) userfile.File {
	return userfile.File{Path: filepath.Join(t.TempDir(), "a", "b", "settings.json")}
}

func becomes(text string) func([]byte) ([]byte, error) {
	return func([]byte) ([]byte, error) { return []byte(text), nil }
}

func TestUpdate(t *testing.T) {
	f := file(t)
	data, err := f.Read(10)
	require.NoError(t, err, "none is no error")
	assert.Nil(t, data)

	require.NoError(t, f.Update(t.Context(), 10, becomes("one")))
	require.NoError(t, f.Update(t.Context(), 10, func(old []byte) ([]byte, error) { return append(old, " two"...), nil }))
	data, err = f.Read(10)
	require.NoError(t, err)
	assert.Equal(t, "one two", string(data))

	errOwn := errors.New("own")
	assert.ErrorIs(t, f.Update(t.Context(), 10, func([]byte) ([]byte, error) { return nil, errOwn }), errOwn)
	require.NoError(t, f.Update(t.Context(), 10, func([]byte) ([]byte, error) { return nil, nil }))
	data, _ = f.Read(10)
	assert.Equal(t, "one two", string(data), "an error or nil leaves it")

	names, err := os.ReadDir(filepath.Dir(f.Path))
	require.NoError(t, err)
	require.Len(t, names, 2, "the file and its lock")
	info, err := os.Stat(f.Path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	info, err = os.Stat(filepath.Dir(f.Path))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
}

func TestUpdateWaitsForItsTurn(t *testing.T) {
	f := file(t)
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() {
			assert.NoError(t, f.Update(t.Context(), 100, func(old []byte) ([]byte, error) { return append(old, 'x'), nil }))
		})
	}
	wait.Wait()
	data, err := f.Read(100)
	require.NoError(t, err)
	assert.Len(t, data, 20)
}

func TestUpdateGivesUp(t *testing.T) {
	f := file(t)
	ctx, cancel := context.WithCancel(t.Context())
	err := f.Update(t.Context(), 10, func([]byte) ([]byte, error) {
		cancel()
		return nil, f.Update(ctx, 10, becomes("two"))
	})
	assert.ErrorIs(t, err, userfile.ErrBusy)
}

// What a process that was killed left behind is in nobody's way.
func TestUpdateAfterACrash(t *testing.T) {
	f := file(t)
	require.NoError(t, os.MkdirAll(filepath.Dir(f.Path), 0o700))
	require.NoError(t, os.WriteFile(f.Path+".new", []byte("half"), 0o600))
	require.NoError(t, os.WriteFile(f.Path+".lock", nil, 0o600))
	require.NoError(t, f.Update(t.Context(), 10, becomes("whole")))
	data, err := f.Read(10)
	require.NoError(t, err)
	assert.Equal(t, "whole", string(data))
}

func TestWhatIsNoFileOfOurs(t *testing.T) {
	for claim, put := range map[string]func(path string) error{
		"a folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"a link": func(path string) error {
			return errors.Join(os.WriteFile(path+"x", nil, 0o600), os.Symlink(path+"x", path))
		},
		"everybody's":        func(path string) error { return errors.Join(os.WriteFile(path, nil, 0o600), os.Chmod(path, 0o666)) },
		"too large":          func(path string) error { return os.WriteFile(path, make([]byte, 11), 0o600) },
		"its lock is a link": func(path string) error { return os.Symlink("elsewhere", path+".lock") },
	} {
		t.Run(claim, func(t *testing.T) {
			f := file(t)
			require.NoError(t, os.MkdirAll(filepath.Dir(f.Path), 0o700))
			require.NoError(t, put(f.Path))
			assert.Error(t, f.Update(t.Context(), 10, becomes("x")))
			if claim != "its lock is a link" {
				_, err := f.Read(10)
				assert.Error(t, err)
			}
			_, err := os.Lstat(filepath.Join(filepath.Dir(f.Path), "elsewhere"))
			assert.ErrorIs(t, err, os.ErrNotExist)
		})
	}
}

func TestStamp(t *testing.T) {
	f := file(t)
	none, err := f.Stamp()
	require.NoError(t, err)
	assert.Equal(t, userfile.Stamp{}, none)
	require.NoError(t, f.Update(t.Context(), 10, becomes("one")))
	one, err := f.Stamp()
	require.NoError(t, err)
	assert.NotEqual(t, none, one)
	same, err := f.Stamp()
	require.NoError(t, err)
	assert.Equal(t, one, same)
}
