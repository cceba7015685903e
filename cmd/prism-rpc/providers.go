package main

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"time"

	"github.com/prism-rpc/prism-rpc/internal/config"
	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/provider/mock"
	"github.com/prism-rpc/prism-rpc/provider/openai"
	"github.com/prism-rpc/prism-rpc/session"
)

// backEnds are the providers that cfg describes.
type backEnds struct {
	chosen  provider.Provider // nil with missing
	missing error             // why there is none; nil: nobody chose one
	byName  map[string]provider.Provider
}

// openProviders makes them. The error is a *config.Error; a missing key is
// none, it is what turns are answered with.
func openProviders(cfg *config.Config) (*backEnds, error) {
	b := &backEnds{byName: map[string]provider.Provider{}}
	if cfg.Provider == "mock" {
		p, err := openMock(cfg)
		if err != nil {
			return nil, err
		}
		b.byName["mock"] = p
	}
	if cfg.UsesOpenAI() {
		p, err := openOpenAI(cfg)
		if err != nil {
			return nil, err
		}
		b.byName["openai"] = p
	}
	b.chosen = b.byName[cfg.Provider]
	if keyless, ok := b.chosen.(*keyless); ok {
		b.chosen, b.missing = nil, keyless
		delete(b.byName, "openai")
	}
	return b, nil
}

// Bytes of the files that say how providers are to be called.
const (
	maxScript = 64 << 20
	maxRoots  = 4 << 20
)

func openMock(cfg *config.Config) (provider.Provider, error) {
	idle := mock.WithIdleTimeout(time.Duration(cfg.ProviderTimeout))
	if cfg.MockScript == "" {
		return mock.New(idle), nil
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
	return mock.New(idle, mock.WithScript(script)), nil
}

func openOpenAI(cfg *config.Config) (provider.Provider, error) {
	if cfg.OpenAI.KeyMissing {
		return &keyless{cfg.OpenAI.KeyEnv}, nil
	}
	roots, err := readRoots(cfg)
	if err != nil {
		return nil, err
	}
	p, err := openai.New(openai.Options{
		RootCAs:       roots,
		BaseURL:       cfg.OpenAI.BaseURL,
		Key:           cfg.OpenAI.Key,
		IdleTimeout:   time.Duration(cfg.ProviderTimeout),
		AllowInsecure: cfg.OpenAI.AllowInsecure,
	})
	switch {
	case errors.Is(err, openai.ErrInsecure):
		return nil, cfg.Bad(cfg.OpenAI.BaseURLFrom, err.Error(), "use https, or set providers.openai.allowInsecure in the configuration file")
	case errors.Is(err, openai.ErrKey):
		return nil, cfg.Bad(cfg.OpenAI.KeyEnv, err.Error(), "")
	case err != nil:
		return nil, cfg.Bad(cfg.OpenAI.BaseURLFrom, err.Error(), "")
	}
	return p, nil
}

// readRoots reads whom TLS is to trust; nil is the system's roots.
func readRoots(cfg *config.Config) (*x509.CertPool, error) {
	const key = "providers.openai.caFile"
	if cfg.OpenAI.CAFile == "" {
		return nil, nil
	}
	pem, err := config.ReadFile(cfg.OpenAI.CAFile, maxRoots)
	if err != nil {
		return nil, cfg.Bad(key, "can't be read: "+config.Reason(err), "")
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, cfg.Bad(key, "holds no certificate", "it takes certificates in PEM form")
	}
	return roots, nil
}

// keyless stands for a provider whose key is not set. As the chosen one it is
// why there is none.
type keyless struct{ variable string }

func (k *keyless) Error() string {
	return "the openai provider has no key; set the environment variable " + k.variable
}

func (k *keyless) Is(target error) bool { return target == session.ErrNoProvider }

// Name is "openai".
func (k *keyless) Name() string { return "openai" }

// Stream fails.
func (k *keyless) Stream(context.Context, *provider.Request, func(provider.Event) error) (*provider.Result, error) {
	return nil, &provider.Error{Class: provider.ClassAuth, Message: k.Error(), Err: k}
}
