package filestore_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/filestore"
	"github.com/prism-rpc/prism-rpc/session/internal/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) session.Store { return open(t, t.TempDir()) })
}

// open opens a store in dir, to be closed with the test.
func open(t testing.TB, dir string) *filestore.Store {
	t.Helper()
	require.NoError(t, os.Chmod(dir, 0o700))
	store, err := filestore.Open(dir, filestore.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}

func logPath(dir, id string) string { return filepath.Join(dir, "sessions", id+".jsonl") }

func Example() {
	dir, err := os.MkdirTemp("", "store")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	store, err := filestore.Open(dir, filestore.Options{
		OnRepair: func(id string, dropped int64, kept string) {
			fmt.Println("cut", dropped, "bytes off", id, "and kept them in", kept)
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()

	log, err := store.Create("s1", []byte(`{"v":1,"t":"session","id":"s1"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(log.Commit(1, []byte(`{"v":1,"t":"turn","turn":1}`)), log.Close())

	err = store.Read("s1", func(record []byte) error {
		fmt.Printf("%s\n", record)
		return nil
	})
	fmt.Println(err)
	// Output:
	// <nil> <nil>
	// {"v":1,"t":"session","id":"s1"}
	// {"v":1,"t":"turn","turn":1}
	// <nil>
}

func ExampleStore_List() {
	dir, err := os.MkdirTemp("", "store")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	store, err := filestore.Open(dir, filestore.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()

	for day := 1; day <= 3; day++ {
		id := fmt.Sprintf("day%d", day)
		header := fmt.Appendf(nil, `{"v":1,"t":"session","id":%q,"createdAt":"2026-01-0%dT12:00:00.000Z"}`, id, day)
		log, err := store.Create(id, header)
		if err != nil {
			fmt.Println(err)
			return
		}
		log.Close()
	}
	for cursor := ""; ; {
		page, next, err := store.List(cursor, 2, "")
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, info := range page {
			fmt.Println(info.SessionID, info.UpdatedAt)
		}
		if cursor = next; cursor == "" {
			break
		}
		fmt.Println("more")
	}
	// Output:
	// day3 2026-01-03T12:00:00.000Z
	// day2 2026-01-02T12:00:00.000Z
	// more
	// day1 2026-01-01T12:00:00.000Z
}

func ExampleDefaultDir() {
	env := map[string]string{"XDG_STATE_HOME": "/var/state"}
	dir, err := filestore.DefaultDir(func(key string) string { return env[key] }, "work")
	fmt.Println(filepath.ToSlash(dir), err)
	// Output: /var/state/prism-rpc/work <nil>
}
