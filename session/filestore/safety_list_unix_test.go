//go:build unix

package filestore_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/session/filestore"
	"github.com/prism-rpc/prism-rpc/session/internal/storetest"
)

// Logs that aren't safe to open are left out of lists and told of, whether the
// index knows a good one of that name or not, and are neither deleted nor
// pruned.
func TestUnsafeLogIsNotListed(t *testing.T) {
	log := []byte(seals(storetest.HeaderAt("s1", noon, "/secret")))
	for claim, spoil := range map[string]func(t *testing.T, path string){
		"a link outside": func(t *testing.T, path string) {
			other := filepath.Join(t.TempDir(), "secret")
			require.NoError(t, os.WriteFile(other, log, 0o600))
			require.NoError(t, os.Remove(path))
			require.NoError(t, os.Symlink(other, path))
		},
		"a link inside": func(t *testing.T, path string) {
			require.NoError(t, os.Rename(path, path+".other"))
			require.NoError(t, os.Symlink(filepath.Base(path)+".other", path))
		},
		"a file with two names": func(t *testing.T, path string) { require.NoError(t, os.Link(path, path+".other")) },
		"a FIFO": func(t *testing.T, path string) {
			require.NoError(t, os.Remove(path))
			require.NoError(t, syscall.Mkfifo(path, 0o600))
		},
		"a folder": func(t *testing.T, path string) {
			require.NoError(t, os.Remove(path))
			require.NoError(t, os.Mkdir(path, 0o700))
		},
		"a file all may write": func(t *testing.T, path string) { require.NoError(t, os.Chmod(path, 0o666)) },
		"another user's file":  func(t *testing.T, path string) { chownOrSkip(t, path) },
	} {
		for _, indexed := range []bool{false, true} {
			name := claim
			if indexed {
				name += " that the index knew"
			}
			t.Run(name, func(t *testing.T) {
				dir := writeLog(t, "s1", string(log))
				store, skips := openSkipping(t, dir)
				storetest.Fill(t, store, "good", 0)
				if indexed {
					require.Len(t, list(t, store), 2)
				}
				spoil(t, logPath(dir, "s1"))
				assert.Equal(t, "good", storetest.IDs(list(t, store)))
				require.Len(t, *skips, 1)
				assert.Equal(t, "s1.jsonl", (*skips)[0].name)
				assert.ErrorIs(t, (*skips)[0].err, filestore.ErrUnsafe)

				assert.ErrorIs(t, store.Delete("s1"), filestore.ErrUnsafe)
				deleted, err := store.Prune(evening)
				require.NoError(t, err)
				assert.Equal(t, 1, deleted, "the good one")
				_, err = os.Lstat(logPath(dir, "s1"))
				assert.NoError(t, err)
			})
		}
	}
}

// An index in a place that others could write to is neither read nor written.
func TestUnsafeIndexIsDoneWithout(t *testing.T) {
	for claim, spoil := range map[string]func(t *testing.T, path, outside string){
		"a link to a folder": func(t *testing.T, path, outside string) { require.NoError(t, os.Symlink(outside, path)) },
		"a file":             func(t *testing.T, path, _ string) { require.NoError(t, os.WriteFile(path, nil, 0o600)) },
		"a folder all may write": func(t *testing.T, path, _ string) {
			require.NoError(t, os.Mkdir(path, 0o700))
			require.NoError(t, os.Chmod(path, 0o777))
		},
		"another user's folder": func(t *testing.T, path, _ string) {
			require.NoError(t, os.Mkdir(path, 0o700))
			chownOrSkip(t, path)
		},
	} {
		t.Run(claim, func(t *testing.T) {
			dir, outside := t.TempDir(), t.TempDir()
			store, skips := openSkipping(t, dir)
			storetest.Fill(t, store, "s1", 1)
			spoil(t, filepath.Join(dir, "index"), outside)
			assert.Len(t, list(t, store), 1)
			require.Len(t, *skips, 1)
			assert.ErrorIs(t, (*skips)[0].err, filestore.ErrUnsafe)
			assert.Empty(t, files(t, outside))
			assert.NoFileExists(t, indexPath(dir))
			assert.NoError(t, store.Delete("s1"))
		})
	}
}

func TestLinkInTheIndexsPlaceIsReplaced(t *testing.T) {
	dir := t.TempDir()
	store, skips := openSkipping(t, dir)
	storetest.Fill(t, store, "s1", 1)
	list(t, store)
	outside := filepath.Join(t.TempDir(), "other")
	require.NoError(t, os.Rename(indexPath(dir), outside))
	before, err := os.ReadFile(outside)
	require.NoError(t, err)
	require.NoError(t, os.Symlink(outside, indexPath(dir)))
	storetest.Fill(t, store, "s2", 1)
	assert.Len(t, list(t, store), 2)
	info, err := os.Lstat(indexPath(dir))
	require.NoError(t, err)
	assert.True(t, info.Mode().IsRegular())
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	after, err := os.ReadFile(outside)
	require.NoError(t, err)
	assert.Equal(t, before, after)
	assert.Empty(t, *skips)
}
