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
	maxTokens string // the name of the field that bounds an answer
}

// New checks opts; an error is ErrBaseURL, ErrInsecure or ErrKey.
func New(opts Options) (*Provider, error) {
	if opts.BaseURL == "" {
		opts.BaseURL = DefaultBaseURL
	}
	client, err := upstream.New(upstream.Options{
		BaseURL:       opts.BaseURL,
		Key:           opts.Key,
		Authorize:     func(h http.Header) { h.Set("Authorization", "Bearer "+opts.Key.Reveal()) },
		Transport:     opts.Transport,
		RootCAs:       opts.RootCAs,
		IdleTimeout:   opts.IdleTimeout,
		TotalTimeout:  opts.TotalTimeout,
		MaxRetries:    opts.MaxRetries,
		AllowInsecure: opts.AllowInsecure,
		UserAgent:     opts.UserAgent,
	})
	if err != nil {
		return nil, err
	}
	return &Provider{client: client, maxTokens: maxTokensField(opts.BaseURL)}, nil
}

// maxTokensField: OpenAI's and Azure's newer models refuse max_tokens, while
// other servers know that name alone and would leave the answer unbounded.
func maxTokensField(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return "max_tokens"
	}
	host := "." + strings.ToLower(u.Hostname())
	if strings.HasSuffix(host, ".openai.com") || strings.HasSuffix(host, ".openai.azure.com") {
		return "max_completion_tokens"
	}
	return "max_tokens"
}

// Name is "openai".
func (p *Provider) Name() string { return "openai" }

// noModel is what a request without a model is answered with.
const noModel = "no model is set; use --model, the configuration's model, or the request's model"

// Stream makes one call.
func (p *Provider) Stream(ctx context.Context, req *provider.Request, emit func(provider.Event) error) (*provider.Result, error) {
	if strings.TrimSpace(req.Model) == "" {
		return nil, &provider.Error{Class: provider.ClassBadRequest, Message: noModel}
	}
	body, err := p.body(req)
	if err != nil {
		return nil, &provider.Error{Class: provider.ClassBadRequest, Message: "the request can't be encoded", Err: err}
	}
	var result *provider.Result
	err = p.client.Stream(ctx, "chat/completions", body, emit, func(events *upstream.Events) (bool, error) {
		a := answer{emit: emit}
		var err error
		result, err = a.read(events)
		return a.started, err
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}
