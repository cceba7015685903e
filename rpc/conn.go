package rpc

import (
	"cmp"
	"context"
	encodingjson "encoding/json" // the library's RawMessage
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/sourcegraph/jsonrpc2"
	"go.uber.org/zap"

	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
)

// A begin starts one call on the reading goroutine, in order of arrival, and
// must not block. The params are as they were sent, nil if there were none,
// and may be kept no longer than until it returns.
type begin func(c *call, params []byte) (reply, error)

// A reply is what a begin leaves behind. What a notification replies is not
// sent.
type reply struct {
	result any                 // the answer, if wait is nil
	wait   func() (any, error) // blocks until it has the answer; runs on its own goroutine
	look   bool                // wait only looks something up, which may be large: it is put off while the client doesn't read
	sent   func()              // if set, called once when the answer is with the writer or never will be, also after a panic
}

// connOptions configure a connection; the zero value serves no method.
type connOptions struct {
	methods map[string]begin
	unready error           // what unknown methods are answered with too, while nothing can be done
	urgent  map[string]bool // methods that are begun also while limits.maxInFlight calls run

	// describe says what a client is told of an error, this package's own
	// *wireErrors included. nil, or a nil answer, means: those as they are,
	// cancelled contexts as cancelled, all else as an internal error, logged.
	describe func(error) *wireError

	firstReply func() // if set, called once when a reply was given to the writer; must not block

	framing      Framing
	limits       limits
	drainTimeout time.Duration // how long the end of the input waits for calls; default 30 s
	onEOF        OnEOF
	logger       *zap.Logger // nil logs nothing

	trace    io.Writer        // nil traces nothing
	redactor *redact.Redactor // for the trace
}

// limits bound what a client may do (protocol §10). Zero means the default.
type limits struct {
	maxFrame       int // bytes of a message
	maxDepth       int // containers that are open at once
	maxIDBytes     int
	maxBatch       int // messages
	maxInFlight    int // calls that run
	maxUnreadBytes int // of replies, before reading stops until the client has read
	maxMessage     int // bytes of a message that is written
	maxCallbacks   int // requests to the client that wait for their replies
}

func (l limits) withDefaults() limits {
	return limits{
		maxFrame:       cmp.Or(l.maxFrame, 64<<20),
		maxDepth:       cmp.Or(l.maxDepth, 512),
		maxIDBytes:     cmp.Or(l.maxIDBytes, 1<<10),
		maxBatch:       cmp.Or(l.maxBatch, 1000),
		maxInFlight:    cmp.Or(l.maxInFlight, 1024),
		maxUnreadBytes: cmp.Or(l.maxUnreadBytes, 16<<20),
		maxMessage:     cmp.Or(l.maxMessage, schema.MaxMessageBytes),
		maxCallbacks:   cmp.Or(l.maxCallbacks, 64),
	}
}

// conn is one client: its calls, its replies, its events.
type conn struct {
	opts   connOptions
	stream *stream
	w      *writer
	calls  *calls
	events *events
	sizes  *sizes

	rpc       *jsonrpc2.Conn // set before the first message is read
	callbacks *callbacks
	ctx       context.Context // of the calls; set by serve before it reads

	looks     *looks
	finishing chan struct{} // full while a call that took time is answered

	ending sync.Once
	ended  chan struct{} // closed by end
}

// newConn makes a connection that reads requests from r and writes to w. It
// closes r, if that can be closed, when serving ends before the input does; w,
// when the peer does not read what is left for it.
func newConn(r io.Reader, w io.Writer, o connOptions) *conn {
	o.limits = o.limits.withDefaults()
	o.drainTimeout = cmp.Or(o.drainTimeout, 30*time.Second)
	if o.logger == nil {
		o.logger = zap.NewNop()
	}
	c := &conn{opts: o, calls: &calls{byID: map[string]*call{}}, ended: make(chan struct{})}
	c.w = newWriter(w, o.limits.maxUnreadBytes)
	c.sizes = newSizes(o.limits.maxMessage)
	c.events = newEvents(c.w, c.sizes)
	c.finishing = make(chan struct{}, 1)
	c.looks = &looks{byMethod: map[string]chan struct{}{}}
	c.callbacks = newCallbacks(o.limits.maxCallbacks)
	c.stream = newStream(r, c.w, c.calls, c.callbacks, c.sizes, o.framing, o.limits)
	if o.firstReply != nil {
		c.stream.replied = sync.OnceFunc(o.firstReply)
	}
	return c
}

// event sends one event of a turn, numbered, or leaves it out if the client
// excluded its type. It never blocks.
func (c *conn) event(ev schema.Event) {
	if err := c.events.send(ev); err != nil {
		c.opts.logger.Error("an event has no encoding", zap.String("type", string(ev.Header().Type)), zap.Error(err))
	}
}

// exclude leaves out events of these types from now on.
func (c *conn) exclude(names []string) { c.events.exclude(names) }

// lastSeq is the number of the session's newest event on this connection, 0
// before the first.
func (c *conn) lastSeq(sessionID string) uint64 { return c.events.lastSeq(sessionID) }

// notify sends a notification. It never blocks; the error is that of its
// encoding, errTooLarge, or that of an earlier write.
func (c *conn) notify(method string, params any) error {
	name, err := jsontext.AppendQuote(nil, method)
	if err != nil {
		return fmt.Errorf("notify: %w", err)
	}
	const head, middle = `{"jsonrpc":"2.0","method":`, `,"params":`
	room := c.sizes.room() - len(head) - len(name) - len(middle) - len("}")
	return fitted(params, room, func(raw encodingjson.RawMessage) error {
		return c.w.reply([]byte(head), name, []byte(middle), raw, []byte("}"))
	})
}

// end ends serve: what is left is cancelled and answered, and what is queued
// is written.
func (c *conn) end() { c.ending.Do(func() { close(c.ended) }) }

// cancelAll cancels the requests in flight.
func (c *conn) cancelAll() { c.calls.cancelAll() }

// inFlight is the number of requests without an answer.
func (c *conn) inFlight() int { return c.calls.inFlight() }

// framing is the one in use, or the configured one before the first input.
func (c *conn) framing() Framing { return c.w.framing(c.opts.framing) }

// limits are the bounds in force, by their names on the wire.
func (c *conn) limits() map[string]int {
	l := c.opts.limits
	return map[string]int{
		"maxFrame":       l.maxFrame,
		"maxDepth":       l.maxDepth,
		"maxIdBytes":     l.maxIDBytes,
		"maxBatch":       l.maxBatch,
		"maxInFlight":    l.maxInFlight,
		"maxUnreadBytes": l.maxUnreadBytes,

		"maxMessageBytes": c.sizes.limit(),
		"maxCallbacks":    l.maxCallbacks,
	}
}

// Handle implements jsonrpc2.Handler on the reading goroutine.
func (c *conn) Handle(_ context.Context, rpc *jsonrpc2.Conn, req *jsonrpc2.Request) {
	call := c.stream.now.call
	defer c.recovered(call.method)
	if isCancel(req.Method) {
		c.cancelOne(*req.Params)
		c.finish(rpc, call, reply{result: struct{}{}}, nil)
		return
	}
	c.calls.arm(c.ctx, call)
	begun, err := c.begin(call, *req.Params)
	if err != nil || begun.wait == nil {
		c.finish(rpc, call, begun, err)
		return
	}
	c.calls.run()
	go c.wait(rpc, call, begun) // serve waits for it, through calls.done
}

func (c *conn) begin(call *call, params []byte) (begun reply, err error) {
	method, known := c.opts.methods[call.method]
	limit := c.opts.limits.maxInFlight
	if call.isNotification() || c.opts.urgent[call.method] {
		limit *= 2
	}
	switch {
	case !known && c.opts.unready != nil:
		return reply{}, c.opts.unready
	case !known:
		return reply{}, methodNotFound(call.method)
	case c.calls.full(limit):
		return reply{}, overloaded(limit)
	}
	err = errPanicked
	defer c.recovered(call.method)
	return method(call, params)
}

// wait runs the part of a call that blocks. Its deferred functions answer also
// if that part panics or ends its goroutine.
func (c *conn) wait(rpc *jsonrpc2.Conn, call *call, begun reply) {
	err := errPanicked
	defer c.calls.release()
	if begun.look {
		defer c.looks.take(call)()
		c.w.awaitRoom()
	}
	defer func() { c.finishInRoom(rpc, call, begun, err) }()
	defer c.recovered(call.method)
	begun.result, err = begun.wait()
}

// finish answers a call, if it is a request, and says so.
func (c *conn) finish(rpc *jsonrpc2.Conn, call *call, begun reply, err error) {
	if begun.sent != nil {
		defer c.recovered(call.method)
		defer begun.sent()
	}
	if call.isNotification() {
		c.calls.leave(call)
		c.calls.gone()
		if err != nil {
			c.opts.logger.Debug("a notification failed", zap.String("error", c.describe(err).Message))
		}
		return
	}
	c.answer(rpc, call, begun.result, err)
}

// answer sends the one reply to a request through the library.
func (c *conn) answer(rpc *jsonrpc2.Conn, call *call, result any, err error) {
	id := jsonrpc2.ID{Str: call.key, IsString: true}
	if err == nil {
		err = fitted(result, c.sizes.roomForResult(call), func(raw encodingjson.RawMessage) error {
			c.send(rpc, &jsonrpc2.Response{ID: id, Result: &raw})
			return nil
		})
	}
	if errors.Is(err, errTooLarge) {
		err = resultTooLarge(c.sizes.limit())
	}
	if err != nil {
		if call.endedBy(err) {
			err = context.Canceled
		}
		e := c.describe(err)
		message, data := e.fit(c.sizes.roomForError(call))
		c.send(rpc, &jsonrpc2.Response{ID: id, Error: &jsonrpc2.Error{Code: int64(e.Code), Message: message, Data: data}})
	}
}

// send can fail only if the request was answered when serving ended, or if the
// output broke, which serve sees itself.
func (c *conn) send(rpc *jsonrpc2.Conn, resp *jsonrpc2.Response) {
	if err := rpc.SendResponse(c.ctx, resp); err != nil {
		c.opts.logger.Debug("a reply was not sent", zap.Error(err))
	}
}

func (c *conn) describe(err error) *wireError {
	if c.opts.describe != nil {
		if e := c.opts.describe(err); e != nil {
			return e
		}
	}
	if e, ok := errors.AsType[*wireError](err); ok {
		return show(e, nil)
	}
	if errors.Is(err, context.Canceled) {
		return cancelled()
	}
	c.opts.logger.Error("internal error", zap.Error(err))
	return internalError()
}

// isCancel knows the names that editors' protocols have for it: LSP's, ACP's
// and MCP's.
func isCancel(method string) bool {
	return method == "$/cancelRequest" || method == "$/cancel_request" || method == "notifications/cancelled"
}

// cancelOne cancels the call that the params name. What they can't name is
// ignored: the call may just have been answered.
func (c *conn) cancelOne(params []byte) {
	var p struct {
		ID        jsontext.Value `json:"id"`
		RequestID jsontext.Value `json:"requestId"`
	}
	if err := json.Unmarshal(params, &p, jsontext.AllowInvalidUTF8(true)); err != nil {
		return
	}
	if p.ID == nil {
		p.ID = p.RequestID
	}
	c.calls.cancel(string(p.ID))
}
