package upstream

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/provider/internal/sse"
)

// Raw is text of a server's for an error's message: only made valid UTF-8. One
// that is too long is left out, since a cut could leave half of a secret.
func Raw(text string) string {
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	if len(text) > provider.MaxMessage {
		return ""
	}
	return text
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
func unreachable(ctx context.Context, err error) *provider.Error {
	if ctx.Err() != nil {
		return ended(ctx)
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err // without the address, which the user knows
	}
	return &provider.Error{Class: provider.ClassNetwork, Message: network(err), Err: err}
}

// network says what is wrong with a connection. Where Go quotes what the
// server sent, which changes it, its text is not used.
func network(err error) string {
	var op *net.OpError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	var cert *tls.CertificateVerificationError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection ended before an answer came"
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &record):
		return "the server does not speak TLS; the base URL should begin with http://"
	case errors.As(err, &op), errors.As(err, &alert), errors.As(err, &cert):
		return Raw(err.Error())
	}
	return "the connection broke, or what came can't be read as HTTP"
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
func checkResponse(ctx context.Context, res *http.Response, in io.Reader) error {
	encoding := contentEncoding(res.Header)
	contentType := res.Header.Get("Content-Type")
	kind, _, _ := mime.ParseMediaType(contentType)
	if res.StatusCode == http.StatusOK && kind == "text/event-stream" && encoding == "" {
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(in, MaxErrorBody+1))
	if err != nil && ctx.Err() != nil {
		return ended(ctx)
	}
	// A body that breaks off still says what it can.
	if encoding != "" {
		body = nil
	}
	failed := StatusError(res.StatusCode, res.Header, body)
	switch {
	case encoding != "":
		failed.Message += ": the server answered with content encoding " + Raw(encoding) + ", which was not asked for"
	case res.StatusCode == http.StatusOK:
		failed.Message = "the server answered with content type " + orNone(Raw(contentType)) + " where a stream of events is expected: " + failed.Message
	}
	return failed
}

// contentEncoding is how an answer is compressed; empty when it is not.
func contentEncoding(h http.Header) string {
	encoding := strings.Join(h.Values("Content-Encoding"), ", ")
	if strings.EqualFold(strings.TrimSpace(encoding), "identity") || strings.TrimSpace(encoding) == "" {
		return ""
	}
	return encoding
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
