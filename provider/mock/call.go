package mock

import (
	"context"
	"errors"
	"time"

	"github.com/prism-rpc/prism-rpc/provider"
)

// A call plays one entry.
type call struct {
	p       *Provider
	entry   Entry
	emit    func(provider.Event) error
	started bool // something was emitted
}

// play emits the entry's pieces, each after the delay; an entry without any
// waits once.
func (c *call) play(ctx context.Context) error {
	pieces := c.entry.pieces()
	if len(pieces) == 0 {
		return pause(ctx, c.entry.Delay, nil)
	}
	for _, e := range pieces {
		if err := pause(ctx, c.entry.Delay, nil); err != nil {
			return err
		}
		c.started = true
		if err := c.emit(e); err != nil {
			return err
		}
	}
	return nil
}

// fault ends a call as its entry's Then says; err is what play returned.
func (c *call) fault(ctx context.Context, err error) error {
	switch {
	case c.entry.Then == IgnoreCancel:
		// Close ends the wait early, and that is no fault of this call.
		_ = pause(ctx, ignoreFor, c.p.released)
		return err
	case err != nil:
		return err
	case c.entry.Then == Stall:
		return c.stall(ctx)
	case c.entry.Then == Reset && !c.started:
		return &provider.Error{Class: provider.ClassNetwork, Message: "connection reset by peer"}
	case c.entry.Then == Reset:
		return &provider.Error{Class: provider.ClassInterrupted, Message: "connection reset by peer"}
	}
	return &provider.Error{Class: provider.ClassInterrupted, Message: "the answer ended before it was complete"}
}

func (c *call) stall(ctx context.Context) error {
	if err := pause(ctx, c.p.idle, c.p.released); err != nil {
		return err
	}
	return &provider.Error{Class: provider.ClassTimeout, Message: "nothing came within the idle timeout"}
}

// pause waits for d, without end when it is negative, or until released is
// closed or ctx ends, which are errors. A nil channel is never closed.
func pause(ctx context.Context, d time.Duration, released <-chan struct{}) error {
	if ctx.Err() != nil {
		return ended(ctx)
	}
	var expired <-chan time.Time
	switch {
	case d == 0:
		return nil
	case d > 0:
		t := time.NewTimer(d)
		defer t.Stop()
		expired = t.C
	}
	select {
	case <-expired:
		return nil
	case <-released:
		return &provider.Error{Class: provider.ClassInterrupted, Message: "the provider was closed"}
	case <-ctx.Done():
		return ended(ctx)
	}
}

func ended(ctx context.Context) error {
	cause := context.Cause(ctx)
	class := provider.ClassInterrupted
	if errors.Is(cause, context.DeadlineExceeded) {
		class = provider.ClassTimeout
	}
	return &provider.Error{Class: class, Message: "the call was cancelled", Err: cause}
}
