// Package upstream holds what every adapter keeps to when it calls a model's
// API over HTTP: where a key may travel, bounds on what comes back, timers,
// retries, and the class of each failure.
package upstream

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/provider/internal/sse"
	"github.com/prism-rpc/prism-rpc/redact"
)

// Bounds on what a server may send.
const (
	MaxHeader    = 64 << 10
	MaxErrorBody = provider.MaxMessage
	MaxFrame     = 8 << 20
	MaxAnswer    = 16 << 20
)

// pingAfter is how long a connection of HTTP/2 may be silent before it is
// asked whether it lives, and how long that may take.
const pingAfter = 15 * time.Second

// Defaults of Options.
const (
	DefaultIdle    = 60 * time.Second
	DefaultTotal   = 30 * time.Minute
	DefaultRetries = 3
)

// Options say how to reach an API.
type Options struct {
	BaseURL string        // http or https, without user info
	Key     redact.Secret // empty: requests carry no key

	IdleTimeout  time.Duration // without a byte either way; 0: DefaultIdle, negative: none
	TotalTimeout time.Duration // of a call with its retries; 0: DefaultTotal, negative: none
	MaxRetries   int           // after the first try; 0: DefaultRetries, negative: none

	RootCAs       *x509.CertPool    // nil: the system's; for the default Transport
	AllowInsecure bool              // lets the key travel over http to hosts other than this one
	UserAgent     string            // empty: prism-rpc
	Transport     http.RoundTripper // nil: TLS 1.2 or later, the environment's proxies
}

// Bearer is how most APIs take a key: Authorization: Bearer.
func Bearer(h http.Header, key string) {
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
}

// CacheKey is what names a session to a server that keeps the beginnings of
// requests: the same in all of its turns, and no name of anybody's.
func CacheKey(sessionID string) string {
	if sessionID == "" {
		return ""
	}
	sum := sha256.Sum256([]byte("prism-rpc session\x00" + sessionID))
	return hex.EncodeToString(sum[:16])
}

// A Client calls one API. It is safe for concurrent use.
type Client struct {
	opts      Options
	authorize func(h http.Header, key string)
	base      *url.URL
	http      http.Client
}

// New checks opts; authorize puts the key into a request's header, and whatever
// else each one has to carry. It is called without a key too, with "". An error
// is ErrBaseURL, ErrInsecure or ErrKey.
func New(opts Options, authorize func(h http.Header, key string)) (*Client, error) {
	base, err := parseBase(opts.BaseURL)
	if err != nil {
		return nil, err
	}
	if err := checkKey(base, opts); err != nil {
		return nil, err
	}
	opts.IdleTimeout = orDefault(opts.IdleTimeout, DefaultIdle)
	opts.TotalTimeout = orDefault(opts.TotalTimeout, DefaultTotal)
	opts.MaxRetries = orDefault(opts.MaxRetries, DefaultRetries)
	if opts.UserAgent == "" {
		opts.UserAgent = "prism-rpc"
	}
	if opts.Transport == nil {
		opts.Transport = NewTransport(opts.RootCAs)
	}
	return &Client{opts: opts, authorize: authorize, base: base, http: http.Client{
		Transport: opts.Transport,
		// Go would send body and key on to wherever a redirect points.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// orDefault reads a setting whose zero means def and whose negatives mean none.
func orDefault[T int | time.Duration](v, def T) T {
	if v == 0 {
		return def
	}
	return max(v, 0)
}

// NewTransport is what calls go through by default: TLS 1.2 or later, the
// environment's proxies, bounded headers.
func NewTransport(roots *x509.CertPool) *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy = http.ProxyFromEnvironment // which never names one for a loopback host
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}
	t.ForceAttemptHTTP2 = true
	t.HTTP2 = &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingAfter} // a dead connection would fail each call in its turn
	t.DisableCompression = true
	t.MaxResponseHeaderBytes = MaxHeader
	t.MaxIdleConnsPerHost = 64
	return t
}

// noModel is what a request without a model is answered with.
const noModel = "no model is set; use --model, the configuration's model, or the request's model"

// Ask is Stream for one request of a model: encode makes its body, read its
// result.
func (c *Client) Ask(ctx context.Context, path string, req *provider.Request, encode func(*provider.Request) (*Body, error),
	emit func(provider.Event) error, read func(*Events) (*provider.Result, bool, error),
) (*provider.Result, error) {
	if strings.TrimSpace(req.Model) == "" {
		return nil, &provider.Error{Class: provider.ClassBadRequest, Message: noModel}
	}
	body, err := encode(req)
	var refused *provider.Error
	switch {
	case errors.As(err, &refused):
		return nil, err
	case err != nil:
		return nil, &provider.Error{Class: provider.ClassBadRequest, Message: "the request can't be encoded", Err: err}
	}
	var result *provider.Result
	err = c.Stream(ctx, path, body, emit, func(events *Events) (started bool, err error) {
		result, started, err = read(events)
		return started, err
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// A Reader reads one answer from its events. It tells whether any of it was
// passed on, so that the call can't be made again. Its error is an
// *provider.Error; one that Broken made; or, to be returned as it is, one of
// whoever was being told.
type Reader func(events *Events) (started bool, err error)

// Stream posts body to path below the base URL and has read read the answer,
// again after each failure that is worth another try, which it tells emit.
func (c *Client) Stream(ctx context.Context, path string, body *Body, emit func(provider.Event) error, read Reader) error {
	if c.opts.TotalTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.opts.TotalTimeout, errTotal)
		defer cancel()
	}
	for attempt := 1; ; attempt++ {
		started, err := c.try(ctx, path, body, read)
		var failed *provider.Error
		if started || !errors.As(err, &failed) || !c.again(failed, attempt) {
			return err
		}
		retry := provider.Retry{Attempt: attempt, Delay: delay(failed, attempt), Class: failed.Class}
		if err := emit(provider.Event{Kind: provider.EventRetry, Retry: retry}); err != nil {
			return err
		}
		if err := pause(ctx, retry.Delay); err != nil {
			return err
		}
	}
}

// try makes one call.
func (c *Client) try(ctx context.Context, path string, body *Body, read Reader) (started bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	expired := func() { cancel(errIdle) }
	idle := newIdle(c.opts.IdleTimeout, expired)
	defer idle.stop()

	req, err := c.request(ctx, path, body, idle)
	if err != nil {
		return false, err
	}
	res, err := c.http.Do(req)
	if err != nil {
		return false, unreachable(ctx, err)
	}
	defer res.Body.Close()
	in := idle.answer(res.Body)
	if err := checkResponse(ctx, res, in); err != nil {
		return false, err
	}
	events := &Events{in: sse.NewReader(in, MaxFrame), end: expired}
	defer events.stop()
	if started, err = read(events); err != nil {
		return started, broken(ctx, err)
	}
	events.drain()
	return started, nil
}

func (c *Client) request(ctx context.Context, path string, body *Body, idle *idle) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base.JoinPath(path).String(), nil)
	if err != nil {
		return nil, &provider.Error{Class: provider.ClassBadRequest, Message: "the request could not be made", Err: err}
	}
	req.ContentLength = body.Len()
	req.Body = idle.sending(body.Open())
	req.GetBody = body.reopen
	req.Header.Set("Content-Type", "application/json")
	c.setHeader(req.Header, "text/event-stream")
	return req, nil
}

func (c *Client) setHeader(h http.Header, accept string) {
	h.Set("Accept", accept)
	h.Set("Accept-Encoding", "identity")
	h.Set("User-Agent", c.opts.UserAgent)
	c.authorize(h, c.opts.Key.Reveal())
}
