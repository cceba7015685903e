package hostile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/schema"
)

// Stream answers with the events, each as one write.
func Stream(events ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range events {
			fmt.Fprintf(w, "data: %s\n\n", e)
			w.(http.Flusher).Flush()
		}
	}
}

// Status answers with a status and a body.
func Status(code int, contentType, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		fmt.Fprint(w, body)
	}
}

// InTurn answers each request with the next handler.
func InTurn(handlers ...http.HandlerFunc) http.HandlerFunc {
	n := 0
	var mu sync.Mutex
	return func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		h := handlers[min(n, len(handlers)-1)]
		n++
		mu.Unlock()
		h(w, r)
	}
}

// Abort breaks the connection after another handler.
func Abort(before http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		before(w, r)
		panic(http.ErrAbortHandler)
	}
}

// Stall holds the connection after another handler.
func Stall(before http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		before(w, r)
		<-r.Context().Done()
	}
}

// Endless sends one event for ever.
func Endless(event string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for r.Context().Err() == nil {
			fmt.Fprintf(w, "data: %s\n\n", event)
		}
	}
}

// Drip writes a piece each second.
func Drip(piece string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for r.Context().Err() == nil {
			fmt.Fprint(w, piece)
			w.(http.Flusher).Flush()
			time.Sleep(time.Second) // of fake time
		}
	}
}

// Asking is a request of a system text and an input.
func Asking(input string) *provider.Request {
	return &provider.Request{Model: "m", Segments: []provider.Segment{
		{Kind: provider.SegmentSystem, Messages: []provider.Message{provider.Text(schema.RoleSystem, "Be brief.")}},
		{Kind: provider.SegmentInput, Messages: []provider.Message{provider.Text(schema.RoleUser, input)}},
	}}
}

// Said is what a call brought: the answer and the reasoning.
type Said struct{ Text, Thinking string }

// Ask makes a call and gathers what it brings.
func Ask(ctx context.Context, p provider.Provider, req *provider.Request) (Said, *provider.Result, error) {
	var answer, thinking strings.Builder
	res, err := p.Stream(ctx, req, func(e provider.Event) error {
		if e.Kind == provider.EventThinking {
			thinking.WriteString(e.Text)
		} else {
			answer.WriteString(e.Text)
		}
		return nil
	})
	return Said{answer.String(), thinking.String()}, res, err
}

// Failure is the *provider.Error in err, or one of no class.
func Failure(err error) provider.Error {
	var failed *provider.Error
	if errors.As(err, &failed) {
		return *failed
	}
	return provider.Error{}
}

// A Canned transport answers each request with the same stream.
type Canned string

// RoundTrip answers.
func (c Canned) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: http.StatusOK,
		Header:     http.Header{"Content-Type": {"text/event-stream"}},
		Body:       io.NopCloser(strings.NewReader(string(c))),
		Request:    r,
	}, nil
}

// endlessAfter says on and on what another handler said.
func endlessAfter(before http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			before(w, r)
		}
	}
}
