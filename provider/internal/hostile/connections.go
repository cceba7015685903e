package hostile

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/provider/internal/upstream"
	"github.com/prism-rpc/prism-rpc/redact"
)

func (wire *Wire) redirect(t *testing.T) {
	asked := make(chan string, 10)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.Host }))
	defer elsewhere.Close()
	server := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	p, err := wire.Open(upstream.Options{BaseURL: server.URL, Key: redact.NewSecret("k")})
	require.NoError(t, err)
	_, _, err = Ask(t.Context(), p, Asking("hi"))
	assert.Equal(t, provider.ClassBadRequest, Failure(err).Class)
	assert.Empty(t, asked)
}

// What a connection of the real kind does wrong, over loopback.
func (wire *Wire) realConnections(t *testing.T) {
	reset := func(c net.Conn) {
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // makes Close a reset
		}
	}
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
	for name, row := range map[string]struct {
		reply string
		class provider.Class
	}{
		"reset before the first byte": {"", provider.ClassNetwork},
		"reset within the answer":     {head + "data: " + wire.Text("par") + "\n\n", provider.ClassInterrupted},
		"no HTTP":                     {"SSH-2.0-OpenSSH_9\r\n", provider.ClassNetwork},
		"a header that is none":       {"HTTP/1.1 200 OK\r\nOpenSSH\x01\r\n\r\n", provider.ClassNetwork},
		"a status that is none":       {"HTTP/1.1 OpenSSH\r\n\r\n", provider.ClassNetwork},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			defer l.Close()
			seen := make(chan struct{})
			done := make(chan struct{})
			go func() { // the test waits for it
				defer close(done)
				c, err := l.Accept()
				if err != nil {
					return
				}
				defer c.Close()
				_, _ = c.Read(make([]byte, 4096))
				_, _ = io.WriteString(c, row.reply)
				if strings.Contains(row.reply, "par") {
					<-seen
				}
				reset(c)
			}()
			p, err := wire.Open(upstream.Options{BaseURL: "http://" + l.Addr().String(), MaxRetries: -1})
			require.NoError(t, err)
			_, err = p.Stream(t.Context(), Asking("hi"), func(provider.Event) error { close(seen); return nil })
			assert.Equal(t, row.class, Failure(err).Class, err)
			assert.NotContains(t, Failure(err).Message, "OpenSSH", "Go shows it quoted, which would hide a secret in it")
			<-done
		})
	}

	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	p, err := wire.Open(upstream.Options{BaseURL: "http://" + l.Addr().String(), MaxRetries: -1})
	require.NoError(t, err)
	_, _, err = Ask(t.Context(), p, Asking("hi"))
	assert.Equal(t, provider.ClassNetwork, Failure(err).Class, "refused")
	assert.Contains(t, Failure(err).Message, l.Addr().String())
}

func (wire *Wire) reuse(t *testing.T) {
	for name, row := range map[string]struct {
		serve http.HandlerFunc
		want  int
	}{
		"after an answer":                    {wire.whole("a"), 1},
		"after an error":                     {Status(401, "application/json", `{"error":"no"}`), 1},
		"after an error without a body":      {Status(400, "", ""), 1},
		"not when the server holds it":       {Stall(wire.whole("a")), 3},
		"not when the server says on and on": {endlessAfter(wire.whole("a")), 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				from := map[string]bool{}
				p := wire.serve(t, upstream.Options{IdleTimeout: -1}, func(w http.ResponseWriter, r *http.Request) {
					from[r.RemoteAddr] = true
					row.serve(w, r)
				})
				start := time.Now()
				for range 3 {
					_, _, _ = Ask(t.Context(), p, Asking("hi"))
				}
				assert.LessOrEqual(t, time.Since(start), 300*time.Millisecond)
				assert.Len(t, from, row.want)
			})
		})
	}
}

// The calls of one provider share a connection of HTTP/2, and a call that is
// cancelled or fails leaves it to the others.
func (wire *Wire) http2(t *testing.T) {
	from := make(chan string, 100)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, 2, r.ProtoMajor)
		from <- r.RemoteAddr
		switch r.Header.Get("User-Agent") {
		case "stalled":
			Stall(Stream(wire.Text("par")))(w, r)
		case "broken":
			Abort(Stream(wire.Text("par")))(w, r)
		case "refused":
			Status(400, "", `{"error":"no"}`)(w, r)
		default:
			wire.whole("a")(w, r)
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
		p, err := wire.Open(upstream.Options{BaseURL: server.URL, Key: redact.NewSecret("k"), Transport: shared, UserAgent: row.how})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		_, err = p.Stream(ctx, Asking("hi"), func(provider.Event) error {
			if row.how == "stalled" {
				cancel()
			}
			return nil
		})
		cancel()
		assert.Equal(t, row.class, Failure(err).Class, row.how)
	}
	close(from)
	peers := map[string]bool{}
	for addr := range from {
		peers[addr] = true
	}
	assert.Len(t, peers, 1)
}

// A name that no resolver knows is the network's fault, and none that is
// looked up again for ever.
func (wire *Wire) nobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		transport := upstream.NewTransport(nil)
		transport.DialContext = func(_ context.Context, _, addr string) (net.Conn, error) {
			asked++
			return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: addr, IsNotFound: true}}
		}
		p, err := wire.Open(upstream.Options{BaseURL: "https://nobody.invalid/v1", Transport: transport})
		require.NoError(t, err)
		_, _, err = Ask(t.Context(), p, Asking("hi"))
		assert.Equal(t, provider.ClassNetwork, Failure(err).Class)
		assert.Contains(t, Failure(err).Message, "nobody.invalid")
		assert.Equal(t, 4, asked)
	})
}

func (wire *Wire) untrusted(t *testing.T) {
	server := httptest.NewUnstartedServer(wire.whole("a"))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	p, err := wire.Open(upstream.Options{BaseURL: server.URL, Key: redact.NewSecret("k"), MaxRetries: -1})
	require.NoError(t, err)
	_, _, err = Ask(t.Context(), p, Asking("hi"))
	assert.Equal(t, provider.ClassNetwork, Failure(err).Class)
	assert.Contains(t, Failure(err).Message, "certificate")
}

// proxied: a made-up name is no loopback host, so that the environment's proxy
// is asked for it. The variables are read once in a process, which is why the
// proxy is put into the transport here; the program is tried with them.
func (wire *Wire) proxied(t *testing.T) {
	var got []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Method+" "+r.URL.String())
		wire.whole("through it")(w, r)
	}))
	defer proxy.Close()
	address, err := url.Parse(proxy.URL)
	require.NoError(t, err)
	transport := upstream.NewTransport(nil)
	require.NotNil(t, transport.Proxy)
	transport.Proxy = http.ProxyURL(address)
	defer transport.CloseIdleConnections()
	p, err := wire.Open(upstream.Options{BaseURL: "http://made-up.invalid/v1", Transport: transport})
	require.NoError(t, err)
	said, _, err := Ask(t.Context(), p, Asking("hi"))
	require.NoError(t, err)
	assert.Equal(t, "through it", said.Text)
	assert.Equal(t, []string{"POST http://made-up.invalid/v1/" + wire.Path}, got)
}
