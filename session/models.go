package session

import (
	"context"
	"errors"
	"strings"

	"github.com/prism-rpc/prism-rpc/internal/plain"
	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
)

// maxModelName bounds what is shown of a model's name for people.
const maxModelName = 256

// BeginModels finds the provider whose models are asked for; empty is the
// default one. The error is a *schema.ParamsError, or why there is none. list
// asks it: its errors are a *ProviderError and ctx's cause. A provider that
// keeps no list has none to give.
func (m *Manager) BeginModels(name string) (list func(context.Context) (*schema.ListModelsResult, error), err error) {
	p := m.cfg.Provider
	switch {
	case name == "" && p == nil:
		return nil, m.cfg.NoProvider
	case name != "" && (p == nil || p.Name() != name):
		if p = m.cfg.Providers[name]; p == nil {
			return nil, schema.BadField("provider", "oneof", "must be one of: "+strings.Join(m.Providers(), ", "))
		}
	}
	return func(ctx context.Context) (*schema.ListModelsResult, error) {
		out := &schema.ListModelsResult{Models: []schema.ModelInfo{}}
		lister, ok := p.(provider.Lister)
		if !ok {
			return out, nil
		}
		models, err := lister.Models(ctx)
		if err != nil {
			return nil, m.listFailure(ctx, err)
		}
		for _, of := range models {
			if info, ok := modelInfo(of, m.Redactor()); ok {
				out.Models = append(out.Models, info)
			}
		}
		return out, nil
	}, nil
}

// modelInfo is a model as it is told. One whose id can't be sent back as it
// came is none.
func modelInfo(of provider.Model, red *redact.Redactor) (schema.ModelInfo, bool) {
	info := schema.ModelInfo{Model: of.ID, Name: plain.Text(red.Text(of.Name, nil), maxModelName), ContextTokens: of.ContextTokens}
	return info, !red.Contains(of.ID) && !strings.ContainsAny(of.ID, "\n\t") && plain.Text(of.ID, len(of.ID)) == of.ID
}

func (m *Manager) listFailure(ctx context.Context, err error) error {
	var failed *provider.Error
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case !errors.As(err, &failed):
		return err
	}
	told := *failed
	told.Message, told.Err = plain.Text(m.Redactor().Text(failed.Message, nil), maxFailure), nil
	return &ProviderError{Failure: &told}
}
