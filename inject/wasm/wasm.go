// Package wasm runs the WebAssembly modules that bundles name as instruction
// injectors (requirement P20, docs/modules.md). A module is given the turn as
// JSON and gives a contribution as JSON. It reaches nothing else: no file, no
// network, no environment, a made-up clock, fixed randomness, no output. Its
// memory, its time, its size before compiling and its result are bounded, and
// every call runs in an instance of its own, so that no turn leaves anything
// to another.
//
//	Loader.Load       a bundle.Module → an injector; nothing is read yet
//	injector.Apply    the first: read, harden, compile, once
//	program.call      instantiate, hand over the turn, take the result
//
// Nothing of this costs anything before the first turn that uses a module.
package wasm

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/tetratelabs/wazero/api"
	"go.uber.org/zap"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/inject/bundle"
)

// Options bound what modules may take; the zero value works.
type Options struct {
	CacheDir    string        // where compiled code is kept between processes; made when missing; default: in memory alone
	Timeout     time.Duration // of one call; default inject.DefaultTimeout
	CompileTime time.Duration // of one compilation; default 30 s, or Timeout when that is longer
	MemoryPages int           // of 64 KiB, that one call may use; default 256, most 4,096
	Calls       int           // at once, over all modules; default 4. A call takes its memory, and a stack of at most 150 MB
	Logger      *zap.Logger   // default: none
}

// What holds where Options say nothing.
const (
	DefaultCompileTime = 30 * time.Second
	DefaultMemoryPages = 256
	DefaultCalls       = 4

	mostMemoryPages = 4096
)

func (o Options) withDefaults() Options {
	if o.Timeout <= 0 {
		o.Timeout = inject.DefaultTimeout
	}
	if o.CompileTime <= 0 {
		o.CompileTime = max(DefaultCompileTime, o.Timeout)
	}
	if o.MemoryPages <= 0 {
		o.MemoryPages = DefaultMemoryPages
	}
	o.MemoryPages = min(o.MemoryPages, mostMemoryPages)
	if o.Calls <= 0 {
		o.Calls = DefaultCalls
	}
	if o.Logger == nil {
		o.Logger = zap.NewNop()
	}
	return o
}

// A Loader makes injectors of modules: a bundle.ModuleLoader. Its methods may
// be called from several goroutines. One process needs one.
type Loader struct {
	opts      Options
	calls     chan struct{} // one token for each call under way
	compiling chan struct{} // a token for the one compilation under way; who holds it may touch the rest

	engine *engine // nil before the first module is compiled
	closed bool
}

// New makes a loader. It costs nothing before a module is used.
func New(o Options) *Loader {
	o = o.withDefaults()
	return &Loader{opts: o, calls: make(chan struct{}, o.Calls), compiling: make(chan struct{}, 1)}
}

// DefaultExport is the function that gives a contribution, where the manifest
// names none.
const DefaultExport = "apply"

// Load makes the injector of m, under the bundle's name. It looks at the
// file's name and size; all else waits for the injector's first turn.
func (l *Loader) Load(_ context.Context, m bundle.Module) (inject.Injector, error) {
	if !strings.HasSuffix(strings.ToLower(m.File), ".wasm") {
		return nil, fmt.Errorf("%w: its name doesn't end in .wasm", ErrMalformed)
	}
	if m.Path != "" {
		info, err := os.Stat(m.Path)
		if err != nil {
			return nil, fmt.Errorf("the module's file: %w", err)
		}
		if info.Size() > maxModuleBytes {
			return nil, fmt.Errorf("%w: a file of more than %d bytes", ErrLimit, maxModuleBytes)
		}
	}
	if m.ExportName == "" {
		m.ExportName = DefaultExport
	}
	return &injector{module: m, loader: l, calls: make(chan struct{}, max(1, l.opts.Calls/2))}, nil
}

// Close frees what compiled modules hold, once the calls and the compilation
// under way have ended; later ones fail. The error is ctx's cause when ctx ends
// before.
func (l *Loader) Close(ctx context.Context) error {
	tokens := slices.Repeat([]chan struct{}{l.calls}, cap(l.calls))
	for _, t := range append([]chan struct{}{l.compiling}, tokens...) { // the one of which there is one, first: two closings don't meet half way
		if err := take(ctx, t); err != nil {
			return err
		}
		defer func() { <-t }()
	}
	l.closed = true
	if l.engine == nil {
		return nil
	}
	return l.engine.close(ctx)
}

// started is the engine, made when there is none. Only the goroutine that
// holds the token of compiling calls it.
func (l *Loader) started(ctx context.Context) (*engine, error) {
	if l.closed {
		return nil, fmt.Errorf("%w: the loader is closed", ErrCompile)
	}
	if l.engine == nil {
		e, err := newEngine(ctx, l.opts)
		if err != nil {
			return nil, err
		}
		l.engine = e
	}
	return l.engine, nil
}

// take takes a token, unless ctx ends before.
func take(ctx context.Context, tokens chan struct{}) error {
	select {
	case tokens <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// features are the parts of WebAssembly that modules may use: version 2, but
// vectors.
const features = api.CoreFeaturesV2 &^ api.CoreFeatureSIMD
