package hostile

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/provider/internal/upstream"
)

// However a call ends, it leaves behind no goroutine, and no connection but
// one that waits for the next call.
func (wire *Wire) leaks(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"an answer":                      wire.whole("a"),
		"an answer that goes on":         endlessAfter(wire.whole("a")),
		"an answer that isn't ended":     Stall(wire.whole("a")),
		"an answer that breaks":          Abort(Stream(wire.Text("a"))),
		"silence":                        Stall(Stream()),
		"silence before the header":      Stall(func(http.ResponseWriter, *http.Request) {}),
		"a refused request":              Status(400, "", `{"error":"no"}`),
		"an error that never ends":       Stall(Status(400, "", "x")),
		"an error larger than its bound": Endless("x"),
		"an error within the answer":     Stall(Stream(`{"error":{"code":400}}`)),
		"a compressed answer":            Stall(Status(200, "text/event-stream", "x", "Content-Encoding", "gzip")),
		"retries":                        Status(503, "", ""),
	} {
		for _, how := range []string{"in its time", "cancelled"} {
			t.Run(name+", "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p, network := Serve(t, wire.Open, upstream.Options{TotalTimeout: -1}, h)
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					if how == "cancelled" {
						time.AfterFunc(time.Millisecond, cancel)
					}
					_, _, _ = Ask(ctx, p, Asking("hi")) // its outcome is the claim of other tests
					synctest.Wait()
					assert.LessOrEqual(t, network.open.Load(), int64(1))
					network.idle()
					synctest.Wait()
					assert.Zero(t, network.open.Load())
				})
			})
		}
	}
}

func (wire *Wire) goroutines(t *testing.T) {
	server := httptest.NewServer(InTurn(Status(400, "", "no"), Stream(wire.Text("a")), wire.whole("a"), Abort(Stream(wire.Text("a")))))
	defer server.Close()
	transport := &http.Transport{}
	p, err := wire.Open(upstream.Options{BaseURL: server.URL, Transport: transport, MaxRetries: -1})
	require.NoError(t, err)
	_, _, _ = Ask(t.Context(), p, Asking("hi"))
	transport.CloseIdleConnections()
	before := runtime.NumGoroutine()
	for range 50 {
		_, _, _ = Ask(t.Context(), p, Asking("hi"))
	}
	assert.Eventually(t, func() bool {
		transport.CloseIdleConnections()
		return runtime.NumGoroutine() <= before+2 // those of a connection that is just being closed
	}, 10*time.Second, 10*time.Millisecond)
}
