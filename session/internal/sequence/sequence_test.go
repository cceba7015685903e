package sequence

import (
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/session"
)

const header = `{"v":1,"t":"session","id":"s1","createdAt":"","settings":{}}`

func follow(t *testing.T, records ...string) Sequence {
	t.Helper()
	s := New("s1")
	for _, r := range records {
		next, err := s.After([]byte(r))
		require.NoError(t, err, r)
		s = next
	}
	return s
}

func TestAfterRefusesWhatMayNotFollow(t *testing.T) {
	for _, c := range []struct {
		claim  string
		before []string
		record string
		want   error
	}{
		{"a log begins with its header", nil, `{"v":1,"t":"turn","turn":1}`, ErrRecord},
		{"a header comes once", []string{header}, header, ErrRecord},
		{"a header names its session", nil, `{"v":1,"t":"session","id":"s2"}`, ErrRecord},
		{"a header that names none", nil, `{"v":1,"t":"session"}`, ErrRecord},
		{"a header with two names", nil, `{"v":1,"t":"session","id":"s1","id":"s2"}`, ErrRecord},
		{"ids are compared with their case", nil, `{"v":1,"t":"session","id":"S1"}`, ErrRecord},
		{"turns begin at one", []string{header}, `{"v":1,"t":"turn","turn":2}`, session.ErrConflict},
		{"a turn comes once", []string{header, `{"v":1,"t":"turn","turn":1}`}, `{"v":1,"t":"turn","turn":1}`, session.ErrConflict},
		{"a turn has a number", []string{header}, `{"v":1,"t":"turn"}`, session.ErrConflict},
		{"a newer version", nil, `{"v":2,"t":"session","id":"s1"}`, session.ErrForeign},
		{"a newer record", []string{header}, `{"v":2,"t":"turn","turn":1}`, session.ErrForeign},
		{"an unknown type", []string{header}, `{"v":1,"t":"hologram"}`, session.ErrForeign},
		{"no type", []string{header}, `{"v":1}`, ErrRecord},
		{"no object", []string{header}, `[1]`, ErrRecord},
		{"half a record", []string{header}, `{"v":1,"t":"turn","turn":`, ErrRecord},
		{"a fractional turn", []string{header}, `{"v":1,"t":"turn","turn":1.5}`, ErrRecord},
		{"nothing", []string{header}, ``, ErrRecord},
	} {
		t.Run(c.claim, func(t *testing.T) {
			s := follow(t, c.before...)
			next, err := s.After([]byte(c.record))
			assert.ErrorIs(t, err, c.want)
			assert.Equal(t, s, next)
		})
	}
}

func TestAfterCountsTurns(t *testing.T) {
	s := follow(t, header)
	assert.True(t, s.Begun())
	assert.Zero(t, s.Turn())

	s = follow(t, header,
		`{"v":1,"t":"started","turn":1}`, `{"v":1,"t":"failed","turn":1}`,
		`{"v":1,"t":"turn","turn":1}`, `{"t":"turn","turn":2,"v":1}`, `{"v":1,"t":"settings"}`)
	assert.Equal(t, 2, s.Turn())
}

func TestCommitWantsTheRecordOfItsTurn(t *testing.T) {
	s := follow(t, header)
	_, err := s.Commit(1, []byte(`{"v":1,"t":"started","turn":1}`))
	assert.ErrorIs(t, err, ErrRecord)
	_, err = s.Commit(1, []byte(`{"v":1,"t":"turn","turn":2}`))
	assert.ErrorIs(t, err, session.ErrConflict)
	_, err = s.Commit(2, []byte(`{"v":1,"t":"turn","turn":2}`))
	assert.ErrorIs(t, err, session.ErrConflict)
	next, err := s.Commit(1, []byte(`{"v":1,"t":"turn","turn":1}`))
	require.NoError(t, err)
	assert.Equal(t, 1, next.Turn())
}

func TestOneLine(t *testing.T) {
	assert.True(t, OneLine([]byte(`{"v":1}`)))
	for _, bad := range []string{"", "{}", "{\"v\":\n1}", `{"v":1}` + "\n", `"v"`, `{"v":1`, `{"v":1} `} {
		assert.False(t, OneLine([]byte(bad)), "%q", bad)
	}
}

// The scan must not see another head than a decoder does.
func FuzzScanHead(f *testing.F) {
	for _, seed := range []string{
		header,
		`{"v":1,"t":"turn","turn":7,"runId":"r"}`,
		`{"v":1,"t":"turn","turn":7}`,
		`{"v":01,"t":"turn","turn":7}`,
		`{"v":1,"t":"turn","turn":07}`,
		`{"v":1,"t":"turn","turn":7e3}`,
		`{"v":1,"t":"turn","turn":1234567890123}`,
		`{"v":-1,"t":"turn","turn":1}`,
		`{"v":1,"t":"tu\u0072n","turn":1}`,
		`{"v":1,"t":"","turn":1}`,
		`{"v":1,"t":"turn","turn":1,"turn":2}`,
		`{ "v":1,"t":"turn","turn":1}`,
		`{"v":1,"t":"turn`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, record []byte) {
		scanned, ok := scanHead(record)
		if !ok {
			return
		}
		var decoded head
		if json.Unmarshal(record, &decoded, lenient) != nil {
			return // the checksum vouches for the rest of a record
		}
		assert.Equal(t, decoded.RecordHead, scanned.RecordHead)
		if scanned.T == "turn" {
			assert.Equal(t, decoded.Turn, scanned.Turn)
		}
	})
}
