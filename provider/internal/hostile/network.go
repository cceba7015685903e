package hostile

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/provider/internal/upstream"
)

// Pipes is a network in memory, which stands still and moves on with the fake
// time of a synctest bubble.
type Pipes struct {
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

func (p *Pipes) count(c net.Conn) net.Conn {
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

func (p *Pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.conns <- numbered{server, p.dialed.Add(1)}:
		return p.count(client), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept, Close and Addr are those of a net.Listener.
func (p *Pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept.
func (p *Pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// Addr is a name.
func (p *Pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes"} }

// Serve makes a provider of opts whose server is h, within a synctest bubble,
// and gives the network between the two.
func Serve(t *testing.T, open func(upstream.Options) (provider.Provider, error), opts upstream.Options, h http.HandlerFunc) (provider.Provider, *Pipes) {
	t.Helper()
	network := &Pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
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
	p, err := open(opts)
	require.NoError(t, err)
	return p, network
}
