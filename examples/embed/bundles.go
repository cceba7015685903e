package main

import (
	"context"
	"path/filepath"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/inject/bundle"
	"github.com/prism-rpc/prism-rpc/schema"
)

// bundles registers what the workspace keeps in .agents/instructions, and
// tells what became of each. Nothing of it is selected by that.
func bundles(ctx context.Context, registry *inject.Registry) ([]string, error) {
	workspace, err := filepath.Abs("workspace")
	if err != nil {
		return nil, err
	}
	found := bundle.Discover(ctx, bundle.Options{Roots: []string{workspace}})
	err = bundle.Register(ctx, registry, found, bundle.LoadOptions{ModuleLoader: builtIns{}, Permission: onlyDocs})
	if err != nil {
		return nil, err
	}
	var listed []string
	for _, info := range registry.List(nil) {
		if info.Origin == schema.OriginBundle {
			listed = append(listed, info.Name+" "+string(info.State))
		}
	}
	return listed, nil
}

// onlyDocs is asked before a text outside of its bundle is read, when a turn
// first uses it.
func onlyDocs(_ context.Context, r bundle.ReadRequest) (bool, error) {
	return filepath.Base(filepath.Dir(r.Path)) == "docs", nil
}

// builtIns runs no code of a bundle: it has an implementation of its own for
// the modules that it knows by name.
type builtIns struct{}

func (builtIns) Load(_ context.Context, m bundle.Module) (inject.Injector, error) {
	if m.File != "clock.so" {
		return nil, bundle.ErrNoLoader
	}
	return inject.Func(m.Name, func(context.Context, inject.Context) (inject.Contribution, error) {
		return inject.Contribution{Instructions: "It is noon."}, nil
	}), nil
}
