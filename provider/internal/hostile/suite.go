// Package hostile is the tests that every adapter passes: a server that breaks
// off, stalls, lies or floods, whatever the API that it speaks. Nothing but
// tests may import it.
package hostile

import (
	"net/http"
	"testing"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/provider/internal/upstream"
)

// A Wire is how one API speaks.
type Wire struct {
	Open func(upstream.Options) (provider.Provider, error)
	Path string // of a request, below http://localhost/v1

	KeyHeader, KeyPrefix string // where a key stands

	Text     func(s string) string       // the event that adds s, which needs no escapes, to the answer
	Thinking func(s string) string       // the same for the reasoning
	End      []string                    // the events that end an answer well
	Error    func(kind, s string) string // the event of an error

	Failures map[string]Failed // what can go wrong in this API alone
}

// Failed is an answer that is none, its class, and the text that came before.
type Failed struct {
	Events  []string
	Class   provider.Class
	Status  int
	Partial string
}

// Run holds an adapter to all that they have in common.
func Run(t *testing.T, wire Wire) {
	for claim, test := range map[string]func(*testing.T){
		"U7 failures have their class":                     wire.failures,
		"U7 failures of this API":                          wire.ownFailures,
		"U7 real connections fail":                         wire.realConnections,
		"U7 a name that is nobody's":                       wire.nobody,
		"U7 a server that nobody vouches for":              wire.untrusted,
		"messages are raw":                                 wire.rawMessages,
		"headers in messages are raw":                      wire.rawHeaders,
		"a compressed answer is named":                     wire.compressed,
		"a redirect is not followed":                       wire.redirect,
		"a slow listener is no idle server":                wire.slowListener,
		"a timeout is on time":                             wire.timeouts,
		"U1 a cancel ends a call at once":                  wire.cancels,
		"retries":                                          wire.retries,
		"a long Retry-After is told":                       wire.longWait,
		"a retry is told before its wait":                  wire.toldRetries,
		"a listener can end a call at a retry":             wire.endedRetry,
		"an error of the listener is returned as it is":    wire.listenersError,
		"a request without a model is not made":            wire.noModel,
		"where a key may travel":                           wire.keys,
		"headers of a request":                             wire.headers,
		"a proxy is asked for a name that it alone knows":  wire.proxied,
		"T5 bytes one at a time":                           wire.bytesOneByOne,
		"an event of 3 MB, comments, CRLF":                 wire.odd,
		"a call leaves nothing behind":                     wire.leaks,
		"no goroutine is left":                             wire.goroutines,
		"calls share a connection of HTTP/2":               wire.http2,
		"a connection is used again":                       wire.reuse,
		"an answer that has ended waits for nothing (U11)": wire.ended,
		"models are listed":                                wire.models,
	} {
		t.Run(claim, test)
	}
}

func (wire *Wire) serve(t *testing.T, opts upstream.Options, h http.HandlerFunc) provider.Provider {
	t.Helper()
	p, _ := Serve(t, wire.Open, opts, h)
	return p
}

// stream answers with texts, and then ends well.
func (wire *Wire) whole(texts ...string) http.HandlerFunc {
	var events []string
	for _, s := range texts {
		events = append(events, wire.Text(s))
	}
	return Stream(append(events, wire.End...)...)
}

// partial answers with a text, other events, and no end.
func (wire *Wire) partial(text string, events ...string) http.HandlerFunc {
	return Stream(append([]string{wire.Text(text)}, events...)...)
}
