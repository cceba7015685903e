package upstream

import (
	"time"

	"github.com/prism-rpc/prism-rpc/provider/internal/sse"
)

const (
	// afterwards is how long what may follow a complete answer is waited for.
	afterwards = 2 * time.Second
	// lastWords is how long the end of the response is waited for, after the
	// last event that matters: a response read to its end leaves a connection
	// that the next call can use.
	lastWords     = 100 * time.Millisecond
	maxLastEvents = 8
)

// Events are the events of one response.
type Events struct {
	in     *sse.Reader
	end    func() // ends the response
	ending *time.Timer
}

// Next is the next event; Broken gives its error a class.
func (e *Events) Next() (sse.Event, error) { return e.in.Next() }

// Complete says that the answer is whole: what else the server has to say of
// it, such as the usage, has to come soon.
func (e *Events) Complete() {
	if e.ending == nil {
		e.endAfter(afterwards)
	}
}

func (e *Events) endAfter(d time.Duration) {
	e.stop()
	e.ending = time.AfterFunc(d, e.end)
}

func (e *Events) stop() {
	if e.ending != nil {
		e.ending.Stop()
	}
}

// drain reads the response to its end, if that is near.
func (e *Events) drain() {
	e.endAfter(lastWords)
	for range maxLastEvents {
		if _, err := e.in.Next(); err != nil {
			return // the end, or a connection that won't be used again
		}
	}
}
