package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/sourcegraph/jsonrpc2"
	"go.uber.org/zap"

	"github.com/prism-rpc/prism-rpc/internal/panics"
)

// How long calls may take to end after they were cancelled, and then their
// answers to be written, when there is no time: 1.5 s together (protocol §3).
// Where the input's end or exit ends serving, the peer has as long to read as
// the calls had to end, drainTimeout, if that is more.
const (
	cancelTime = 1200 * time.Millisecond
	flushTime  = 300 * time.Millisecond
)

// ErrOutput is what serving ends with when a message can't be written.
var ErrOutput = errors.New("the output can't be written")

// errPanicked is what a call ends with that did not return. The log has why.
var errPanicked error = internalError()

// serve answers until the input ends and what it asked for is answered, end is
// called, ctx ends or the output breaks. Whatever ends it, each request that
// was read has its answer written, if the peer still reads.
func (c *conn) serve(hurry context.Context) error {
	ctx, cancel := context.WithCancelCause(hurry)
	defer cancel(nil)
	c.ctx = ctx
	trace := startTracer(c.opts.trace, c.opts.redactor, c.opts.logger)
	defer trace.stop()
	c.stream.trace, c.w.trace = trace, trace
	go c.w.loop() // ends after c.w.close
	before := func(rpc *jsonrpc2.Conn) { c.rpc = rpc }
	rpc := jsonrpc2.NewConn(context.WithoutCancel(ctx), c.stream, c, append(c.stream.hooks(), before)...)

	err := c.run(ctx)
	cancel(errClosing)
	c.calls.close()
	c.callbacks.close()
	c.settle(rpc)
	err = errors.Join(err, c.flush(hurry))
	close(c.stream.stopped)
	_ = rpc.Close() // its error is that of closing an input that is not read any more
	return err
}

// run waits for the reason to end.
func (c *conn) run(ctx context.Context) error {
	select {
	case <-c.stream.ended:
		return c.drain(ctx)
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-c.w.dead:
	case <-c.ended:
	}
	return nil
}

// drain lets the calls finish that were read before the input ended.
func (c *conn) drain(ctx context.Context) error {
	if c.opts.onEOF != EOFCancel {
		timeout := time.NewTimer(c.opts.drainTimeout)
		defer timeout.Stop()
		select {
		case <-c.calls.done():
		case <-timeout.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-c.w.dead:
		case <-c.ended:
		}
	}
	if c.stream.readErr != nil {
		return fmt.Errorf("read: %w", c.stream.readErr)
	}
	return nil
}

// settle waits for the calls, which are cancelled by now, and answers for those
// that don't come back.
func (c *conn) settle(rpc *jsonrpc2.Conn) {
	c.w.lift()
	timeout := time.NewTimer(cancelTime)
	defer timeout.Stop()
	select {
	case <-c.calls.done():
	case <-timeout.C:
		for _, call := range c.calls.unanswered() {
			c.answer(rpc, call, nil, context.Canceled)
		}
	case <-c.w.dead:
	}
}

// flush writes what is queued, and gives up on a peer that doesn't read it;
// sooner when hurry ends.
func (c *conn) flush(hurry context.Context) error {
	wait, giveUp := context.WithTimeout(context.WithoutCancel(hurry), max(c.opts.drainTimeout, flushTime))
	defer giveUp()
	defer context.AfterFunc(hurry, func() { time.AfterFunc(flushTime, giveUp) })()
	if c.w.close(wait) {
		return nil
	}
	if err := c.w.failure(); err != nil {
		return fmt.Errorf("%w: %w", ErrOutput, err)
	}
	if closer, ok := c.w.dst.(io.Closer); ok {
		_ = closer.Close() // ends the write that blocks; what it says comes as that write's error
	}
	return fmt.Errorf("%w: %w", ErrOutput, errUnread)
}

// recovered is deferred around a method. It logs a panic by its type and
// place: its value may hold anything.
func (c *conn) recovered(method string) {
	p := recover()
	if p == nil {
		return
	}
	c.opts.logger.Error("a method panicked",
		zap.String("method", method), zap.String("type", fmt.Sprintf("%T", p)), zap.Strings("stack", panics.Functions()))
}
