package filestore

import (
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/session/internal/storetest"
)

func benchStore(b *testing.B) (*Store, string) {
	b.Helper()
	dir := filepath.Join(b.TempDir(), "store")
	store, err := Open(dir, Options{})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, store.Close()) })
	return store, dir
}

// A commit beside its floor, a bare write and fdatasync of as many bytes. The
// two take turns, because a disk's pace wanders; the medians are compared.
func BenchmarkCommit(b *testing.B) {
	store, dir := benchStore(b)
	l, err := store.Create("s1", storetest.Header("s1"))
	require.NoError(b, err)
	require.NoError(b, l.Sync())
	f, err := os.OpenFile(filepath.Join(dir, "floor"), os.O_CREATE|os.O_WRONLY, 0o600)
	require.NoError(b, err)
	var bare handle
	require.NoError(b, bare.adopt(f))
	defer bare.Close()

	var floors, commits []float64
	at, turn := int64(0), 0
	for b.Loop() {
		turn++
		record := storetest.Turn(turn, strings.Repeat("answer ", 150))
		line := seal(record)
		start := time.Now()
		_, writeErr := bare.WriteAt(line, at)
		syncErr := bare.datasync()
		between := time.Now()
		commitErr := l.Commit(turn, record)
		floors = append(floors, float64(between.Sub(start)))
		commits = append(commits, float64(time.Since(between)))
		at += int64(len(line))
		if err := errors.Join(writeErr, syncErr, commitErr); err != nil {
			b.Fatal(err)
		}
	}
	slices.Sort(floors)
	slices.Sort(commits)
	floor, commit := floors[len(floors)/2], commits[len(commits)/2]
	b.ReportMetric(floor, "floor-ns/op")
	b.ReportMetric(commit, "commit-ns/op")
	b.ReportMetric(commit/floor, "commit/floor")
}

// Opening a session of 10,000 messages beside its floor, reading the file and
// one checksum over it.
func BenchmarkOpen10000Messages(b *testing.B) {
	store, dir := benchStore(b)
	l, err := store.Create("s1", storetest.Header("s1"))
	require.NoError(b, err)
	for turn := 1; turn <= 5000; turn++ {
		require.NoError(b, l.Append(storetest.Started(turn)))
		require.NoError(b, l.Append(storetest.Turn(turn, strings.Repeat("answer ", 60))))
	}
	require.NoError(b, l.Close())
	end := l.Mark()
	path := filepath.Join(dir, "sessions", "s1.jsonl")
	info, err := os.Stat(path)
	require.NoError(b, err)

	b.Run("floor", func(b *testing.B) {
		b.SetBytes(info.Size())
		for b.Loop() {
			log, err := os.ReadFile(path)
			if err != nil {
				b.Fatal(err)
			}
			if crc32.Checksum(log, castagnoli()) == 0 {
				b.Fatal("no log")
			}
		}
	})
	b.Run("open", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(info.Size())
		for b.Loop() {
			l, err := store.Open("s1", storetest.Ignore)
			if err != nil {
				b.Fatal(err)
			}
			if err := l.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("reopen", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			l, err := store.OpenFrom("s1", end, storetest.Ignore)
			if err != nil {
				b.Fatal(err)
			}
			if err := l.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkSeal(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 20} {
		record := storetest.Turn(1, strings.Repeat("x", size))
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(record)))
			for b.Loop() {
				seal(record)
			}
		})
	}
}
