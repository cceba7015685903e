package wasm

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/tetratelabs/wazero"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/inject/bundle"
	"github.com/prism-rpc/prism-rpc/internal/panics"
)

// An injector is a module under its bundle's name.
type injector struct {
	module bundle.Module
	loader *Loader
	calls  chan struct{} // one token for each call of this module: it can't take all of the loader's

	mu     sync.Mutex
	loaded *loading // nil before the first Apply
}

// A loading is the module being compiled, and then what came of it. A module
// that doesn't compile is not tried again: a changed file is another injector.
type loading struct {
	done    chan struct{} // closed when the rest is set
	program *program
	err     error
}

func (i *injector) Name() string { return i.module.Name }

// Apply calls the module with the turn. The errors are those of this package,
// those of inject, and ctx's cause.
func (i *injector) Apply(ctx context.Context, c inject.Context) (inject.Contribution, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, i.loader.opts.Timeout, inject.ErrTimeout)
	defer cancel()
	p, err := i.ready(ctx)
	if err != nil {
		return inject.Contribution{}, err
	}
	input, err := encode(c, p.wantsHistory)
	if err != nil {
		return inject.Contribution{}, err
	}
	output, err := i.call(ctx, p, input)
	if err != nil || output == nil {
		return inject.Contribution{}, err
	}
	return inject.DecodeContribution(output)
}

// call waits for its turn among the calls.
func (i *injector) call(ctx context.Context, p *program, input []byte) ([]byte, error) {
	for _, tokens := range []chan struct{}{i.calls, i.loader.calls} {
		if err := take(ctx, tokens); err != nil {
			return nil, err
		}
		defer func() { <-tokens }()
	}
	return p.call(ctx, input)
}

// ready is the compiled module. Who waits for it may give up; the compilation
// goes on, for the next turn.
func (i *injector) ready(ctx context.Context) (*program, error) {
	l := i.load(ctx)
	select {
	case <-l.done:
		return l.program, l.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (i *injector) load(ctx context.Context) *loading {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.loaded == nil {
		i.loaded = &loading{done: make(chan struct{}), err: ErrCompile}
		go i.loader.load(context.WithoutCancel(ctx), i.module, i.loaded) // ready waits for it, as long as its turn lasts
	}
	return i.loaded
}

// load reads and compiles m.
func (l *Loader) load(ctx context.Context, m bundle.Module, into *loading) {
	defer close(into.done)
	defer panics.Recover("compiling a module", func(text string) { l.opts.Logger.Error(text) })
	ctx, cancel := context.WithTimeoutCause(ctx, l.opts.CompileTime, fmt.Errorf("%w within %v", ErrCompile, l.opts.CompileTime))
	defer cancel()
	if into.err = take(ctx, l.compiling); into.err != nil {
		return
	}
	defer func() { <-l.compiling }()
	into.err = ErrCompile // should what follows panic
	into.program, into.err = l.compile(ctx, m)
	if p := into.program; p != nil {
		runtime.AddCleanup(p, free, p.compiled)
	}
}

// free lets go of what was compiled for an injector that nobody holds any more.
// It waits for nothing, so no caller's context is needed.
func free(compiled wazero.CompiledModule) { _ = compiled.Close(context.Background()) }

func (l *Loader) compile(ctx context.Context, m bundle.Module) (*program, error) {
	file, err := m.Read()
	if err != nil {
		return nil, fmt.Errorf("the module's file: %w", err)
	}
	e, err := l.started(ctx)
	if err != nil {
		return nil, err
	}
	hard := hardener{offered: e.offered, pages: uint32(l.opts.MemoryPages)}
	code, err := hard.harden(file)
	if err != nil {
		return nil, err
	}
	return e.compile(ctx, code, m.ExportName)
}
