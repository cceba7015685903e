package main

import (
	"context"
	"errors"
	"slices"

	"go.uber.org/zap"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/inject/bundle"
	"github.com/prism-rpc/prism-rpc/internal/config"
	"github.com/prism-rpc/prism-rpc/rpc"
	"github.com/prism-rpc/prism-rpc/schema"
)

// discover registers the bundles that the workspaces hold, where the
// configuration asks for that. Else it touches no file.
func (p *process) discover(ctx context.Context, registry *inject.Registry) error {
	cfg := p.cfg
	if !cfg.Discover {
		return nil
	}
	kinds := cfg.KindsToFind()
	for _, kind := range kinds {
		if kind != config.KindInstructions {
			p.logger.Info("this kind of bundle is not looked for", zap.String("kind", kind))
		}
	}
	if !slices.Contains(kinds, config.KindInstructions) {
		return nil
	}
	roots := []string(cfg.Workspace)
	if len(roots) == 0 {
		roots = []string{"."}
	}
	p.bundles = &bundle.Source{
		Registry: registry,
		Options:  bundle.Options{Roots: roots, TrustRoots: cfg.TrustRoot},
		Load: bundle.LoadOptions{
			ModuleLoader: p.moduleLoader(), ResourceTrust: cfg.TrustRoot,
			Permission: p.client.Permit, PermissionReady: p.client.PermitReady,
		},
	}
	_, err := p.scan(ctx)
	return err
}

// scan looks for bundles and tells of those that are broken.
func (p *process) scan(ctx context.Context) (changed []string, err error) {
	changes, err := p.bundles.Scan(ctx)
	p.tellBroken(changes.Problems)
	return changes.Names, err
}

// rescan is scan for clients; nil where there is nothing to look for.
func (p *process) rescan() func(context.Context) ([]string, error) {
	if p.bundles == nil {
		return nil
	}
	return p.scan
}

func (p *process) tellBroken(problems []bundle.Problem) {
	for _, b := range problems {
		data := map[string]any{"path": b.Path, "reason": b.Reason}
		if b.Name != "" {
			data["name"] = b.Name
		}
		p.warn(schema.Notice{Kind: schema.NoticeBundleError, Message: "a bundle can't be used: " + b.Reason, Data: data})
	}
}

// watchBundles begins to watch, in the background. Nobody waits for it: it ends
// with the process.
func (p *process) watchBundles(ctx context.Context) {
	if p.bundles == nil || !p.cfg.Watch {
		return
	}
	go func() { // ends with ctx, or with the process
		defer recovered("watching bundles")
		err := p.bundles.Watch(ctx, func(c bundle.Changes, err error) {
			p.tellBroken(c.Problems)
			if len(c.Names) > 0 {
				p.notifier.Notify(rpc.InjectorsChanged(c.Names))
			}
			if err != nil && !errors.Is(err, context.Canceled) {
				p.cannotWatch(err)
			}
		})
		if err != nil {
			p.cannotWatch(err)
		}
	}()
}

func (p *process) cannotWatch(err error) {
	p.warn(schema.Notice{
		Kind: schema.NoticeConfigWarning, Message: "a change of bundles may stay unseen: " + err.Error() + "; reloadInjectors looks for it",
		Data: map[string]any{"key": "watch"},
	})
}
