package main

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"time"

	"github.com/prism-rpc/prism-rpc/internal/config"
	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/provider/anthropic"
	"github.com/prism-rpc/prism-rpc/provider/mock"
	"github.com/prism-rpc/prism-rpc/provider/openai"
	"github.com/prism-rpc/prism-rpc/provider/openairesponses"
	"github.com/prism-rpc/prism-rpc/session"
)

// backEnds are the providers that cfg describes.
type backEnds struct {
	chosen  provider.Provider // nil with missing
	missing error             // why there is none; nil: nobody chose one
	byName  map[string]provider.Provider
}

// openProviders makes them. The error is a *config.Error. A missing key is
// none, nor is what is wrong with a provider that isn't the chosen one: those
// are what turns are answered with.
func openProviders(ctx context.Context, cfg *config.Config) (*backEnds, error) {
	b := &backEnds{byName: map[string]provider.Provider{}}
	if cfg.Provider == "mock" {
		p, err := openMock(cfg)
		if err != nil {
			return nil, err
		}
		b.byName["mock"] = p
	}
	if err := cfg.FetchKeys(ctx); err != nil {
		return nil, err
	}
	for _, e := range cfg.Endpoints {
		p, err := openEndpoint(cfg, e)
		if err := cfg.Unfit(e, err); err != nil {
			return nil, err
		}
		if e.Fault != nil {
			p = &unfit{e.Provider, provider.ClassBadRequest, "the " + e.Provider + " provider can't be asked: " + e.Fault.Error()}
		}
		b.byName[e.Provider] = p
	}
	b.chosen = b.byName[cfg.Provider]
	if keyless, ok := b.chosen.(*unfit); ok {
		b.chosen, b.missing = nil, keyless
		delete(b.byName, cfg.Provider)
	}
	return b, nil
}

// backEnds are the configuration's, with a warning of each that can't be asked.
func (p *process) backEnds(ctx context.Context) (*backEnds, error) {
	known := len(p.cfg.Warnings)
	back, err := openProviders(ctx, p.cfg)
	p.warnOf(p.cfg.Warnings[known:])
	return back, err
}

// Bytes of the files that say how providers are to be called.
const (
	maxScript = 64 << 20
	maxRoots  = 4 << 20
)

func openMock(cfg *config.Config) (provider.Provider, error) {
	options := []mock.Option{mock.WithIdleTimeout(time.Duration(cfg.ProviderTimeout)), mock.WithoutRequests()}
	if cfg.MockScript == "" {
		return mock.New(options...), nil
	}
	text, err := config.ReadFile(cfg.MockScript, maxScript)
	if err != nil {
		return nil, cfg.Bad("mockScript", "can't be read: "+config.Reason(err), "check the path that --mock-script gives")
	}
	script, err := mock.LoadScript(bytes.NewReader(text))
	var bad *mock.ScriptError
	switch {
	case errors.As(err, &bad):
		return nil, &config.Error{Path: cfg.MockScript, Line: bad.Line, Column: bad.Column, Key: bad.Key, Suggestion: bad.Suggestion, Message: bad.Problem}
	case err != nil:
		return nil, cfg.Bad("mockScript", "can't be read: "+config.Reason(err), "")
	}
	return mock.New(append(options, mock.WithScript(script))...), nil
}

func openEndpoint(cfg *config.Config, e *config.Endpoint) (provider.Provider, error) {
	switch {
	case e.Fault != nil:
		return nil, nil
	case e.KeyMissing:
		return &unfit{e.Provider, provider.ClassAuth, "the " + e.Provider + " provider has no key; set the environment variable " + e.KeyFrom}, nil
	}
	roots, err := readRoots(cfg, e)
	if err != nil {
		return nil, err
	}
	p, err := openAdapter(cfg, e, roots)
	switch {
	case errors.Is(err, openai.ErrInsecure):
		return nil, cfg.Bad(e.BaseURLFrom, err.Error(), "use https, or set providers."+e.Provider+".allowInsecure in the configuration file")
	case errors.Is(err, openai.ErrKey):
		return nil, cfg.Bad(e.KeyFrom, err.Error(), "it must be the key alone, in one line")
	case err != nil:
		return nil, cfg.Bad(e.BaseURLFrom, err.Error(), "")
	}
	return p, nil
}

// openAdapter makes a provider; the errors are the same for all.
func openAdapter(cfg *config.Config, e *config.Endpoint, roots *x509.CertPool) (provider.Provider, error) {
	idle := time.Duration(cfg.ProviderTimeout)
	agent := "prism-rpc/" + version()
	switch e.Provider {
	case "anthropic":
		of := cfg.Providers.Anthropic
		return anthropic.New(anthropic.Options{
			BaseURL: e.BaseURL, Key: e.Key, RootCAs: roots, IdleTimeout: idle, AllowInsecure: e.AllowInsecure, UserAgent: agent,
			Version: of.Version, Cache: anthropic.CacheTTL(of.CacheTTL), MaxTokens: of.MaxOutputTokens,
		})
	case "openai-responses":
		return openairesponses.New(openairesponses.Options{
			BaseURL: e.BaseURL, Key: e.Key, RootCAs: roots, IdleTimeout: idle, AllowInsecure: e.AllowInsecure, UserAgent: agent,
			CacheKey: cfg.Providers.OpenAIResponses.PromptCacheKey,
		})
	}
	return openai.New(openai.Options{
		BaseURL: e.BaseURL, Key: e.Key, RootCAs: roots, IdleTimeout: idle, AllowInsecure: e.AllowInsecure, UserAgent: agent,
		CacheKey: cfg.Providers.OpenAI.PromptCacheKey,
	})
}

// readRoots reads whom TLS is to trust; nil is the system's roots.
func readRoots(cfg *config.Config, e *config.Endpoint) (*x509.CertPool, error) {
	if e.CAFile == "" {
		return nil, nil
	}
	key := "providers." + e.Provider + ".caFile"
	pem, err := config.ReadFile(e.CAFile, maxRoots)
	if err != nil {
		return nil, cfg.Bad(key, "can't be read: "+config.Reason(err), "")
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, cfg.Bad(key, "holds no certificate", "it takes certificates in PEM form")
	}
	return roots, nil
}

// unfit stands for a provider that can't be asked, as one whose key is not set.
// As the chosen one it is why there is none.
type unfit struct {
	provider string
	class    provider.Class
	reason   string
}

func (u *unfit) Error() string { return u.reason }

func (u *unfit) Is(target error) bool { return target == session.ErrNoProvider }

// Name is that of the provider.
func (u *unfit) Name() string { return u.provider }

// Stream fails.
func (u *unfit) Stream(context.Context, *provider.Request, func(provider.Event) error) (*provider.Result, error) {
	return nil, &provider.Error{Class: u.class, Message: u.reason, Err: u}
}

// Models fails as well.
func (u *unfit) Models(context.Context) ([]provider.Model, error) {
	return nil, &provider.Error{Class: u.class, Message: u.reason, Err: u}
}
