package main

import (
	"context"

	"github.com/prism-rpc/prism-rpc/inject/ambient"
	"github.com/prism-rpc/prism-rpc/internal/config"
	"github.com/prism-rpc/prism-rpc/session"
)

// ambientOf is what the configuration says of ambient blocks.
func ambientOf(cfg *config.Config) session.Ambient {
	armed := ambient.Armed{
		Modules: cfg.Modules.Enabled, Todos: cfg.Modules.Todos, PlanMode: cfg.Modules.PlanMode, Background: cfg.Modules.Background,
		ProtectedPaths: cfg.ProtectedPaths,
	}
	return session.Ambient{
		On: cfg.ContextInjections, Blocks: cfg.ContextBlocks,
		Armed: func(context.Context, string) ambient.Armed { return armed },
	}
}
