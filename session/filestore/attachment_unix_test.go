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

	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/filestore"
	"github.com/prism-rpc/prism-rpc/session/internal/storetest"
)

func TestAttachmentsArePrivate(t *testing.T) {
	_, dir, path := attached(t, "data")
	for path, want := range map[string]fs.FileMode{
		path: 0o600, filepath.Dir(path): 0o700, filepath.Join(dir, "attachments"): 0o700,
	} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.Equal(t, want, info.Mode().Perm(), path)
	}
}

func TestUnsafeAttachmentIsNeitherReadNorReplaced(t *testing.T) {
	for claim, spoil := range map[string]func(t *testing.T, path, secret string){
		"a link":           func(t *testing.T, path, secret string) { require.NoError(t, os.Symlink(secret, path)) },
		"of several names": func(t *testing.T, path, secret string) { require.NoError(t, os.Link(secret, path)) },
		"a FIFO":           func(t *testing.T, path, _ string) { require.NoError(t, syscall.Mkfifo(path, 0o600)) },
		"a folder":         func(t *testing.T, path, _ string) { require.NoError(t, os.Mkdir(path, 0o700)) },
		"written by others": func(t *testing.T, path, _ string) {
			require.NoError(t, os.WriteFile(path, []byte("data"), 0o600))
			require.NoError(t, os.Chmod(path, 0o622))
		},
		"another user's": func(t *testing.T, path, _ string) {
			require.NoError(t, os.WriteFile(path, []byte("data"), 0o600))
			chownOrSkip(t, path)
		},
	} {
		t.Run(claim, func(t *testing.T) {
			store, dir, path := attached(t, "data")
			secret := filepath.Join(dir, "secret")
			require.NoError(t, os.WriteFile(secret, []byte("data"), 0o600))
			require.NoError(t, os.Remove(path))
			spoil(t, path, secret)
			_, err := store.Attachment("s1", storetest.Sum([]byte("data")))
			assert.ErrorIs(t, err, filestore.ErrUnsafe)
			l, _ := storetest.Reopen(t, store, "s1")
			assert.ErrorIs(t, l.Attach([]byte("data")), filestore.ErrUnsafe)
			require.NoError(t, l.Close())
			kept, err := os.ReadFile(secret)
			require.NoError(t, err)
			assert.Equal(t, "data", string(kept))
		})
	}
}

func TestUnsafeFolderOfAttachmentsIsRefused(t *testing.T) {
	for _, name := range []string{"attachments", "attachments/s1"} {
		for claim, spoil := range map[string]func(t *testing.T, path string){
			"a link": func(t *testing.T, path string) {
				require.NoError(t, os.Rename(path, path+".real"))
				require.NoError(t, os.Symlink(path+".real", path))
			},
			"written by others": func(t *testing.T, path string) { require.NoError(t, os.Chmod(path, 0o777)) },
		} {
			t.Run(claim+" as "+name, func(t *testing.T) {
				store, dir, path := attached(t, "data")
				spoil(t, filepath.Join(dir, name))
				_, err := store.Attachment("s1", storetest.Sum([]byte("data")))
				assert.ErrorIs(t, err, filestore.ErrUnsafe)
				l, _ := storetest.Reopen(t, store, "s1")
				assert.ErrorIs(t, l.Attach([]byte("more")), filestore.ErrUnsafe)
				require.NoError(t, l.Close())
				assert.ErrorIs(t, store.Delete("s1"), filestore.ErrUnsafe)
				assert.FileExists(t, path, "nothing is removed through it")
			})
		}
	}
}

func TestAMissingAttachmentIsNotFound(t *testing.T) {
	store, _, path := attached(t, "data")
	require.NoError(t, os.Remove(path))
	_, err := store.Attachment("s1", storetest.Sum([]byte("data")))
	assert.ErrorIs(t, err, session.ErrNotFound)
}
