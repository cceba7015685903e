package upstream

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/prism-rpc/prism-rpc/provider"
)

var (
	errIdle  = errors.New("nothing came within the idle timeout")
	errTotal = errors.New("the call took longer than the total timeout")
)

// idle ends a call in which no byte moves. It runs only while one is waited
// for: a slow reader of the answer is not the server's fault.
type idle struct {
	limit time.Duration
	timer *time.Timer // nil without a limit

	mu      sync.Mutex
	stopped bool // for good
	waiting bool
}

func newIdle(limit time.Duration, expired func()) *idle {
	w := &idle{limit: limit, waiting: true}
	if limit > 0 {
		w.timer = time.AfterFunc(limit, expired)
	}
	return w
}

// rearm starts the time anew; wait says whether a byte is waited for now.
func (w *idle) rearm(wait bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting = wait
	w.resetLocked()
}

// moved starts the time anew, if it runs.
func (w *idle) moved() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.resetLocked()
}

func (w *idle) resetLocked() {
	switch {
	case w.timer == nil:
	case w.stopped || !w.waiting:
		w.timer.Stop()
	default:
		w.timer.Reset(w.limit)
	}
}

func (w *idle) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	if w.timer != nil {
		w.timer.Stop()
	}
}

// answer counts the bytes of a response: while one is read, a byte is waited for.
func (w *idle) answer(in io.Reader) io.Reader {
	return readFunc(func(p []byte) (int, error) {
		w.rearm(true)
		defer w.rearm(false)
		return in.Read(p)
	})
}

// sending counts the bytes of a request that is on its way.
func (w *idle) sending(in io.ReadCloser) io.ReadCloser {
	return struct {
		io.Reader
		io.Closer
	}{readFunc(func(p []byte) (int, error) {
		w.moved()
		return in.Read(p)
	}), in}
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

const (
	firstDelay = 500 * time.Millisecond
	maxWait    = 60 * time.Second // the longest that Retry-After is obeyed
)

// again tells whether the call that failed on this attempt is made once more.
func (c *Client) again(failed *provider.Error, attempt int) bool {
	if attempt > c.opts.MaxRetries || failed.RetryAfter > maxWait {
		return false
	}
	switch failed.Class {
	case provider.ClassRateLimit, provider.ClassOverloaded, provider.ClassNetwork:
		return true
	}
	return failed.Status >= 500
}

// delay is how long to wait after the failure of an attempt: as the server
// asked, else half a second, doubled each time, a quarter more or less.
func delay(failed *provider.Error, attempt int) time.Duration {
	if failed.RetryAfter > 0 {
		return failed.RetryAfter
	}
	d := firstDelay << (attempt - 1)
	return d*3/4 + rand.N(d/2)
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ended(ctx)
	}
}
