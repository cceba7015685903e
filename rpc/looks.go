package rpc

import (
	"sync"

	"github.com/sourcegraph/jsonrpc2"
)

// Reading stops while too many bytes of replies are unread (protocol §9.4).
// That bounds what the calls answer that are done when they are read. Those
// that take time are read long before they are answered, by the hundred: their
// answers are made and queued one after the other while the client doesn't
// read, and what only looks something up isn't begun before.

// mostLooks is how many lookups of one method are made at once: each may hold a
// whole request, some of them several times over.
const mostLooks = 4

// looks holds the lookups of each method to mostLooks.
type looks struct {
	mu       sync.Mutex
	byMethod map[string]chan struct{}
}

// take waits for a place, but not beyond the call's cancel; free gives it back.
func (l *looks) take(call *call) (free func()) {
	l.mu.Lock()
	places := l.byMethod[call.method]
	if places == nil {
		places = make(chan struct{}, mostLooks)
		l.byMethod[call.method] = places
	}
	l.mu.Unlock()
	select {
	case places <- struct{}{}:
		return func() { <-places }
	case <-call.ctx.Done():
		return func() {}
	}
}

// finishInRoom is finish once there is room for a further reply.
func (c *conn) finishInRoom(rpc *jsonrpc2.Conn, call *call, begun reply, err error) {
	c.finishing <- struct{}{}
	defer func() { <-c.finishing }()
	c.w.awaitRoom()
	c.finish(rpc, call, begun, err)
}
