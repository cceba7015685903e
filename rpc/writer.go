package rpc

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/prism-rpc/prism-rpc/internal/panics"
)

const (
	chunkSize  = 64 << 10 // bytes of one write, unless one message is larger
	deltaSize  = 64 << 10 // bytes up to which queued deltas are joined
	corkedSize = 32 << 10 // bytes that may wait for the reader to run dry
	spareCount = 16       // buffers kept for reuse
)

var (
	errEnded  = errors.New("the connection has ended")
	errUnread = errors.New("the peer does not read")
)

// deltaEnd closes the text, the params and the message of a delta event.
const deltaEnd = `"}}`

// writer is the one way to the output. Senders never wait: what the peer does
// not take at once is queued, and one goroutine writes it.
type writer struct {
	dst       io.Writer
	try       func([]byte) (int, error) // writes what fits without waiting; nil where nothing can tell
	maxUnread int
	trace     *tracer       // of what is taken from the queue
	dead      chan struct{} // closed under mu when a write has failed
	corked    atomic.Bool   // set by the reading goroutine while it has input at hand: small replies wait

	mu      sync.Mutex
	moved   sync.Cond // queue, unread, closed or err has changed
	chosen  Framing   // "" until the input has shown it
	queue   []segment
	head    int    // queue[:head] is taken
	taken   uint64 // segments taken so far
	barrier uint64 // raised by what no later delta may overtake
	queued  int    // bytes in the queue
	unread  int    // bytes of replies that are queued or being written
	chunk   []byte // taken from the queue, not written yet
	inHand  []byte // the large buffer that chunk lies in
	replies int    // bytes of replies in chunk
	out     []byte // memory of small chunks
	spare   [][]byte
	large   []byte // a buffer for reuse that is larger than a chunk
	busy    bool   // the goroutine is in a write
	waiters int    // callers that wait for what is written
	closed  bool
	err     error
}

// A segment is a run of whole messages, or one delta event that may still
// grow and stands without its framing and deltaEnd.
type segment struct {
	b       []byte
	delta   bool
	replies int // bytes that count as unread
}

// A deltaRef names a delta event in the queue.
type deltaRef struct{ at, barrier uint64 }

func newWriter(dst io.Writer, maxUnread int) *writer {
	w := &writer{dst: dst, try: tryWriter(dst), maxUnread: maxUnread, dead: make(chan struct{})}
	w.moved.L = &w.mu
	return w
}

func (w *writer) setFraming(f Framing) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.chosen = f
}

// framing is the one in use, or else while none is.
func (w *writer) framing(other Framing) Framing {
	w.mu.Lock()
	defer w.mu.Unlock()
	return cmp.Or(w.chosen, other)
}

// reply sends one message that must arrive, given in parts. Later deltas don't
// overtake it. The error is that of a failed write, now or before.
func (w *writer) reply(parts ...[]byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return errEnded
	}
	w.barrier++
	n := w.appendLocked(parts)
	w.queue[len(w.queue)-1].replies += n
	w.unread += n
	if w.corked.Load() && w.queued < corkedSize {
		return w.err
	}
	return w.pushLocked()
}

// event sends one message that does not count as unread.
func (w *writer) event(parts ...[]byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	w.appendLocked(parts)
	_ = w.pushLocked() // a dead connection shows in w.dead
}

// delta sends an event that begins with head, ends in the JSON string content
// text, and may grow until it is written.
func (w *writer) delta(head []byte, text string) deltaRef {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return deltaRef{}
	}
	b := appendText(append(w.bufferLocked(0), head...), text)
	w.queue = append(w.queue, segment{b: b, delta: true})
	w.queued += len(b)
	ref := deltaRef{w.taken + uint64(len(w.queue)-w.head-1), w.barrier}
	_ = w.pushLocked() // a dead connection shows in w.dead
	return ref
}

// grow adds text to a delta event, unless that is written already, would be
// larger than max, or something was sent that the text must not overtake.
func (w *writer) grow(ref deltaRef, text string, max int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil || w.closed || ref.at < w.taken || ref.barrier != w.barrier {
		return false
	}
	seg := &w.queue[w.head+int(ref.at-w.taken)]
	before := len(seg.b)
	if before+len(text) > max {
		return false
	}
	seg.b = appendText(seg.b, text)
	if len(seg.b) > max { // by its escapes
		seg.b = seg.b[:before]
		return false
	}
	w.queued += len(seg.b) - before
	return true
}

// appendLocked queues one framed message and returns its bytes.
func (w *writer) appendLocked(parts [][]byte) int {
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	last := len(w.queue) - 1
	if last < w.head || w.queue[last].delta || len(w.queue[last].b)+size > chunkSize {
		w.queue = append(w.queue, segment{b: w.bufferLocked(size)})
		last++
	}
	seg := &w.queue[last]
	before := len(seg.b)
	seg.b = w.frameLocked(seg.b, size, parts...)
	w.queued += len(seg.b) - before
	return len(seg.b) - before
}

func (w *writer) frameLocked(dst []byte, size int, parts ...[]byte) []byte {
	if w.chosen == FramingHeaders {
		dst = append(dst, "Content-Length: "...)
		dst = strconv.AppendInt(dst, int64(size), 10)
		dst = append(dst, "\r\n\r\n"...)
	}
	for _, part := range parts {
		dst = append(dst, part...)
	}
	if w.chosen != FramingHeaders {
		dst = append(dst, '\n')
	}
	return dst
}

func (w *writer) bufferLocked(size int) []byte {
	if size >= chunkSize {
		b := w.large
		w.large = nil
		return b[:0]
	}
	if n := len(w.spare); n > 0 {
		b := w.spare[n-1]
		w.spare = w.spare[:n-1]
		return b[:0]
	}
	return nil
}

// pushLocked sends the queue off: at once if the peer takes it, else by the
// goroutine.
func (w *writer) pushLocked() error {
	switch {
	case w.err != nil:
		w.dropLocked()
	case w.busy, w.chunk == nil && w.head == len(w.queue):
	case w.try != nil && w.chunk == nil:
		w.tryLocked()
	default:
		w.moved.Broadcast()
	}
	return w.err
}

// tryLocked writes while the peer takes it without waiting.
func (w *writer) tryLocked() {
	for w.err == nil && w.takeLocked() {
		n, err := w.try(w.chunk)
		if err == nil && n < len(w.chunk) {
			w.chunk = w.chunk[n:]
			w.moved.Broadcast()
			return
		}
		w.wroteLocked(err)
	}
}

// takeLocked moves the front of the queue to chunk, if that is empty.
func (w *writer) takeLocked() bool {
	if w.chunk != nil {
		return true
	}
	out := w.out[:0]
	for w.head < len(w.queue) && len(out) < chunkSize {
		seg := w.queue[w.head]
		whole := !seg.delta && len(seg.b) >= chunkSize
		if whole && len(out) > 0 {
			break
		}
		w.popLocked()
		w.replies += seg.replies
		if whole { // large: not copied
			w.chunk = seg.b
			w.trace.outgoing(w.chunk, w.chosen)
			if cap(seg.b) <= keptBuffer {
				w.inHand = seg.b
			}
			return true
		}
		out = w.sealLocked(out, seg)
		w.recycleLocked(seg.b)
	}
	w.out = out
	if len(out) == 0 {
		return false
	}
	w.chunk = out
	w.trace.outgoing(w.chunk, w.chosen)
	return true
}

func (w *writer) sealLocked(out []byte, seg segment) []byte {
	if seg.delta {
		return w.frameLocked(out, len(seg.b)+len(deltaEnd), seg.b, []byte(deltaEnd))
	}
	return append(out, seg.b...)
}

// popLocked forgets the queue's first segment.
func (w *writer) popLocked() {
	w.queued -= len(w.queue[w.head].b)
	w.queue[w.head] = segment{}
	w.head++
	w.taken++
	if w.head > len(w.queue)/2 {
		n := copy(w.queue, w.queue[w.head:])
		clear(w.queue[n:])
		w.queue, w.head = w.queue[:n], 0
	}
}

func (w *writer) recycleLocked(b []byte) {
	if len(w.spare) < spareCount && cap(b) <= 2*chunkSize {
		w.spare = append(w.spare, b)
	}
}

// wroteLocked takes note of the end of a write.
func (w *writer) wroteLocked(err error) {
	w.unread -= w.replies
	w.chunk, w.replies = nil, 0
	if w.inHand != nil {
		w.large, w.inHand = w.inHand, nil
	}
	if err != nil && w.err == nil {
		w.err = err
		close(w.dead)
		w.dropLocked()
		w.moved.Broadcast()
	}
	if w.waiters > 0 { // else it would wake the goroutine after each reply
		w.moved.Broadcast()
	}
}

// waitLocked waits for something to be written.
func (w *writer) waitLocked() {
	w.waiters++
	w.moved.Wait()
	w.waiters--
}

func (w *writer) dropLocked() {
	w.taken += uint64(len(w.queue) - w.head)
	w.queue, w.head, w.queued, w.unread = nil, 0, 0, 0
}

// loop writes until the writer is closed and its queue empty, or a write
// fails. close waits for it.
func (w *writer) loop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.err == nil {
		if !w.takeLocked() {
			if w.closed {
				return
			}
			w.moved.Wait()
			continue
		}
		w.busy = true
		chunk := w.chunk
		w.mu.Unlock()
		err := w.write(chunk)
		w.mu.Lock()
		w.busy = false
		w.wroteLocked(err)
	}
}

// write holds a panic of a host's writer to the connection.
func (w *writer) write(chunk []byte) (err error) {
	defer panics.Recover("writing the output", func(text string) { err = errors.New(text) })
	_, err = w.dst.Write(chunk)
	return err
}

// uncork sends what waited for the reading goroutine to need more input.
func (w *writer) uncork() {
	if !w.corked.Swap(false) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = w.pushLocked() // a dead connection shows in w.dead
}

// awaitRoom blocks while too many bytes of replies are unread.
func (w *writer) awaitRoom() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.unread <= w.maxUnread {
		return
	}
	w.corked.Store(false)
	_ = w.pushLocked() // a dead connection shows in w.dead
	for w.unread > w.maxUnread && w.err == nil && !w.closed {
		w.waitLocked()
	}
}

// lift lets go on who waits in awaitRoom, from now on: what is left is to be
// answered.
func (w *writer) lift() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.maxUnread = math.MaxInt
	w.moved.Broadcast()
}

// failure is the error of the first write that failed.
func (w *writer) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// close waits for all that was sent to be written, but not beyond the timeout.
// It reports whether that was done.
func (w *writer) close(wait context.Context) bool {
	late := false
	defer context.AfterFunc(wait, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		late = true
		w.moved.Broadcast()
	})()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.moved.Broadcast()
	for !late && w.err == nil && (w.chunk != nil || w.head < len(w.queue)) {
		w.waitLocked()
	}
	return !late && w.err == nil
}
