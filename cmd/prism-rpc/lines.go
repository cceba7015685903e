package main

import (
	"fmt"
	"io"
	"sync"
	"time"
)

const (
	maxWaiting = 1 << 20                // bytes of lines that wait to be written
	flushWait  = 200 * time.Millisecond // for them at the end
)

// A lineWriter writes lines in the background, so that whoever adds one never
// waits. A line for which there is no room, since nobody reads, is dropped and
// counted.
type lineWriter struct {
	out io.Writer

	mu      sync.Mutex
	waiting []byte
	writing int // bytes
	dropped int
	done    chan struct{} // closed when the writing goroutine ends; nil without one
}

// add never blocks.
func (w *lineWriter) add(line []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.waiting)+w.writing+len(line) > maxWaiting {
		w.dropped++
		return
	}
	w.waiting = append(w.waiting, line...)
	if w.done == nil {
		w.done = make(chan struct{})
		go w.writeAll() // flush waits for it
	}
}

// writeAll goes on until nothing waits.
func (w *lineWriter) writeAll() {
	defer recovered("writing lines")
	for {
		lines := w.take()
		if lines == nil {
			return
		}
		_, _ = w.out.Write(lines) // where a log can't be written there is nowhere to say it
	}
}

func (w *lineWriter) take() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	lines := w.waiting
	if w.dropped > 0 {
		lines = fmt.Appendf(lines, `{"level":"warn","msg":"log lines were dropped","count":%d}`+"\n", w.dropped)
	}
	w.waiting, w.writing, w.dropped = nil, len(lines), 0
	if lines == nil {
		close(w.done)
		w.done = nil
	}
	return lines
}

// flush gives the lines that wait a moment to get out.
func (w *lineWriter) flush() {
	w.mu.Lock()
	done := w.done
	w.mu.Unlock()
	if done == nil {
		return
	}
	select {
	case <-done:
	case <-time.After(flushWait):
	}
}
