package filestore_test

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/session/filestore"
	"github.com/prism-rpc/prism-rpc/session/internal/storetest"
)

// Whatever stands in a log, no record is delivered whose checksum is wrong,
// what is cut off is kept, and what a repair leaves is a sound log.
func FuzzReplay(f *testing.F) {
	header, one, two := storetest.Header("s1"), storetest.Turn(1, "one"), storetest.Turn(2, "two")
	whole := seals(header, one, two)
	for _, seed := range []string{
		"", "\n", "\n\n\n", "{", "}", "{}\n", "null\n", "\x00", string(make([]byte, 5000)),
		whole, whole[:len(whole)-1], whole[1:], whole + whole, whole + "x", whole + "\n", whole + "{\"v\":1", whole + "\x00\x00\n",
		whole[:len(whole)/2] + "\n" + whole[len(whole)/2:],
		string(flip(whole, 3)), string(flip(whole, len(whole)/2)), string(flip(whole, len(whole)-4)),
		string(header) + "\n" + string(one) + "\n",
		seals(header) + `,"crc":"00000000"}` + "\n",
		seals(header) + `{,"crc":"` + fmt.Sprintf("%08x", crc32.Checksum([]byte("{"), crc32.MakeTable(crc32.Castagnoli))) + "\"}\n",
		seals(header) + seal(`{"v":1,"t":"turn","turn":18446744073709551617}`),
		seals(header) + seal(`{"v":1,"t":"turn","turn":1e0}`),
		seals(header) + seal(`{"v":1,"t":"tu\u0072n","turn":1}`),
		seals(header) + seal(`{"v":1,"v":1,"t":"turn","turn":1}`),
		seals(header) + seal(`{"v":1,"t":"started","x":"`+"\xff\r\u2028"+`"}`),
		seal(`{"v":1,"t":"session","id":"s1","id":"s2"}`),
		seal(`{"v":1,"t":"session","id":"\ud800"}`),
		seal(`{"v":2,"t":"session","id":"s1"}`) + whole,
		seal(`{"v":-1,"t":"session","id":"s1"}`),
		"\xef\xbb\xbf" + whole,
	} {
		f.Add([]byte(seed), false)
	}
	for _, records := range [][][]byte{
		{header, one, two}, {header, two}, {header, header}, {one}, {header, []byte(`{}`)}, {header, []byte(`{"v":2}`)}, {{}}, {header, {}},
		{header, []byte(`{"v":1,"t":"settings"}`), []byte(`{"v":1,"t":"failed","turn":1}`), []byte(`{"t":"turn","v":1,"turn":1}`)},
	} {
		f.Add(bytes.Join(records, []byte("\n")), true)
	}
	dir := filepath.Join(f.TempDir(), "store")
	store, repairs := openRepairing(f, dir)
	f.Fuzz(func(t *testing.T, log []byte, sealed bool) {
		if sealed {
			log = sealLines(log)
		}
		require.NoError(t, os.WriteFile(logPath(dir, "s1"), log, 0o600))
		*repairs = nil
		var read, opened [][]byte
		readErr := store.Read("s1", storetest.Collect(&read))
		checkSums(t, log, read)
		l, err := store.Open("s1", storetest.Collect(&opened))
		checkSums(t, log, opened)
		if err != nil {
			assert.Empty(t, *repairs)
			return
		}
		require.NoError(t, l.Close())
		require.NoError(t, readErr)
		assert.Equal(t, read, opened)
		checkRepair(t, store, dir, log, opened)
		for _, r := range *repairs {
			require.NoError(t, os.Remove(r.kept))
		}
	})
}

// sealLines gives each line its checksum, so that fuzzing gets behind that.
func sealLines(log []byte) (sealed []byte) {
	for _, line := range bytes.Split(log, []byte("\n")) {
		sealed = append(sealed, seal(string(bytes.TrimSuffix(line, []byte("}")))+"}")...)
	}
	return sealed
}

// checkSums finds each record in log, in order, as a line with the checksum
// that it should have.
func checkSums(t *testing.T, log []byte, records [][]byte) {
	t.Helper()
	for _, record := range records {
		line := []byte(seal(string(record)))
		require.True(t, bytes.HasPrefix(log, line), "%q", record)
		log = log[len(line):]
	}
}

func checkRepair(t *testing.T, store *filestore.Store, dir string, log []byte, records [][]byte) {
	t.Helper()
	left, err := os.ReadFile(logPath(dir, "s1"))
	require.NoError(t, err)
	assert.Equal(t, seals(records...), string(left))
	assert.True(t, bytes.HasPrefix(log, left))
	kept, err := os.ReadDir(filepath.Join(dir, "torn"))
	require.NoError(t, err)
	if len(left) == len(log) {
		assert.Empty(t, kept)
		return
	}
	require.Len(t, kept, 1)
	tail, err := os.ReadFile(filepath.Join(dir, "torn", kept[0].Name()))
	require.NoError(t, err)
	assert.Equal(t, string(log[len(left):]), string(tail))
	assert.Equal(t, records, storetest.Read(t, store, "s1"))
}
