// Package openai calls the Chat Completions API of OpenAI, or of any server
// that speaks it: Ollama, llama.cpp, vLLM, LM Studio, OpenRouter and others.
package openai

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

// DefaultBaseURL is the vendor's own address.
const DefaultBaseURL = "https://api.openai.com/v1"

// What New refuses.
var (
	ErrBaseURL  = upstream.ErrBaseURL  // not http or https, no host, or user info in it
	ErrInsecure = upstream.ErrInsecure // a key would travel over http to another machine
	ErrKey      = upstream.ErrKey      // a header can't carry it
)

// Options say which server to call and how. The zero value calls
// DefaultBaseURL without a key.
type Options struct {
	BaseURL string        // with its /v1; empty: DefaultBaseURL
	Key     redact.Secret // empty: requests carry no Authorization; a server may repeat it in an error's message

	// CacheKey says whether requests carry prompt_cache_key, by which the
	// vendor finds what it keeps of a session; nil: to OpenAI and Azure alone,
	// since other servers may refuse a field that they don't know.
	CacheKey *bool

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
	client   *upstream.Client
	vendor   bool // it is OpenAI's or Azure's
	cacheKey bool // requests carry one
}

// New checks opts; an error is ErrBaseURL, ErrInsecure or ErrKey.
func New(opts Options) (*Provider, error) {
	if opts.BaseURL == "" {
		opts.BaseURL = DefaultBaseURL
	}
	client, err := upstream.New(upstream.Options{
		BaseURL: opts.BaseURL, Key: opts.Key,
		IdleTimeout: opts.IdleTimeout, TotalTimeout: opts.TotalTimeout, MaxRetries: opts.MaxRetries,
		RootCAs: opts.RootCAs, AllowInsecure: opts.AllowInsecure, UserAgent: opts.UserAgent, Transport: opts.Transport,
	}, upstream.Bearer)
	if err != nil {
		return nil, err
	}
	vendor := ofVendor(opts.BaseURL)
	if opts.CacheKey != nil {
		return &Provider{client, vendor, *opts.CacheKey}, nil
	}
	return &Provider{client, vendor, vendor}, nil
}

// ofVendor tells whether a base URL is OpenAI's or Azure's.
func ofVendor(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	host := "." + strings.ToLower(u.Hostname())
	return strings.HasSuffix(host, ".openai.com") || strings.HasSuffix(host, ".openai.azure.com")
}

// Name is "openai".
func (p *Provider) Name() string { return "openai" }

// Stream makes one call.
func (p *Provider) Stream(ctx context.Context, req *provider.Request, emit func(provider.Event) error) (*provider.Result, error) {
	return p.client.Ask(ctx, "chat/completions", req, p.body, emit, func(events *upstream.Events) (*provider.Result, bool, error) {
		a := answer{Answer: upstream.Answer{Emit: emit}}
		result, err := a.read(events)
		return result, a.Started, err
	})
}

// Models lists what the server has.
func (p *Provider) Models(ctx context.Context) ([]provider.Model, error) {
	return p.client.Models(ctx, "models")
}
