package rpc

import (
	"context"
	"encoding/json"
	"io"
	"reflect"
	"sync"
	"testing"

	"github.com/sourcegraph/jsonrpc2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/schema"
)

// The stream rests on three habits of the library that its documentation does
// not promise. These tests say when a new version has lost one.

// pinned is a stream that records the order in which the library calls.
type pinned struct {
	mu    sync.Mutex
	steps []string
	left  int
	done  chan struct{}
}

func (p *pinned) step(s string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.steps = append(p.steps, s)
}

func (p *pinned) ReadObject(v any) error {
	if p.left == 0 {
		<-p.done
		return io.EOF
	}
	p.left--
	p.step("ReadObject")
	return v.(json.Unmarshaler).UnmarshalJSON([]byte(`{"method":"","id":0}`))
}

func (p *pinned) WriteObject(v any) error {
	message, err := json.Marshal(v)
	p.step("WriteObject " + string(message))
	return err
}

func (p *pinned) Close() error { return nil }

func (p *pinned) Handle(_ context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) {
	p.step("Handle " + req.Method)
}

func TestLibrary_OnRecvComesBetweenReadObjectAndHandleAndMayChangeTheRequest(t *testing.T) {
	p := &pinned{left: 2, done: make(chan struct{})}
	n := 0
	c := jsonrpc2.NewConn(t.Context(), p, p, jsonrpc2.OnRecv(func(req *jsonrpc2.Request, resp *jsonrpc2.Response) {
		n++
		assert.Nil(t, resp)
		req.Method = string(rune('a' + n))
		p.step("OnRecv")
		if n == 2 {
			close(p.done)
		}
	}))
	<-c.DisconnectNotify()
	assert.Equal(t, []string{"ReadObject", "OnRecv", "Handle b", "ReadObject", "OnRecv", "Handle c"}, p.steps)
}

func TestLibrary_OnSendComesRightBeforeWriteObjectOfTheSameResponse(t *testing.T) {
	p := &pinned{done: make(chan struct{})}
	defer close(p.done)
	c := jsonrpc2.NewConn(t.Context(), p, p, jsonrpc2.OnSend(func(req *jsonrpc2.Request, resp *jsonrpc2.Response) {
		assert.Nil(t, req)
		message, err := json.Marshal(resp)
		assert.NoError(t, err)
		p.step("WriteObject " + string(message))
	}))
	var senders sync.WaitGroup
	for i := range 100 {
		senders.Go(func() {
			raw := json.RawMessage("1")
			assert.NoError(t, c.SendResponse(t.Context(), &jsonrpc2.Response{ID: jsonrpc2.ID{Num: uint64(i)}, Result: &raw}))
		})
	}
	senders.Wait()
	require.Len(t, p.steps, 200)
	for i := 0; i < len(p.steps); i += 2 {
		assert.Equal(t, p.steps[i], p.steps[i+1])
	}
}

func TestLibrary_ADecodedMessageCanBeCopied(t *testing.T) {
	s := newStream(nil, newWriter(io.Discard, 1), &calls{byID: map[string]*call{}}, newCallbacks(1), newSizes(schema.MaxMessageBytes), FramingLines, limits{})
	var kind reflect.Type
	reader := &copying{s: s, kind: &kind}
	c := jsonrpc2.NewConn(t.Context(), reader, &pinned{}, jsonrpc2.OnRecv(func(req *jsonrpc2.Request, _ *jsonrpc2.Response) {
		assert.NotNil(t, req)
		assert.Empty(t, req.Method, "nothing of the message before is left in the copy")
		*req = jsonrpc2.Request{Notif: true}
		reader.seen++
	}), jsonrpc2.SetLogger(noLogger{}))
	<-c.DisconnectNotify()
	assert.Equal(t, 1, reader.seen)
	require.Equal(t, reflect.Struct, kind.Kind())
	for i := range kind.NumField() {
		assert.Equal(t, reflect.Pointer, kind.Field(i).Type.Kind(), "a copy shares all that it holds")
	}
}

// copying hands out one copy of the sample, then ends.
type copying struct {
	s    *stream
	kind *reflect.Type
	seen int
}

func (c *copying) ReadObject(v any) error {
	if c.seen > 0 {
		return io.EOF
	}
	*c.kind = reflect.TypeOf(v).Elem()
	return c.s.copySample(v)
}

func (c *copying) WriteObject(any) error { return nil }
func (c *copying) Close() error          { return nil }
