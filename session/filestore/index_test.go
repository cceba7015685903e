package filestore

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/session/internal/listing"
	"github.com/prism-rpc/prism-rpc/session/internal/storetest"
)

func rows() []*listed {
	return []*listed{
		{Row: listing.Row{ID: "s1"}},
		{
			Row:     listing.Row{ID: strings.Repeat("a", 128), Turn: 1 << 30, Updated: 1, Touched: 253402300799999, Title: "Ünï\x00", CWD: strings.Repeat("/x", 2048), Foreign: true},
			version: version{math.MaxInt64, math.MinInt64, math.MaxUint64}, mark: "1 2 3",
		},
		{Row: listing.Row{ID: "s2"}, unbegun: true},
	}
}

func byID(all []*listed) map[string]*listed {
	known := map[string]*listed{}
	for _, l := range all {
		known[l.ID] = l
	}
	return known
}

func TestIndexComesBackAsItWasPacked(t *testing.T) {
	assert.Equal(t, byID(rows()), parseIndex(appendIndex(nil, rows())))
	assert.Equal(t, map[string]*listed{}, parseIndex(appendIndex(nil, nil)))
	shortest := appendRow(nil, &listed{Row: listing.Row{ID: "a"}})
	assert.LessOrEqual(t, minRowBytes, len(shortest))
}

func TestIndexWithARowThatNoLogGivesIsNotBelieved(t *testing.T) {
	for claim, l := range map[string]*listed{
		"no id":                 {},
		"an id that climbs":     {Row: listing.Row{ID: "../s1"}},
		"a turn below zero":     {Row: listing.Row{ID: "s1", Turn: -1}},
		"a time below zero":     {Row: listing.Row{ID: "s1", Updated: -1}},
		"a time past all years": {Row: listing.Row{ID: "s1", Touched: math.MaxInt64}},
		"a title without bound": {Row: listing.Row{ID: "s1", Title: strings.Repeat("x", listing.MaxText+1)}},
	} {
		assert.Nil(t, parseIndex(appendIndex(nil, append(rows(), l))), claim)
	}
}

func sealIndex(body string) []byte {
	return binary.BigEndian.AppendUint32([]byte(body), crc32.Checksum([]byte(body), castagnoli()))
}

func TestIndexThatSaysMoreOrLessIsNotBelieved(t *testing.T) {
	whole := appendIndex(nil, rows())
	body := string(whole[:len(whole)-crc32.Size])
	require.NotNil(t, parseIndex(sealIndex(body)))
	assert.Nil(t, parseIndex(sealIndex(body+"\x00")))
	assert.Nil(t, parseIndex(sealIndex(body[:len(body)-1])))
	assert.Nil(t, parseIndex(sealIndex(strings.Replace(body, "index 1", "index 2", 1))))
}

// Whatever stands in an index, what is believed of it would be packed and
// believed again.
func FuzzParseIndex(f *testing.F) {
	whole := appendIndex(nil, rows())
	body := string(whole[:len(whole)-4])
	for _, seed := range []string{
		"", "x", indexMagic, indexMagic + "\x00", indexMagic + "\x01", indexMagic + "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
		indexMagic + strings.Repeat("\x80", 20), indexMagic + "\x01\x02s1" + strings.Repeat("\x00", 10),
		indexMagic + "\x01\xff\xff\xff\xff\x0fs1", indexMagic + "\x02" + strings.Repeat("\x02s1"+strings.Repeat("\x00", 10), 2),
		"prism-rpc index 2\n\x00", body, body + "\x00", body[:len(body)-1], body[1:],
	} {
		f.Add([]byte(seed), true)
	}
	f.Add(whole, false)
	f.Add(whole[:3], false)
	f.Fuzz(func(t *testing.T, text []byte, sealed bool) {
		if sealed {
			text = sealIndex(string(text))
		}
		known := parseIndex(text)
		all := make([]*listed, 0, len(known))
		for id, l := range known {
			require.Equal(t, id, l.ID)
			require.True(t, l.Valid())
			_ = l.Info()
			all = append(all, l)
		}
		if known != nil {
			require.Equal(t, known, parseIndex(appendIndex(nil, all)))
		}
	})
}

// An index says of session s1, and of the log as it is, what is not so.
func lyingIndex(t *testing.T, lie func(*listed)) (*Store, *listed) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	store, err := Open(dir, Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	storetest.Write(t, store, "s1", storetest.HeaderAt("s1", time.Now(), "/true"), storetest.Turn(1, "kept"))
	l, err := store.look("s1", nil)
	require.NoError(t, err)
	lie(l)
	store.saveIndex([]*listed{l, {Row: listing.Row{ID: "nobody", Title: "no such log"}}})
	require.Len(t, store.readIndex(), 2)
	return store, l
}

func TestIndexIsNotTrustedToDelete(t *testing.T) {
	store, _ := lyingIndex(t, func(l *listed) { l.Touched = 0 })
	deleted, err := store.Prune(time.Now().Add(-time.Hour))
	require.NoError(t, err)
	assert.Zero(t, deleted)
	assert.Len(t, storetest.Read(t, store, "s1"), 2)
}

func TestIndexListsNothingThatIsNotThere(t *testing.T) {
	store, _ := lyingIndex(t, func(*listed) {})
	assert.Equal(t, "s1", storetest.IDs(storetest.List(t, store, 0, "")))
	assert.Len(t, store.readIndex(), 1, "and forgets it")
}

// A row of an earlier version is gone on with only from a place that is still
// there.
func TestStaleRowIsGoneOnWithOrMadeAnew(t *testing.T) {
	for _, c := range []struct {
		claim string
		lie   func(*listed)
		title string
	}{
		{"from its mark", func(l *listed) { l.Title = "from the index" }, "from the index"},
		{"anew without one", func(l *listed) { l.Title, l.mark = "from the index", "" }, ""},
		{"anew with one that isn't of the log", func(l *listed) { l.Title, l.mark = "from the index", "9 9 9" }, ""},
	} {
		t.Run(c.claim, func(t *testing.T) {
			store, _ := lyingIndex(t, c.lie)
			l, _ := storetest.Reopen(t, store, "s1")
			require.NoError(t, l.Commit(2, storetest.Turn(2, "more")))
			require.NoError(t, l.Close())
			page := storetest.List(t, store, 0, "")
			require.Len(t, page, 1)
			assert.Equal(t, 2, page[0].Turn)
			assert.Equal(t, c.title, page[0].Title)
		})
	}
}

// The time of a file stands in for that of a log only until its records bear
// one.
func TestTimeOfAFileIsNotKeptInARow(t *testing.T) {
	store, _ := lyingIndex(t, func(*listed) {})
	storetest.Write(t, store, "s2", []byte(`{"v":1,"t":"session","id":"s2"}`))
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	later := time.Now().Add(time.Minute) // than s1 was written, whatever the clock's grain
	require.NoError(t, os.Chtimes(filepath.Join(store.dir, "sessions", "s2.jsonl"), later, later))
	require.Equal(t, "s2 s1", storetest.IDs(storetest.List(t, store, 0, "")))
	l, _ := storetest.Reopen(t, store, "s2")
	require.NoError(t, l.Commit(1, storetest.TurnAt(1, noon)))
	require.NoError(t, l.Close())
	page := storetest.List(t, store, 0, "")
	require.Equal(t, "s1 s2", storetest.IDs(page))
	assert.Equal(t, "2026-01-02T12:00:00.000Z", page[1].UpdatedAt)
}

func TestIndexOverItsBoundIsNotRead(t *testing.T) {
	store, _ := lyingIndex(t, func(*listed) {})
	require.NoError(t, os.Truncate(filepath.Join(store.dir, indexFolder, indexName), maxIndexBytes+1))
	assert.Nil(t, store.readIndex())
	assert.Len(t, storetest.List(t, store, 0, ""), 1)
}
