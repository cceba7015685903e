package openai

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

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/provider/internal/upstream"
	"github.com/prism-rpc/prism-rpc/redact"
)

// However a call ends, it leaves behind no goroutine, and no connection but
// one that waits for the next call.
func TestACallLeavesNothingBehind(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"an answer":                      stream(text("a"), finish("stop"), "[DONE]"),
		"an answer that goes on":         endless("[DONE]"),
		"an answer that isn't ended":     stall(stream(text("a"), finish("stop"))),
		"an answer that breaks":          abort(stream(text("a"))),
		"silence":                        stall(stream()),
		"silence before the header":      stall(func(http.ResponseWriter, *http.Request) {}),
		"a refused request":              status(400, "", `{"error":"no"}`),
		"an error that never ends":       stall(status(400, "", "x")),
		"an error larger than its bound": endless("x"),
		"an error within the answer":     stall(stream(`{"error":{"code":400}}`)),
		"a compressed answer":            stall(status(200, "text/event-stream", "x", "Content-Encoding", "gzip")),
		"retries":                        status(503, "", ""),
	} {
		for _, how := range []string{"in its time", "cancelled"} {
			t.Run(name+", "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p, network := serveOn(t, Options{TotalTimeout: -1}, h)
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					if how == "cancelled" {
						time.AfterFunc(time.Millisecond, cancel)
					}
					_, _, _ = ask(ctx, p, asking("hi")) // its outcome is the claim of other tests
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

func TestNoGoroutineIsLeft(t *testing.T) {
	server := httptest.NewServer(inTurn(status(400, "", "no"), stream(text("a")), stream(text("a"), finish("stop")), abort(stream(text("a")))))
	defer server.Close()
	transport := &http.Transport{}
	p, err := New(Options{BaseURL: server.URL, Transport: transport, MaxRetries: -1})
	require.NoError(t, err)
	_, _, _ = ask(t.Context(), p, asking("hi"))
	transport.CloseIdleConnections()
	before := runtime.NumGoroutine()
	for range 50 {
		_, _, _ = ask(t.Context(), p, asking("hi"))
	}
	assert.Eventually(t, func() bool {
		transport.CloseIdleConnections()
		return runtime.NumGoroutine() <= before+2 // those of a connection that is just being closed
	}, 10*time.Second, 10*time.Millisecond)
}

// The calls of one provider share a connection of HTTP/2, and a call that is
// cancelled or fails leaves it to the others.
func TestHTTP2(t *testing.T) {
	from := make(chan string, 100)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, 2, r.ProtoMajor)
		from <- r.RemoteAddr
		switch r.Header.Get("User-Agent") {
		case "stalled":
			stall(stream(text("par")))(w, r)
		case "broken":
			abort(stream(text("par")))(w, r)
		case "refused":
			status(400, "", `{"error":"no"}`)(w, r)
		default:
			stream(text("a"), finish("stop"), "[DONE]")(w, r)
		}
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	roots := server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	shared := upstream.NewTransport(roots)
	defer shared.CloseIdleConnections()
	for _, row := range []struct {
		how   string
		class provider.Class
	}{{"whole", ""}, {"stalled", provider.ClassInterrupted}, {"broken", provider.ClassInterrupted}, {"refused", provider.ClassBadRequest}, {"whole", ""}} {
		p, err := New(Options{BaseURL: server.URL, Key: redact.NewSecret("k"), Transport: shared, UserAgent: row.how})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		_, err = p.Stream(ctx, asking("hi"), func(provider.Event) error {
			if row.how == "stalled" {
				cancel()
			}
			return nil
		})
		cancel()
		assert.Equal(t, row.class, failure(err).Class, row.how)
	}
	close(from)
	peers := map[string]bool{}
	for addr := range from {
		peers[addr] = true
	}
	assert.Len(t, peers, 1)
}
