package listing

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
)

func ms(t *testing.T, at string) int64 {
	t.Helper()
	parsed, err := time.Parse(time.RFC3339, at)
	require.NoError(t, err)
	return parsed.UnixMilli()
}

func TestRowIsMadeOfRecordsInAnySpelling(t *testing.T) {
	const at = "2026-01-02T03:04:05.678Z"
	turned := Row{Turn: 7, Updated: ms(t, at), Touched: ms(t, at)}
	touched := Row{Touched: ms(t, at)}
	for _, c := range []struct {
		claim, record string
		want          Row
	}{
		{"as schema writes it", `{"v":1,"t":"turn","turn":7,"runId":"r","at":"` + at + `","messages":[]}`, turned},
		{"the time last", `{"v":1,"t":"turn","turn":7,"messages":[{"at":"2030-01-01T00:00:00Z"}],"at":"` + at + `"}`, turned},
		{"the type last", `{"at":"` + at + `", "turn":7, "v":1, "t":"turn"}`, turned},
		{"escaped", `{"v":1,"t":"tur\u006e","turn":7,"a\u0074":"` + at + `"}`, turned},
		{"what follows is not read", `{"v":1,"t":"turn","turn":7,"at":"` + at + `",junk`, turned},
		{"a start touches", `{"v":1,"t":"started","turn":8,"at":"` + at + `","input":"x"}`, touched},
		{"a piece says nothing", `{"v":1,"t":"partial","turn":8,"text":"x","at":"` + at + `"}`, Row{}},
		{"a member in other case is another", `{"v":1,"t":"started","At":"` + at + `"}`, Row{}},
		{"a turn that is no number", `{"v":1,"t":"turn","turn":"7","at":"` + at + `"}`, Row{Updated: ms(t, at), Touched: ms(t, at)}},
		{"a turn beyond numbers", `{"v":1,"t":"turn","turn":1e400,"at":"` + at + `"}`, Row{Updated: ms(t, at), Touched: ms(t, at)}},
		{"another format", `{"v":2,"t":"turn","turn":7,"at":"` + at + `"}`, Row{Turn: 7, Updated: ms(t, at), Touched: ms(t, at), Foreign: true}},
		{"another type", `{"v":1,"t":"hologram","turn":7,"at":"` + at + `"}`, Row{Touched: ms(t, at), Foreign: true}},
		{"nothing", ``, Row{Foreign: true}},
		{"no object", `["t"]`, Row{Foreign: true}},
	} {
		t.Run(c.claim, func(t *testing.T) {
			var r Row
			require.NoError(t, r.Add([]byte(c.record)))
			assert.Equal(t, c.want, r)
		})
	}
}

func TestRowNeverGoesBack(t *testing.T) {
	r := Row{ID: "s1"}
	for _, at := range []string{"2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z", "2026-01-01T00:00:00Z"} {
		require.NoError(t, r.Add(fmt.Appendf(nil, `{"v":1,"t":"turn","turn":1,"at":%q}`, at)))
	}
	assert.Equal(t, "2026-01-03T00:00:00.000Z", r.Info().UpdatedAt)
	assert.Equal(t, r.Updated, r.Touched)
	r.AtLeast(time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC))
	r.AtLeast(time.Date(30_000, 1, 1, 0, 0, 0, 0, time.UTC))
	assert.Equal(t, "2026-01-03T00:00:00.000Z", r.Info().UpdatedAt)
	assert.True(t, r.Valid())
}

// Whatever records hold, a row can be listed and kept.
func FuzzRow(f *testing.F) {
	for _, seed := range []string{
		"", "{", "{}", "null", `{"v":1,"t":"session","createdAt":"2026-01-02T03:04:05.678Z","settings":{"title":"t","cwd":"/c"}}`,
		`{"v":1,"t":"settings","settings":{"title":"` + strings.Repeat("ä", 3000) + `","cwd":"\ud800"}}`,
		`{"v":1,"t":"settings","settings":{"title":null,"cwd":[]}}`, `{"t":"turn","turn":-1,"at":"0001-01-01T00:00:00Z"}`,
		`{"t":"turn","turn":9223372036854775807,"at":"9999-12-31T23:59:60Z"}`, `{"t":"session","createdAt":"9999-12-31T23:59:59.999999999-23:59"}`,
		`{"a":` + strings.Repeat("[", 11_000), "{\"t\":\"turn\",\"at\":\"\xff\"}", `{"t":"turn","t":"started","at":"2026-01-02T03:04:05Z"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, record []byte) {
		r := Row{ID: "s1"}
		given := slices.Clone(record)
		require.NoError(t, r.Add(record))
		assert.Equal(t, given, record, "the record is left as it was")
		assert.True(t, r.Valid(), "%+v", r)
		_, err := time.Parse(time.RFC3339, r.Info().UpdatedAt)
		assert.NoError(t, err)
	})
}

// A cursor is taken in one spelling alone, that which was given out.
func FuzzCursor(f *testing.F) {
	for _, seed := range []string{"", "A", Cursor{1, "s1"}.String(), Cursor{0, "a.b-c_d"}.String(), Cursor{endOfTime, "s"}.String(), "MSBzMQ==", "MSBzMR"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseCursor(text)
		switch {
		case err != nil:
			assert.ErrorIs(t, err, session.ErrCursor)
		case text != "":
			assert.Equal(t, text, c.String())
			assert.True(t, schema.ValidSessionID(c.id))
		}
	})
}

func BenchmarkRowAdd(b *testing.B) {
	record := fmt.Appendf(nil, `{"v":1,"t":"turn","turn":7,"runId":"12345678","at":"2026-01-02T03:04:05.678Z","messages":[%q]}`, strings.Repeat("answer ", 10_000))
	b.ReportAllocs()
	for b.Loop() {
		var r Row
		_ = r.Add(record)
	}
}
