package wasm

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"go.uber.org/zap"
)

// An engine compiles and runs modules.
type engine struct {
	opts    Options
	main    wazero.Runtime
	cache   wazero.CompilationCache // nil when compiled code is kept in memory alone
	imports map[string]bool         // functions of WASI that are offered, by name

	spare wazero.Runtime // without a cache; nil before one was needed
}

func newEngine(ctx context.Context, o Options) (*engine, error) {
	e := &engine{opts: o, cache: openCache(o)}
	var err error
	e.main, err = e.runtime(ctx, e.cache)
	return e, err
}

// runtime makes a runtime that offers WASI. What WASI's functions find is as
// the zero ModuleConfig has it: no arguments, environment, files or sockets,
// no input, discarded output, a clock that starts in 2022 and goes on by a
// step each time it is read, the same random bytes each time, sleeps that end
// at once.
func (e *engine) runtime(ctx context.Context, cache wazero.CompilationCache) (wazero.Runtime, error) {
	config := wazero.NewRuntimeConfig().
		WithCoreFeatures(features).
		WithMemoryLimitPages(uint32(e.opts.MemoryPages)).
		WithDebugInfoEnabled(false).
		WithCloseOnContextDone(true)
	if cache != nil {
		config = config.WithCompilationCache(cache)
	}
	r := wazero.NewRuntimeWithConfig(ctx, config)
	wasi := r.NewHostModuleBuilder(wasi_snapshot_preview1.ModuleName)
	wasi_snapshot_preview1.NewFunctionExporter().ExportFunctions(wasi)
	host, err := wasi.Compile(ctx)
	if err == nil {
		e.imports = map[string]bool{}
		for name := range host.ExportedFunctions() {
			e.imports[name] = true
		}
		_, err = r.InstantiateModule(ctx, host, wazero.NewModuleConfig().WithName(wasi_snapshot_preview1.ModuleName))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrCompile, err), r.Close(ctx))
	}
	return r, nil
}

func (e *engine) offered(module, name string) bool {
	return module == wasi_snapshot_preview1.ModuleName && e.imports[name]
}

// compile compiles code that was hardened. The cache is no reason to fail: a
// damaged entry or a full disk is met by compiling without it.
func (e *engine) compile(ctx context.Context, code []byte, export string) (*program, error) {
	p, err := compiled(ctx, e.main, code, export)
	if err == nil || e.cache == nil || errors.Is(err, ErrExport) || ctx.Err() != nil {
		return p, err
	}
	if e.spare == nil {
		var spareErr error
		if e.spare, spareErr = e.runtime(ctx, nil); spareErr != nil {
			return nil, spareErr
		}
	}
	p, again := compiled(ctx, e.spare, code, export)
	if again == nil {
		e.opts.Logger.Warn("the cache of compiled modules can't be used", zap.Error(err))
	}
	return p, again
}

// twoWorkers let the runtime look at ctx between functions; one does not.
const twoWorkers = 2

func compiled(ctx context.Context, r wazero.Runtime, code []byte, export string) (*program, error) {
	m, err := r.CompileModule(experimental.WithCompilationWorkers(ctx, twoWorkers), code)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, fmt.Errorf("%w: %s", ErrCompile, firstLine(err))
	}
	p := &program{runtime: r, compiled: m, export: export}
	if err := p.checkExports(); err != nil {
		return nil, errors.Join(err, m.Close(ctx))
	}
	return p, nil
}

// The names that a module exports; see docs/modules.md.
const (
	exportMemory     = "memory"
	exportAlloc      = "prism_alloc"
	exportHistory    = "prism_wants_history"
	exportInitialize = "_initialize"
)

func (p *program) checkExports() error {
	if _, ok := p.compiled.ExportedMemories()[exportMemory]; !ok {
		return fmt.Errorf("%w: a memory named %s", ErrExport, exportMemory)
	}
	functions := p.compiled.ExportedFunctions()
	_, p.wantsHistory = functions[exportHistory]
	_, p.initializes = functions[exportInitialize]
	i32, i64 := api.ValueTypeI32, api.ValueTypeI64
	switch {
	case !has(functions[exportAlloc], []api.ValueType{i32}, i32):
		return fmt.Errorf("%w: a function %s(i32) i32", ErrExport, exportAlloc)
	case !has(functions[p.export], []api.ValueType{i32, i32}, i64):
		return fmt.Errorf("%w: a function %s(i32, i32) i64", ErrExport, shown(p.export))
	case p.initializes && !has(functions[exportInitialize], nil):
		return fmt.Errorf("%w: %s takes nothing and gives nothing", ErrExport, exportInitialize)
	}
	return nil
}

func has(f api.FunctionDefinition, params []api.ValueType, results ...api.ValueType) bool {
	return f != nil && slices.Equal(f.ParamTypes(), params) && slices.Equal(f.ResultTypes(), results)
}

func (e *engine) close(ctx context.Context) error {
	err := e.main.Close(ctx)
	if e.spare != nil {
		err = errors.Join(err, e.spare.Close(ctx))
	}
	if e.cache != nil {
		err = errors.Join(err, e.cache.Close(ctx))
	}
	return err
}
