package wasm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"unicode/utf8"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"

	"github.com/prism-rpc/prism-rpc/internal/plain"
)

// maxResultBytes bounds what a module gives for one turn.
const maxResultBytes = 256 << 10

// A program is a compiled module.
type program struct {
	runtime      wazero.Runtime
	compiled     wazero.CompiledModule
	export       string // the function that gives the contribution
	wantsHistory bool
	initializes  bool
}

// call hands input to a new instance and gives what it answers; nil and no
// error mean that it has nothing to say now. It ends soon after ctx.
func (p *program) call(ctx context.Context, input []byte) ([]byte, error) {
	m, err := p.runtime.InstantiateModule(ctx, p.compiled, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		return nil, fault(ctx, err)
	}
	defer func() {
		_ = m.Close(context.WithoutCancel(ctx)) // it holds nothing but memory
		runtime.KeepAlive(p)
	}()
	if p.initializes {
		if _, err := m.ExportedFunction(exportInitialize).Call(ctx); err != nil {
			return nil, fault(ctx, err)
		}
	}
	at, err := give(ctx, m, input)
	if err != nil {
		return nil, err
	}
	packed, err := one(ctx, m, p.export, at, uint64(len(input)))
	if err != nil || packed == 0 {
		return nil, err
	}
	return result(m.Memory(), packed)
}

// give writes input where the module has room for it.
func give(ctx context.Context, m api.Module, input []byte) (at uint64, err error) {
	at, err = one(ctx, m, exportAlloc, uint64(len(input)))
	if err != nil {
		return 0, err
	}
	at = uint64(uint32(at))
	if at == 0 {
		return 0, fmt.Errorf("%w: %s found no room for %d bytes", ErrTrap, exportAlloc, len(input))
	}
	if !m.Memory().Write(uint32(at), input) {
		return 0, fmt.Errorf("%w: %s gave a place outside of its memory", ErrTrap, exportAlloc)
	}
	return at, nil
}

// one calls a function whose type was checked.
func one(ctx context.Context, m api.Module, name string, params ...uint64) (uint64, error) {
	results, err := m.ExportedFunction(name).Call(ctx, params...)
	if err != nil {
		return 0, fault(ctx, err)
	}
	return results[0], nil
}

// result is a copy of the text that packed says the place and size of.
func result(memory api.Memory, packed uint64) ([]byte, error) {
	at, size := uint32(packed>>32), uint32(packed)
	if size > maxResultBytes {
		return nil, fmt.Errorf("%w: %d bytes, more than %d", ErrResult, size, maxResultBytes)
	}
	text, ok := memory.Read(at, size)
	switch {
	case !ok:
		return nil, fmt.Errorf("%w: it lies outside of the module's memory", ErrResult)
	case !utf8.Valid(text):
		return nil, fmt.Errorf("%w: it is not valid UTF-8", ErrResult)
	}
	return bytes.Clone(text), nil
}

// fault says why a call ended early: ctx, or the module itself.
func fault(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if exit, ok := errors.AsType[*sys.ExitError](err); ok {
		return fmt.Errorf("%w with code %d", ErrExited, exit.ExitCode())
	}
	return fmt.Errorf("%w: %s", ErrTrap, firstLine(err))
}

// firstLine leaves out the stack, which is of use to nobody here. What a module
// named itself is escaped.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return plain.Text(line, 200)
}
