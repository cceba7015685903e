package rpc

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// A call is one request or notification.
type call struct {
	ctx    context.Context // ends with a cancel from the client, with the answer, or with the connection
	id     []byte          // the id as it was sent, which is JSON; nil for a notification
	method string

	key   string // the id, to find the call by
	batch *batch // nil for a call that came alone
	place int    // in the batch
	room  int    // in a batch: bytes that its reply may have

	// Guarded by calls.mu.
	cancel   context.CancelFunc // nil until the call begins
	early    bool               // cancelled before it began
	answered bool
}

func newCall(id []byte, method string) *call {
	return &call{id: bytes.Clone(id), key: string(id), method: method}
}

// isNotification says that nobody waits for an answer.
func (c *call) isNotification() bool { return c.id == nil }

var (
	errInFlight = errors.New("the id is in flight")
	errClosing  = errors.New("the connection is ending")
)

const (
	recentIDs = 1024 // requests of which it is known that they came
	earlyIDs  = 64   // cancels that wait for their requests
	earlyTime = time.Second
)

// An earlyCancel came before its request.
type earlyCancel struct {
	id string
	at time.Time
}

// calls knows the requests that are not answered yet, by their ids, and how
// many calls run.
type calls struct {
	mu      sync.Mutex
	recent  [recentIDs]string // the ids that came last
	came    int               // requests in all
	early   []earlyCancel     // requests that were cancelled before they came
	byID    map[string]*call
	running int // calls whose wait has not returned
	leaving int // answers that are on the way to the writer
	closing bool
	idle    chan struct{} // closed when nothing is left; nil while nobody wants to know
}

// enter takes note of a request: errInFlight if its id is taken, errClosing if
// the connection is ending.
func (c *calls) enter(call *call) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return errClosing
	}
	if c.byID[call.key] != nil {
		return errInFlight
	}
	call.early = c.takeEarlyLocked(call.key)
	c.byID[call.key] = call
	c.recent[c.came%recentIDs] = call.key
	c.came++
	return nil
}

// takeEarlyLocked tells whether the request was cancelled a moment ago.
func (c *calls) takeEarlyLocked(id string) bool {
	c.early = slices.DeleteFunc(c.early, func(e earlyCancel) bool { return time.Since(e.at) > earlyTime })
	i := slices.IndexFunc(c.early, func(e earlyCancel) bool { return e.id == id })
	if i < 0 {
		return false
	}
	c.early = slices.Delete(c.early, i, i+1)
	return true
}

// claim gives the right to answer a request, once. It returns nil when that
// has been done, or the id is unknown.
func (c *calls) claim(id string) *call {
	c.mu.Lock()
	defer c.mu.Unlock()
	call := c.byID[id]
	if call == nil || call.answered {
		return nil
	}
	call.answered = true
	return call
}

// leave forgets answered calls and frees their ids. It comes before the answer
// is written, since a client that has read it may use the id again; gone comes
// after.
func (c *calls) leave(done ...*call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leaving++
	for _, call := range done {
		delete(c.byID, call.key)
		if call.cancel != nil {
			call.cancel()
		}
	}
}

// gone ends what leave began: the answer is with the writer.
func (c *calls) gone() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leaving--
	c.settleLocked()
}

// arm gives the call a context of its own, which has ended if the call was
// cancelled before it came.
func (c *calls) arm(ctx context.Context, call *call) {
	ctx, cancel := context.WithCancel(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	call.ctx, call.cancel = ctx, cancel
	if call.early {
		cancel()
	}
}

// endedBy tells whether err is why the call's context ended, a signal say, and
// so no fault of the method's.
func (c *call) endedBy(err error) bool {
	return c.ctx != nil && c.ctx.Err() != nil && errors.Is(err, context.Cause(c.ctx))
}

// cancel ends the context of the call that has this id. One that was answered
// already is left alone; one that never came is cancelled if it comes within
// earlyTime: of two writers in a client, the one that cancels may be the faster
// one.
func (c *calls) cancel(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if call := c.byID[id]; call != nil {
		call.early = true
		if call.cancel != nil {
			call.cancel()
		}
		return
	}
	if slices.Contains(c.recent[:min(c.came, recentIDs)], id) {
		return
	}
	if len(c.early) == earlyIDs {
		c.early = slices.Delete(c.early, 0, 1)
	}
	c.early = append(c.early, earlyCancel{id, time.Now()})
}

func (c *calls) cancelAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, call := range c.byID {
		if call.cancel != nil {
			call.cancel()
		}
	}
}

// full says whether as many calls run as may.
func (c *calls) full(limit int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.running >= limit
}

// run counts a call whose wait is about to run.
func (c *calls) run() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running++
}

// release is run's end.
func (c *calls) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running--
	c.settleLocked()
}

// close lets no more calls enter.
func (c *calls) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closing = true
}

// unanswered lists the requests in flight that nobody has claimed.
func (c *calls) unanswered() []*call {
	c.mu.Lock()
	defer c.mu.Unlock()
	var left []*call
	for _, call := range c.byID {
		if !call.answered {
			left = append(left, call)
		}
	}
	return left
}

func (c *calls) inFlight() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.byID)
}

// done returns a channel that is closed once no call is left. Only one
// goroutine may ask.
func (c *calls) done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	idle := make(chan struct{})
	c.idle = idle
	c.settleLocked()
	return idle
}

func (c *calls) settleLocked() {
	if c.idle != nil && len(c.byID) == 0 && c.running == 0 && c.leaving == 0 {
		close(c.idle)
		c.idle = nil
	}
}
