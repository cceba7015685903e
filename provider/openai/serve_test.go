package openai

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/provider/internal/upstream"
	"github.com/prism-rpc/prism-rpc/schema"
)

// pipes is a network in memory, which stands still and moves on with the fake
// time of a synctest bubble.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
	dialed atomic.Int64
	open   atomic.Int64 // connections that the client has not closed
	idle   func()       // has the client close those that it keeps for later
}

// counted is the client's end of a connection.
type counted struct {
	net.Conn
	close func() error
}

func (c *counted) Close() error { return c.close() }

func (p *pipes) count(c net.Conn) net.Conn {
	p.open.Add(1)
	return &counted{c, sync.OnceValue(func() error {
		p.open.Add(-1)
		return c.Close()
	})}
}

// numbered is the server's end of a connection, with an address of its own.
type numbered struct {
	net.Conn
	number int64
}

func (n numbered) RemoteAddr() net.Addr { return &net.UnixAddr{Name: fmt.Sprint(n.number)} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.conns <- numbered{server, p.dialed.Add(1)}:
		return p.count(client), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes"} }

// serve makes a provider of opts whose server is h, within a synctest bubble.
func serve(t *testing.T, opts Options, h http.HandlerFunc) *Provider {
	t.Helper()
	p, _ := serveOn(t, opts, h)
	return p
}

// serveOn also gives the network between the two.
func serveOn(t *testing.T, opts Options, h http.HandlerFunc) (*Provider, *pipes) {
	t.Helper()
	network := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	var handling sync.WaitGroup
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handling.Add(1)
		defer handling.Done()
		body, err := io.ReadAll(r.Body) // only after this does a server notice that its client has gone
		assert.NoError(t, err)
		r.Body = io.NopCloser(bytes.NewReader(body))
		h(w, r)
	})}
	done := make(chan struct{})
	go func() { // the cleanup waits for it
		defer close(done)
		assert.ErrorIs(t, server.Serve(network), http.ErrServerClosed)
	}()
	transport := upstream.NewTransport(nil)
	transport.DialContext = network.dial
	network.idle = transport.CloseIdleConnections
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		assert.NoError(t, server.Close())
		<-done
		handling.Wait()
	})
	opts.Transport = transport
	if opts.BaseURL == "" {
		opts.BaseURL = "http://127.0.0.1/v1"
	}
	p, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	return p, network
}

// stream answers with the events, each as one write.
func stream(events ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range events {
			fmt.Fprintf(w, "data: %s\n\n", e)
			w.(http.Flusher).Flush()
		}
	}
}

// status answers with a status and a body.
func status(code int, contentType, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		fmt.Fprint(w, body)
	}
}

// inTurn answers each request with the next handler.
func inTurn(handlers ...http.HandlerFunc) http.HandlerFunc {
	n := 0
	var mu sync.Mutex
	return func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		h := handlers[min(n, len(handlers)-1)]
		n++
		mu.Unlock()
		h(w, r)
	}
}

// text is an event that adds s, which needs no escapes, to the answer.
func text(s string) string   { return `{"choices":[{"index":0,"delta":{"content":"` + s + `"}}]}` }
func finish(s string) string { return `{"choices":[{"delta":{},"finish_reason":"` + s + `"}]}` }

func asking(input string) *provider.Request {
	return &provider.Request{Model: "m", Segments: []provider.Segment{
		{Kind: provider.SegmentSystem, Messages: []provider.Message{provider.Text(schema.RoleSystem, "Be brief.")}},
		{Kind: provider.SegmentInput, Messages: []provider.Message{provider.Text(schema.RoleUser, input)}},
	}}
}

// said is what a call brought: the answer and the reasoning.
type said struct{ text, thinking string }

func ask(ctx context.Context, p *Provider, req *provider.Request) (said, *provider.Result, error) {
	var answer, thinking strings.Builder
	res, err := p.Stream(ctx, req, func(e provider.Event) error {
		if e.Kind == provider.EventThinking {
			thinking.WriteString(e.Text)
		} else {
			answer.WriteString(e.Text)
		}
		return nil
	})
	return said{answer.String(), thinking.String()}, res, err
}

func failure(err error) provider.Error {
	var failed *provider.Error
	if errors.As(err, &failed) {
		return *failed
	}
	return provider.Error{}
}
