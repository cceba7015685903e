package filestore

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/session/internal/storetest"
)

const many = 10_000

// fillMany writes 10,000 logs of turns turns straight into their folder.
func fillMany(t testing.TB, dir string, turns int) {
	t.Helper()
	made := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range many {
		id := fmt.Sprintf("session%05d", i)
		log := seal(storetest.HeaderAt(id, made.Add(time.Duration(i)*time.Minute), "/home/user/project"))
		log = append(log, seal(storetest.SettingsAt(made, fmt.Sprintf("What we said about thing %d", i), "/home/user/project"))...)
		for n := 1; n <= turns; n++ {
			log = append(log, seal(storetest.Started(n))...)
			log = append(log, seal(storetest.Turn(n, strings.Repeat("answer ", 100)))...)
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, "sessions", logName(id)), log, fileMode))
	}
}

// A page of 10,000 sessions: for the first time, when all logs are read, and
// then, beside the floor of reading the folder with each file's size and time.
func BenchmarkList10000Sessions(b *testing.B) {
	store, dir := benchStore(b)
	fillMany(b, dir, 5)
	list := func(b *testing.B) {
		page, next, err := store.List("", 100, "")
		if err != nil || len(page) != 100 || next == "" {
			b.Fatal(len(page), next, err)
		}
	}
	b.Run("floor", func(b *testing.B) {
		for b.Loop() {
			entries, err := os.ReadDir(filepath.Join(dir, "sessions"))
			if err != nil || len(entries) != many {
				b.Fatal(len(entries), err)
			}
			for _, e := range entries {
				if _, err := e.Info(); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			require.NoError(b, os.RemoveAll(filepath.Join(dir, indexFolder)))
			list(b)
		}
	})
	b.Run("again", func(b *testing.B) {
		b.ReportAllocs()
		list(b)
		for b.Loop() {
			list(b)
		}
	})
}
