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
		{"a summary of no turn", []string{header}, `{"v":1,"t":"compaction","turn":0}`, ErrRecord},
		{"a summary of a turn to come", []string{header, `{"v":1,"t":"turn","turn":1}`}, `{"v":1,"t":"compaction","turn":2}`, ErrRecord},
		{"a summary without a turn", []string{header, `{"v":1,"t":"turn","turn":1}`}, `{"v":1,"t":"compaction"}`, ErrRecord},
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

func TestA6SplicesStandAnywhereBehindTheHeader(t *testing.T) {
	const in, out = `{"v":1,"t":"splice","serial":1,"id":"a","lifetime":"session","name":"n","content":"c"}`, `{"v":1,"t":"unsplice","serial":1}`
	_, err := New("s1").After([]byte(in))
	assert.ErrorIs(t, err, ErrRecord)
	s := follow(t, header, in, `{"v":1,"t":"started","turn":1}`, out, in, `{"v":1,"t":"turn","turn":1,"spent":[1]}`, out)
	assert.Equal(t, 1, s.Turn())
	started := follow(t, header, `{"v":1,"t":"started","turn":1}`, in, out)
	assert.Equal(t, 1, started.Started(), "a turn under way goes on")
}

func TestU11PieceOfAnAnswerIsWrittenWhileItsTurnIsUnderWay(t *testing.T) {
	const (
		started = `{"v":1,"t":"started","turn":1,"runId":"a"}`
		piece   = `{"v":1,"t":"partial","turn":1,"runId":"a","text":"x"}`
		turn    = `{"v":1,"t":"turn","turn":1}`
		failed  = `{"v":1,"t":"failed","turn":1}`
	)
	for _, c := range []struct {
		claim  string
		before []string
		want   error
	}{
		{"once it has started", []string{started}, nil},
		{"after another piece", []string{started, piece}, nil},
		{"after new settings", []string{started, `{"v":1,"t":"settings"}`}, nil},
		{"on the next try", []string{started, failed, started}, nil},
		{"whatever the spelling", []string{`{"turn":1, "t":"started", "v":1}`}, nil},
		{"not before", nil, ErrRecord},
		{"not of another turn", []string{`{"v":1,"t":"started","turn":2}`}, ErrRecord},
		{"not of a turn without number", []string{`{"v":1,"t":"started"}`}, ErrRecord},
		{"not after it was committed", []string{started, turn}, ErrRecord},
		{"not after it failed", []string{started, failed}, ErrRecord},
		{"not after the next one started", []string{started, turn, `{"v":1,"t":"started","turn":2}`}, ErrRecord},
	} {
		t.Run(c.claim, func(t *testing.T) {
			s := follow(t, append([]string{header}, c.before...)...)
			next, err := s.Append([]byte(piece))
			assert.ErrorIs(t, err, c.want)
			assert.Equal(t, s, next)
			next, err = s.After([]byte(piece))
			assert.NoError(t, err, "it may be read anywhere")
			assert.Equal(t, s, next)
		})
	}
	_, err := follow(t, header, `{"v":1,"t":"started"}`).Append([]byte(`{"v":1,"t":"partial","text":"x"}`))
	assert.ErrorIs(t, err, ErrRecord, "no turn at all")
}

func TestACompactionStandsBehindItsTurnsAndCountsNone(t *testing.T) {
	s := follow(t, header,
		`{"v":1,"t":"turn","turn":1}`, `{"v":1,"t":"compaction","turn":1}`, `{"v":1,"t":"turn","turn":2}`,
		`{"v":1,"t":"started","turn":3}`, `{"v":1,"t":"compaction","generation":2,"turn":1}`)
	assert.Equal(t, 2, s.Turn())
	assert.Equal(t, 3, s.Started(), "the turn within which it stands goes on")
}

// What later programs add within the format passes: members in any record.
func TestAfterLeavesAloneWhatItDoesNotKnow(t *testing.T) {
	s := follow(t, header, `{"v":1,"t":"settings","generation":3}`,
		`{"v":1,"t":"turn","turn":1,"generation":3,"marks":{"turn":9,"t":"failed"}}`)
	assert.Equal(t, 1, s.Turn())
}

func TestResumeGoesOnWhereASequenceWas(t *testing.T) {
	for _, records := range [][]string{
		{header},
		{header, `{"v":1,"t":"turn","turn":1}`},
		{header, `{"v":1,"t":"turn","turn":1}`, `{"v":1,"t":"started","turn":2}`},
	} {
		s := follow(t, records...)
		assert.Equal(t, s, Resume("s1", s.Turn(), s.Started()))
	}
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
		`{"v":1,"t":"partial","turn":7,"text":""}`,
		`{"v":1,"t":"started","turn":7e3}`,
		`{"v":1,"t":"started","turn":1,"turn":2}`,
		`{"v":1,"t":"started","runId":"r","turn":1}`,
		`{"v":1,"t":"compaction","turn":3,"generation":1}`,
		`{"v":1,"t":"compaction","generation":1,"turn":3}`,
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
		if scanned.T == "turn" || scanned.Turn != 0 {
			assert.Equal(t, decoded.Turn, scanned.Turn)
		}
	})
}
