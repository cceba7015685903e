// Package anthropic calls the Messages API of Anthropic, or of any server that
// speaks it.
package anthropic

import (
	"context"
	"crypto/x509"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/provider/internal/upstream"
	"github.com/prism-rpc/prism-rpc/redact"
)

// Defaults of Options.
const (
	DefaultBaseURL = "https://api.anthropic.com" // the vendor's own address
	DefaultVersion = "2023-06-01"
)

// What New refuses.
var (
	ErrBaseURL  = upstream.ErrBaseURL  // not http or https, no host, or user info in it
	ErrInsecure = upstream.ErrInsecure // a key would travel over http to another machine
	ErrKey      = upstream.ErrKey      // a header can't carry it
)

// CacheTTL is how long the vendor keeps the marked beginning of a request.
type CacheTTL string

// What a CacheTTL can be. The longer one costs more to write.
const (
	CacheFiveMinutes CacheTTL = "5m"
	CacheOneHour     CacheTTL = "1h"
	CacheOff         CacheTTL = "off" // no marks in requests
)

// Options say which server to call and how. The zero value calls
// DefaultBaseURL without a key.
type Options struct {
	BaseURL string        // without v1, or with it; empty: DefaultBaseURL
	Key     redact.Secret // empty: requests carry no X-Api-Key; a server may repeat it in an error's message
	Version string        // of the API; empty: DefaultVersion

	MaxTokens int      // of an answer to a request that sets no bound; 0: see maxTokens
	Cache     CacheTTL // empty: CacheFiveMinutes

	IdleTimeout  time.Duration // without a byte from the server; 0: 60 s, negative: none
	TotalTimeout time.Duration // of a call with its retries; 0: 30 min, negative: none
	MaxRetries   int           // after the first try; 0: 3, negative: none

	RootCAs       *x509.CertPool    // whom TLS trusts; nil: the system's roots
	AllowInsecure bool              // lets Key travel over http to another machine
	UserAgent     string            // empty: prism-rpc
	Transport     http.RoundTripper // nil: one with the rules above, and the environment's proxies
}

// A Provider calls one server. It is safe for concurrent use.
type Provider struct {
	client    *upstream.Client
	version   string // of the path: "v1/", or nothing
	maxTokens int
	mark      string // what a cached beginning ends with; empty: nothing
}

// New checks opts; an error is ErrBaseURL, ErrInsecure or ErrKey.
func New(opts Options) (*Provider, error) {
	if opts.BaseURL == "" {
		opts.BaseURL = DefaultBaseURL
	}
	if opts.Version == "" {
		opts.Version = DefaultVersion
	}
	client, err := upstream.New(upstream.Options{
		BaseURL: opts.BaseURL, Key: opts.Key,
		IdleTimeout: opts.IdleTimeout, TotalTimeout: opts.TotalTimeout, MaxRetries: opts.MaxRetries,
		RootCAs: opts.RootCAs, AllowInsecure: opts.AllowInsecure, UserAgent: opts.UserAgent, Transport: opts.Transport,
	}, func(h http.Header, key string) {
		h.Set("Anthropic-Version", opts.Version)
		if key != "" {
			h.Set("X-Api-Key", key)
		}
	})
	if err != nil {
		return nil, err
	}
	return &Provider{client: client, version: versionPath(opts.BaseURL), maxTokens: opts.MaxTokens, mark: cacheMark(opts.Cache)}, nil
}

// versionPath is what stands before messages and models. The vendor's clients
// take a base URL without v1, those of other APIs one with it: both are written.
func versionPath(base string) string {
	if u, err := url.Parse(base); err == nil && strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/v1") {
		return ""
	}
	return "v1/"
}

// Name is "anthropic".
func (p *Provider) Name() string { return "anthropic" }

// Stream makes one call.
func (p *Provider) Stream(ctx context.Context, req *provider.Request, emit func(provider.Event) error) (*provider.Result, error) {
	return p.client.Ask(ctx, p.version+"messages", req, p.body, emit, func(events *upstream.Events) (*provider.Result, bool, error) {
		a := answer{Answer: upstream.Answer{Emit: emit}}
		result, err := a.read(events)
		return result, a.Started, err
	})
}

// Models lists what the server has.
func (p *Provider) Models(ctx context.Context) ([]provider.Model, error) {
	return p.client.Models(ctx, p.version+"models?limit=1000")
}
