package main

import (
	"context"
	"errors"
	"os"
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

func openMock(cfg *config.Config) (provider.Provider, error) {
	idle := mock.WithIdleTimeout(time.Duration(cfg.ProviderTimeout))
	if cfg.MockScript == "" {
		return mock.New(idle), nil
	}
	f, err := os.Open(cfg.MockScript)
	if err != nil {
		return nil, cfg.Bad("mockScript", "can't be read: "+config.Reason(err), "check the path that --mock-script gives")
	}
	defer f.Close()
	script, err := mock.LoadScript(f)
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
	p, err := openai.New(openai.Options{
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
