package bundle

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/schema"
)

// ErrNoInjector means that a loader gave no injector for a module, and no fault.
var ErrNoInjector = errors.New("is code that the loader did not want to run")

// coded is the bundle as an injector that its module makes, on first use.
func (w *work) coded() (inject.Injector, error) {
	m := w.bundle.Manifest
	file, real, err := fence{w.bundle.folder}.open(w.bundle.at(m.Module), true)
	if err != nil {
		return nil, inFile(m.Module, err)
	}
	info, err := file.Stat()
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, inFile(m.Module, err)
	}
	if info.Size() > MaxModuleBytes {
		return nil, inFile(m.Module, tooLarge(MaxModuleBytes))
	}
	w.files = append(w.files, real)
	w.read = fmt.Sprint(real, info.Size(), info.ModTime().UnixNano())
	if n := names(info); n > 1 {
		w.warn(m.Module, "the file has several names (hard links)")
	}
	if m.Resource != "" || len(m.ContextBlocks) > 0 {
		w.warn(manifestFile, "resource and contextBlocks change nothing: the module gives the text")
	}
	if w.ModuleLoader == nil {
		return nil, inFile(m.Module, ErrNoLoader)
	}
	c := &code{bundle: w.bundle, loader: w.ModuleLoader, once: newOnce()}
	c.module = Module{Name: w.bundle.Name, File: m.Module, Path: real, ExportName: m.ExportName, Read: c.read}
	w.entry.Info.Ready, w.anew = c.ready, func() bool { return c.once.refusal() != nil }
	return lazy(c, &w.bundle)
}

// lazy is an injector that is asked when the manifest says so, and gives its
// text as the manifest says.
func lazy(inj inject.Injector, b *Bundle) (inject.Injector, error) {
	m := b.Manifest
	gated, err := inject.Gated(inj, inject.Gate{When: m.When, Predicate: m.Predicate, Scope: m.Scope, MaxBytes: orZero(m.MaxBytes)})
	if err != nil {
		return nil, inFile(manifestFile, err)
	}
	return inject.With(gated, inject.Settings{
		Placement: m.Placement, Position: m.Position, Title: m.Title, Scope: m.Scope,
		OnError: m.OnError, Disabled: m.disabled(), Trust: schema.TrustWorkspace,
	}), nil
}

func orZero(p *int) int {
	if p == nil {
		return 0
	}
	return *p
}

// code is an injector that a module is.
type code struct {
	bundle Bundle
	loader ModuleLoader
	module Module
	once   *once
}

// ready says why the module can't be used at present: its loader can't run one,
// or did not want to run this one.
func (c *code) ready() error {
	if err := c.once.refusal(); err != nil {
		return err
	}
	if r, ok := c.loader.(interface{ Ready() error }); ok {
		return r.Ready()
	}
	return nil
}

// Name is the bundle's, whatever the module calls itself (P20).
func (c *code) Name() string { return c.bundle.Name }

// Apply loads the module where that was not done before.
func (c *code) Apply(ctx context.Context, turn inject.Context) (inject.Contribution, error) {
	inj, err := c.once.do(ctx, c.load)
	if err != nil {
		return inject.Contribution{}, err
	}
	return inj.Apply(ctx, turn)
}

func (c *code) load(ctx context.Context) (inject.Injector, error) {
	inj, err := c.loader.Load(ctx, c.module)
	switch {
	case err != nil:
		return nil, inFile(c.module.File, err)
	case inj == nil:
		return nil, inFile(c.module.File, ErrNoInjector)
	}
	return inj, nil
}

// read gives the loader the code, as long as it is where it was found.
func (c *code) read() ([]byte, error) {
	got, err := fence{c.bundle.folder}.read(c.module.Path, MaxModuleBytes)
	if err == nil && got.real != c.module.Path {
		err = os.ErrNotExist
	}
	if err == nil {
		err = c.bundle.pinned(got.data)
	}
	return got.data, inFile(c.module.File, err)
}
