package rpc

import (
	"bytes"
	"context"
	encodingjson "encoding/json" // the library's RawMessage
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/sourcegraph/jsonrpc2"
	"go.uber.org/zap"

	"github.com/prism-rpc/prism-rpc/schema"
)

var errBadReply = errors.New("the client's reply is malformed")

// A peerError is the error that the client answered with.
type peerError struct {
	Code    int64
	Message string
	Data    jsontext.Value
}

func (e *peerError) Error() string { return fmt.Sprintf("the client answered with error %d", e.Code) }

// call sends the client a request, when no more than limits.maxCallbacks wait,
// and waits for its reply, until ctx ends: then the client is told to cancel it,
// and a late reply is ignored. It must not be called on the reading goroutine,
// which has to read that reply: call it in a wait. Errors: *peerError,
// errBadReply, errTooLarge, errClosing when the connection ends, ctx's cause.
func (c *conn) call(ctx context.Context, method string, params any) (jsontext.Value, error) {
	raw, err := json.Marshal(params, outgoing)
	if err != nil {
		return nil, &encodingError{err}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out, err := c.callbacks.enter(ctx, cancel)
	if err != nil {
		return nil, err
	}
	out.method, out.params = method, raw
	if out.size() > c.sizes.room() {
		c.callbacks.give(out)
		return nil, errTooLarge
	}
	waiter, err := c.rpc.DispatchCall(ctx, method, nil, jsonrpc2.PickID(jsonrpc2.ID{Num: out.slot}), jsonrpc2.ExtraField(askedField, out))
	if err != nil {
		c.callbacks.give(out)
		return nil, closedOr(err)
	}
	var result encodingjson.RawMessage
	if err := waiter.Wait(ctx, &result); err != nil {
		return nil, c.callFailed(ctx, out, err)
	}
	return jsontext.Value(result), nil
}

// callFailed says why a call has no result. One that is not waited for any
// longer is given up.
func (c *conn) callFailed(ctx context.Context, out *asked, err error) error {
	if replied, ok := errors.AsType[*jsonrpc2.Error](err); ok {
		return peerErrorOf(replied)
	}
	if ctx.Err() == nil {
		return closedOr(err)
	}
	cause := context.Cause(ctx)
	if c.callbacks.give(out) && !errors.Is(cause, errClosing) {
		c.cancelPeer(out.id)
	}
	return cause
}

// cancelPeer tells the client that an answer is of no use any more.
func (c *conn) cancelPeer(id string) {
	err := c.notify("$/cancelRequest", &schema.CancelAskedParams{ID: id})
	if err != nil {
		c.opts.logger.Debug("a cancellation was not sent", zap.Error(err))
	}
}

func closedOr(err error) error {
	if errors.Is(err, jsonrpc2.ErrClosed) {
		return errClosing
	}
	return err
}

// malformed marks an error of the library's type as the stream's own.
const malformed = "\x00malformed"

func peerErrorOf(e *jsonrpc2.Error) error {
	if e.Message == malformed {
		return errBadReply
	}
	out := &peerError{Code: e.Code, Message: e.Message}
	if e.Data != nil {
		out.Data = jsontext.Value(*e.Data)
	}
	return out
}

// asked is a request to the client on its way through the library, in a field
// of the library's request that only this package reads: its own encoding
// would write params anew.
//
// On the wire each has an id that no other had. The library knows it by a slot
// instead: it keeps a call that has no reply for ever, and a slot is used again.
type asked struct {
	id     string
	slot   uint64 // from 1
	method string
	params []byte
	cancel context.CancelCauseFunc // ends the wait
}

const askedField = "asked"

func (a *asked) size() int {
	return len(`{"jsonrpc":"2.0","id":,"method":,"params":}`) + len(quote(a.id)) + len(quote(a.method)) + len(a.params)
}

// write puts it into the writer's queue.
func (a *asked) write(w *writer) error {
	return w.reply([]byte(replyHead), quote(a.id), []byte(`,"method":`), quote(a.method), []byte(`,"params":`), a.params, []byte("}"))
}

func quote(text string) []byte { return append(appendText([]byte{'"'}, text), '"') }

// askedOf finds the request that this package sends in that of the library.
func askedOf(req *jsonrpc2.Request) *asked {
	for _, f := range req.ExtraFields {
		if out, ok := f.Value.(*asked); ok && f.Name == askedField {
			return out
		}
	}
	return nil
}

// callbacks knows the requests to the client that wait for their replies.
type callbacks struct {
	mu      sync.Mutex
	next    uint64
	waiting map[string]*asked // by id
	closed  bool

	slots chan uint64   // free ones; has room for all
	over  chan struct{} // closed by close
}

func newCallbacks(max int) *callbacks {
	c := &callbacks{waiting: map[string]*asked{}, slots: make(chan uint64, max), over: make(chan struct{})}
	for slot := range max {
		c.slots <- uint64(slot + 1)
	}
	return c
}

// enter gives a new request its id and a slot, as soon as one is free. Ids are
// never used twice, so a late reply meets nothing.
func (c *callbacks) enter(ctx context.Context, cancel context.CancelCauseFunc) (*asked, error) {
	select {
	case slot := <-c.slots:
		return c.begin(slot, cancel)
	case <-c.over:
		return nil, errClosing
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (c *callbacks) begin(slot uint64, cancel context.CancelCauseFunc) (*asked, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		c.free(slot)
		return nil, errClosing
	}
	c.next++
	out := &asked{id: "server-" + strconv.FormatUint(c.next, 10), slot: slot, cancel: cancel}
	c.waiting[out.id] = out
	return out, nil
}

// take ends the waiting for a reply, once. Whoever gets the request must free
// its slot when nothing more of it is on the way.
func (c *callbacks) take(id string) *asked {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.waiting[id]
	delete(c.waiting, id)
	return out
}

func (c *callbacks) free(slot uint64) { c.slots <- slot }

// give ends the waiting without a reply. False means that one is on its way.
func (c *callbacks) give(out *asked) bool {
	if c.take(out.id) == nil {
		return false
	}
	out.params = nil // the library keeps the rest until the slot is used again
	c.free(out.slot)
	return true
}

// close fails what waits: no reply can come any more.
func (c *callbacks) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	c.closed = true
	close(c.over)
	for _, out := range c.waiting {
		out.cancel(errClosing)
	}
}

// A response is a reply of the client's, to be handed to the library.
type response struct {
	slot   uint64
	result encodingjson.RawMessage
	err    *jsonrpc2.Error
}

// reply recognizes the answer to a request that waits; any other is dropped.
func (s *stream) reply(e *envelope) {
	if !isString(e.id) {
		return
	}
	if out := s.callbacks.take(string(unquote(e.id))); out != nil {
		s.queue = append(s.queue, inbound{reply: newResponse(out.slot, e, s.limits)})
	}
}

func newResponse(slot uint64, e *envelope, l limits) *response {
	bad := !isString(e.version) || string(unquote(e.version)) != "2.0" || e.repeated != "" || e.depth > l.maxDepth
	switch {
	case bad, hasValue(e.err) && hasValue(e.result):
		return &response{slot: slot, err: &jsonrpc2.Error{Message: malformed}}
	case hasValue(e.err):
		return &response{slot: slot, err: decodeError(e.err)}
	case e.result == nil: // "error": null alone
		return &response{slot: slot, err: &jsonrpc2.Error{Message: malformed}}
	}
	return &response{slot: slot, result: bytes.Clone(e.result)}
}

func decodeError(raw []byte) *jsonrpc2.Error {
	var e struct {
		Code    *int64         `json:"code"`
		Message *string        `json:"message"`
		Data    jsontext.Value `json:"data"`
	}
	if err := json.Unmarshal(raw, &e, jsontext.AllowInvalidUTF8(true)); err != nil || e.Code == nil || e.Message == nil {
		return &jsonrpc2.Error{Message: malformed}
	}
	out := &jsonrpc2.Error{Code: *e.Code, Message: *e.Message}
	if e.Data != nil {
		out.Data = (*encodingjson.RawMessage)(&e.Data)
	}
	return out
}

// envelope is the smallest message that the library takes for this reply. It
// keeps what it decodes, so each is decoded anew; onRecv puts the rest in.
func (r *response) envelope() []byte {
	if r.err != nil {
		return fmt.Appendf(nil, `{"id":%d,"error":{"code":0,"message":""}}`, r.slot)
	}
	return fmt.Appendf(nil, `{"id":%d,"result":0}`, r.slot)
}
