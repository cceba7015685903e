package assemble

import (
	"context"
	"fmt"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
)

// BlockSource says who gave a context block.
type BlockSource string

// The sources of context blocks, in the order in which they stand (P14).
const (
	BlockHost     BlockSource = "host" // configuration, the turn's params, a Go host's providers
	BlockSkill    BlockSource = "skill"
	BlockInjected BlockSource = "injected"
)

// A Block is a context block on its way into a request.
type Block struct {
	Source   BlockSource
	Injector string          // the name of the injector that gave it
	Stable   bool            // the same on every turn of the session, so that it stands before the history
	Position schema.Position // where it stands in any layout; empty: as the layout says
	schema.ContextBlock
}

// A ContextProvider gives context blocks for a turn. It may be called for
// several turns at once. What it returns is copied and redacted.
type ContextProvider interface {
	Blocks(ctx context.Context, c inject.Context) ([]schema.ContextBlock, error)
}

// Middleware sees all blocks of a turn, redacted, and returns those that are
// to stand in the request. The slice is its own to change.
type Middleware func(ctx context.Context, blocks []Block) ([]Block, error)

// Sources are where the context blocks of a turn come from.
type Sources struct {
	Configured []schema.ContextBlock // of every turn of the session
	Turn       []schema.ContextBlock // of this turn alone
	Host       []ContextProvider
	Skills     []ContextProvider
	Applied    []inject.Applied
	Middleware []Middleware
	Frame      inject.Framer // of documents in blocks
}

// Collect returns the turn's blocks in order, redacted, without those that say
// nothing. Each provider gets a copy of c, which holds no secrets any more. An
// error is ctx's cause once that has ended, else that of a provider or a
// middleware, or it says why a block can't stand in a request.
func (s Sources) Collect(ctx context.Context, c inject.Context, red *redact.Redactor, tally *redact.Tally) ([]Block, error) {
	g := gathering{frame: s.Frame, red: red, tally: tally}
	err := g.all(ctx, c, s)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, err
	}
	return g.blocks, nil
}

type gathering struct {
	frame  inject.Framer
	red    *redact.Redactor
	tally  *redact.Tally
	blocks []Block
}

func (g *gathering) all(ctx context.Context, c inject.Context, s Sources) error {
	if err := g.add(s.Configured, Block{Source: BlockHost, Stable: true}); err != nil {
		return err
	}
	if err := g.add(s.Turn, Block{Source: BlockHost}); err != nil {
		return err
	}
	if err := g.ask(ctx, c, s.Host, BlockHost); err != nil {
		return err
	}
	if err := g.ask(ctx, c, s.Skills, BlockSkill); err != nil {
		return err
	}
	for _, a := range s.Applied {
		like := Block{Source: BlockInjected, Injector: a.Name, Stable: a.Stable, Position: a.Position}
		if err := g.add(a.ContextBlocks, like); err != nil {
			return err
		}
	}
	return g.pass(ctx, s.Middleware)
}

// add takes blocks in, checked and redacted; like says all else about them.
func (g *gathering) add(blocks []schema.ContextBlock, like Block) error {
	for i := range blocks {
		one := blocks[i : i+1]
		if err := (inject.Contribution{ContextBlocks: one}).Check(); err != nil {
			return fmt.Errorf("%s context block %d: %w", like.Source, i+1, err)
		}
		like.ContextBlock = inject.RedactBlocks(one, g.red, g.tally)[0]
		g.frame.Resources(like.Content)
		if inject.Render(like.ContextBlock) != "" {
			g.blocks = append(g.blocks, like)
		}
	}
	return nil
}

func (g *gathering) ask(ctx context.Context, c inject.Context, providers []ContextProvider, source BlockSource) error {
	for i, p := range providers {
		blocks, err := p.Blocks(ctx, c.Clone())
		if err == nil {
			err = g.add(blocks, Block{Source: source})
		}
		if err != nil {
			return fmt.Errorf("%s context provider %d: %w", source, i+1, err)
		}
	}
	return nil
}

// pass sends the blocks through the middleware, and checks and redacts anew
// what comes out.
func (g *gathering) pass(ctx context.Context, chain []Middleware) error {
	for i, m := range chain {
		blocks, err := m(ctx, g.blocks)
		g.blocks = nil
		for j := 0; err == nil && j < len(blocks); j++ {
			err = g.add([]schema.ContextBlock{blocks[j].ContextBlock}, blocks[j])
		}
		if err != nil {
			return fmt.Errorf("context middleware %d: %w", i+1, err)
		}
	}
	return nil
}

// Report says what of applied stands in a request with these blocks, which
// middleware may have dropped or changed.
func Report(applied []inject.Applied, blocks []Block) []schema.Injected {
	kept := map[string][]schema.ContextBlock{}
	for _, b := range blocks {
		if b.Source == BlockInjected {
			kept[b.Injector] = append(kept[b.Injector], b.ContextBlock)
		}
	}
	out := []schema.Injected{}
	for _, a := range applied {
		a.ContextBlocks = kept[a.Name]
		delete(kept, a.Name)
		out = append(out, a.Injected()...)
	}
	return out
}
