package hostile

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/provider/internal/upstream"
	"github.com/prism-rpc/prism-rpc/schema"
)

// T5: bytes of a character that are cut at each place, one byte of the
// connection at a time.
func (wire *Wire) bytesOneByOne(t *testing.T) {
	const want = "a€😀ß"
	for cut := range len(want) + 1 {
		synctest.Test(t, func(t *testing.T) {
			body := "\xEF\xBB\xBF: hi\r\n\r\n"
			for _, part := range []string{want[:cut], want[cut:]} {
				body += "data: " + wire.Text(part) + "\r\n\r\n"
			}
			body += "data: " + strings.Join(wire.End, "\r\n\r\ndata: ")
			p := wire.serve(t, upstream.Options{}, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
				for i := range len(body) {
					_, _ = io.WriteString(w, body[i:i+1])
					w.(http.Flusher).Flush()
				}
			})
			var got strings.Builder
			_, err := p.Stream(t.Context(), Asking("hi"), func(e provider.Event) error {
				assert.True(t, utf8.ValidString(e.Text))
				got.WriteString(e.Text)
				return nil
			})
			assert.NoError(t, err)
			assert.Equal(t, want, got.String())
		})
	}
}

// What the framing allows, an adapter reads.
func (wire *Wire) odd(t *testing.T) {
	large := strings.Repeat("x", 3<<20)
	for name, row := range map[string]struct{ sep, text string }{
		"lines that end in LF":             {"\n\n", "a"},
		"lines that end in CRLF":           {"\r\n\r\n", "a"},
		"lines that end in CR":             {"\r\r", "a"},
		"comments, ids and times to retry": {"\n: hi\nid: 7\nretry: 5\n\n: ping\n\n", "a"},
		"an event of 3 MB":                 {"\n\n", large},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				body := "data: " + strings.Join(append([]string{wire.Text(row.text)}, wire.End...), row.sep+"data: ") + row.sep
				p := wire.serve(t, upstream.Options{}, Status(200, "text/event-stream", body))
				got, res, err := Ask(t.Context(), p, Asking("hi"))
				require.NoError(t, err)
				assert.Equal(t, row.text, got.Text)
				assert.Equal(t, schema.StopEndTurn, res.StopReason)
			})
		})
	}
}

// U11: an answer is whole once its last event came, whatever the connection
// does then.
func (wire *Wire) ended(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"the connection breaks": Abort(wire.whole("a")),
		"nothing for ever":      Stall(wire.whole("a")),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				got, res, err := Ask(t.Context(), wire.serve(t, upstream.Options{}, h), Asking("hi"))
				require.NoError(t, err)
				assert.Equal(t, "a", got.Text)
				assert.Equal(t, schema.StopEndTurn, res.StopReason)
				assert.LessOrEqual(t, time.Since(start), 2*time.Second)
			})
		})
	}
}
