package upstream

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/prism-rpc/prism-rpc/internal/plain"
	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/provider/internal/sse"
)

const maxMessage = 1024

// message makes text of a server's fit to be shown.
func (c *Client) message(text string) string {
	if key := c.opts.Key.Reveal(); key != "" {
		text = strings.ReplaceAll(text, key, "[REDACTED]")
	}
	return plain.Text(strings.TrimSpace(text), maxMessage)
}

// ended is the error of a call whose ctx is done: a timer's, or the caller's,
// which the error then wraps.
func ended(ctx context.Context) *provider.Error {
	cause := context.Cause(ctx)
	e := &provider.Error{Class: provider.ClassInterrupted, Message: "the call was cancelled", Err: cause}
	switch {
	case errors.Is(cause, errIdle), errors.Is(cause, errTotal):
		e.Class, e.Message = provider.ClassTimeout, cause.Error()
	case errors.Is(cause, context.DeadlineExceeded):
		e.Class, e.Message = provider.ClassTimeout, "the call's time is over"
	}
	return e
}

// unreachable is the error of a call that brought no response.
func (c *Client) unreachable(ctx context.Context, err error) *provider.Error {
	if ctx.Err() != nil {
		return ended(ctx)
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err // without the address, which the user knows
	}
	return &provider.Error{Class: provider.ClassNetwork, Message: c.message(err.Error()), Err: err}
}

// errBroken marks an error of the answer's stream itself.
type errBroken struct{ cause error }

func (e *errBroken) Error() string { return e.cause.Error() }
func (e *errBroken) Unwrap() error { return e.cause }

// Broken is what a Reader returns when its events end before the answer does:
// err is what sse.Reader.Next returned.
func Broken(err error) error { return &errBroken{err} }

// broken gives an error that Broken made its class.
func broken(ctx context.Context, err error) error {
	var b *errBroken
	switch {
	case !errors.As(err, &b):
		return err
	case ctx.Err() != nil:
		return ended(ctx)
	case errors.Is(err, sse.ErrTooLong):
		return &provider.Error{Class: provider.ClassTooLarge, Message: "a part of the answer is larger than 8 MiB", Err: err}
	case errors.Is(err, io.EOF):
		return &provider.Error{Class: provider.ClassInterrupted, Message: "the answer ended before it was complete", Err: io.ErrUnexpectedEOF}
	}
	return &provider.Error{Class: provider.ClassInterrupted, Message: "the answer broke off", Err: b.cause}
}

// checkResponse refuses a response that is no stream of events.
func (c *Client) checkResponse(ctx context.Context, res *http.Response, in io.Reader) error {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if res.StatusCode == http.StatusOK && kind == "text/event-stream" {
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(in, MaxErrorBody))
	if err != nil && ctx.Err() != nil {
		return ended(ctx)
	}
	// A body that breaks off still says what it can.
	failed := c.StatusError(res.StatusCode, res.Header, body)
	if res.StatusCode == http.StatusOK {
		failed.Message = c.message("the server answered with content type " + quoted(kind) + " where a stream of events is expected: " + failed.Message)
	}
	return failed
}

func quoted(s string) string {
	if s == "" {
		return "none"
	}
	return `"` + plain.Text(s, 64) + `"`
}
