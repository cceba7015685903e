//go:build unix

package filestore_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/session/filestore"
	"github.com/prism-rpc/prism-rpc/session/internal/storetest"
)

func TestEverythingIsPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "prism-rpc", "default")
	store, repairs := openRepairing(t, dir)
	storetest.Fill(t, store, "s1", 1)
	f, err := os.OpenFile(logPath(dir, "s1"), os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	_, err = f.WriteString("torn")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	l, _ := storetest.Reopen(t, store, "s1")
	require.Len(t, *repairs, 1)
	require.Len(t, list(t, store), 1)

	seen := 0
	require.NoError(t, filepath.WalkDir(filepath.Dir(filepath.Dir(dir)), func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		assert.Equal(t, want, info.Mode().Perm(), path)
		seen++
		return nil
	}))
	assert.Equal(t, 7+4, seen, "folders, and a log, a lock, a torn tail and an index")
	require.NoError(t, l.Close())
}

func TestUnsafeFolderIsRefused(t *testing.T) {
	link := func(t *testing.T, path string) {
		real := path + ".real"
		require.NoError(t, os.Mkdir(real, 0o700))
		require.NoError(t, os.Symlink(real, path))
	}
	mode := func(mode fs.FileMode) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			require.NoError(t, os.Mkdir(path, 0o700))
			require.NoError(t, os.Chmod(path, mode))
		}
	}
	for claim, make := range map[string]func(t *testing.T, path string){
		"a link to a folder":        link,
		"a folder the group writes": mode(0o770),
		"a folder all may write":    mode(0o1777),
		"another user's folder": func(t *testing.T, path string) {
			require.NoError(t, os.Mkdir(path, 0o700))
			chownOrSkip(t, path)
		},
		"a file": func(t *testing.T, path string) { require.NoError(t, os.WriteFile(path, nil, 0o600)) },
	} {
		for _, name := range []string{".", "sessions", "locks", "torn"} {
			t.Run(claim+" as "+name, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "store")
				if name != "." {
					require.NoError(t, os.Mkdir(dir, 0o700))
				}
				make(t, filepath.Join(dir, name))
				_, err := filestore.Open(dir, filestore.Options{})
				if claim == "a file" && name == "." {
					assert.ErrorIs(t, err, syscall.ENOTDIR)
					return
				}
				assert.ErrorIs(t, err, filestore.ErrUnsafe)
			})
		}
	}
}

func chownOrSkip(t *testing.T, path string) {
	t.Helper()
	if err := os.Chown(path, 12345, -1); err != nil {
		t.Skip("only root can give a file away")
	}
}

func TestUnsafeFileIsRefused(t *testing.T) {
	log := seals(storetest.Header("s1"), storetest.Turn(1, "secret"))
	write := func(t *testing.T, path string) { require.NoError(t, os.WriteFile(path, []byte(log), 0o600)) }
	for claim, make := range map[string]func(t *testing.T, path string){
		"a link outside": func(t *testing.T, path string) {
			other := filepath.Join(t.TempDir(), "secret")
			write(t, other)
			require.NoError(t, os.Symlink(other, path))
		},
		"a link inside": func(t *testing.T, path string) {
			write(t, path+".other")
			require.NoError(t, os.Symlink(filepath.Base(path)+".other", path))
		},
		"a link to nothing": func(t *testing.T, path string) { require.NoError(t, os.Symlink("nothing", path)) },
		"a file with two names": func(t *testing.T, path string) {
			write(t, path)
			require.NoError(t, os.Link(path, path+".other"))
		},
		"a FIFO":   func(t *testing.T, path string) { require.NoError(t, syscall.Mkfifo(path, 0o600)) },
		"a folder": func(t *testing.T, path string) { require.NoError(t, os.Mkdir(path, 0o700)) },
		"a file all may write": func(t *testing.T, path string) {
			write(t, path)
			require.NoError(t, os.Chmod(path, 0o666))
		},
		"another user's file": func(t *testing.T, path string) {
			write(t, path)
			chownOrSkip(t, path)
		},
	} {
		t.Run(claim+" as a log", func(t *testing.T) {
			dir := t.TempDir()
			store := open(t, dir)
			make(t, logPath(dir, "s1"))
			_, err := store.Open("s1", storetest.Ignore)
			assert.ErrorIs(t, err, filestore.ErrUnsafe)
			assert.ErrorIs(t, store.Read("s1", storetest.Ignore), filestore.ErrUnsafe)
			_, err = store.Exists("s1")
			assert.ErrorIs(t, err, filestore.ErrUnsafe)
			_, err = store.Create("s1", storetest.Header("s1"))
			assert.ErrorIs(t, err, filestore.ErrUnsafe)
		})
		t.Run(claim+" as a lock", func(t *testing.T) {
			dir := t.TempDir()
			store := open(t, dir)
			storetest.Fill(t, store, "s1", 1)
			make(t, filepath.Join(dir, "locks", "s1.lock"))
			_, err := store.Open("s1", storetest.Ignore)
			assert.ErrorIs(t, err, filestore.ErrUnsafe)
		})
	}
}
