package filestore_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/filestore"
	"github.com/prism-rpc/prism-rpc/session/internal/storetest"
)

// attached makes a store whose session s1 has data attached, and tells where.
func attached(t *testing.T, data string) (store *filestore.Store, dir, path string) {
	dir = t.TempDir()
	store = open(t, dir)
	storetest.Fill(t, store, "s1", 1)
	storetest.Attach(t, store, "s1", []byte(data))
	return store, dir, filepath.Join(dir, "attachments", "s1", storetest.Sum([]byte(data)))
}

func TestADamagedAttachmentIsFoundOut(t *testing.T) {
	for claim, content := range map[string]string{
		"cut short": "dat", "empty": "", "another": "DATA", "longer": "data\n", "endless": "data" + strings.Repeat("\x00", filestore.MaxAttachmentBytes),
	} {
		t.Run(claim, func(t *testing.T) {
			store, _, path := attached(t, "data")
			require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
			_, err := store.Attachment("s1", storetest.Sum([]byte("data")))
			assert.ErrorIs(t, err, session.ErrDamaged)

			storetest.Attach(t, store, "s1", []byte("data"))
			got, err := store.Attachment("s1", storetest.Sum([]byte("data")))
			require.NoError(t, err, "attaching it again mends it")
			assert.Equal(t, "data", string(got))
		})
	}
}

func TestAnAttachmentIsKeptOnce(t *testing.T) {
	store, dir, path := attached(t, "data")
	before, err := os.Stat(path)
	require.NoError(t, err)
	storetest.Attach(t, store, "s1", []byte("data"))
	after, err := os.Stat(path)
	require.NoError(t, err)
	assert.True(t, os.SameFile(before, after), "it is not written again")
	assert.Equal(t, before.ModTime(), after.ModTime())
	entries, err := os.ReadDir(filepath.Join(dir, "attachments", "s1"))
	require.NoError(t, err)
	assert.Len(t, entries, 1, "and nothing unfinished is left")
}

func TestAttachmentsAreBounded(t *testing.T) {
	store, _, _ := attached(t, "data")
	l, _ := storetest.Reopen(t, store, "s1")
	assert.NoError(t, l.Attach(make([]byte, schema.MaxImageBytes)))
	assert.ErrorIs(t, l.Attach(make([]byte, schema.MaxImageBytes+1)), filestore.ErrTooLarge)
	assert.NoError(t, l.Close())
}

// A process can die between what it attaches and the record that names it, and
// before the log's name is durable.
func TestDeleteTakesWhatNoRecordNames(t *testing.T) {
	store, dir, path := attached(t, "data")
	folder := filepath.Dir(path)
	require.NoError(t, os.WriteFile(path+".17.4.tmp", []byte("da"), 0o600))
	require.NoError(t, os.Remove(logPath(dir, "s1")))
	require.NoError(t, store.Delete("s1"))
	assert.NoDirExists(t, folder)
	assert.NoError(t, store.Delete("s1"))
}

func TestDeleteLeavesWhatIsNoneOfOurs(t *testing.T) {
	store, _, path := attached(t, "data")
	other := filepath.Join(filepath.Dir(path), "notes.txt")
	require.NoError(t, os.WriteFile(other, nil, 0o600))
	assert.Error(t, store.Delete("s1"), "the folder can't go")
	assert.NoFileExists(t, path)
	assert.FileExists(t, other)
}

func TestPruneTakesOldAttachmentsOfSessionsThatNeverWere(t *testing.T) {
	store, dir, path := attached(t, "data")
	orphans := filepath.Join(dir, "attachments", "s0")
	require.NoError(t, os.Rename(filepath.Dir(path), orphans))
	storetest.Write(t, store, "s2", storetest.HeaderAt("s2", time.Now(), ""))
	storetest.Attach(t, store, "s2", []byte("more"))
	kept := filepath.Join(dir, "attachments", "s2")
	old := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(orphans, old, old))
	require.NoError(t, os.Chtimes(kept, old, old))

	_, err := store.Prune(old.Add(-time.Minute))
	require.NoError(t, err)
	assert.DirExists(t, orphans, "it is not old enough")
	_, err = store.Prune(old.Add(time.Minute))
	require.NoError(t, err)
	assert.NoDirExists(t, orphans)
	assert.DirExists(t, kept, "a session's stay while it does")
}
