package bundle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/schema"
)

var (
	errNoInjector = errors.New("the module gives no injector")
	errMuchText   = errors.New("the module gives more than the manifest's maxBytes")
)

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
	timing, err := timingFrom(&w.bundle)
	if err != nil {
		return nil, err
	}
	if w.ModuleLoader == nil {
		return nil, inFile(m.Module, ErrNoLoader)
	}
	if r, ok := w.ModuleLoader.(interface{ Ready() error }); ok {
		w.entry.Info.Ready = r.Ready
	}
	c := &code{bundle: w.bundle, loader: w.ModuleLoader, timing: timing, once: newOnce()}
	c.module = Module{Name: w.bundle.Name, File: m.Module, Path: real, ExportName: m.ExportName, Read: c.read}
	return inject.With(c, settingsOf(&w.bundle)), nil
}

// timingFrom checks what the manifest says of when, and makes an injector that
// gives it; nil when the manifest says nothing.
func timingFrom(b *Bundle) (inject.Injector, error) {
	bare := *b
	m := *b.Manifest
	m.ContextBlocks, m.Placement, m.Position, m.Title, m.MaxBytes = nil, "", "", "", nil
	bare.Manifest = &m
	inj, err := specOf(&bare, "of the module")
	if m.When == "" {
		return nil, err
	}
	return inj, err
}

func timingOf(b *Bundle) schema.When { return cmp.Or(b.Manifest.When, schema.WhenEveryTurn) }

// code is an injector that a module is.
type code struct {
	bundle Bundle
	loader ModuleLoader
	module Module
	timing inject.Injector
	once   once
}

// Name is the bundle's, whatever the module calls itself (P20).
func (c *code) Name() string { return c.bundle.Name }

// When is the timing that the manifest gives.
func (c *code) When() schema.When { return timingOf(&c.bundle) }

// Apply loads the module where that was not done before.
func (c *code) Apply(ctx context.Context, turn inject.Context) (inject.Contribution, error) {
	inj, err := c.once.do(ctx, c.load)
	if err != nil {
		return inject.Contribution{}, err
	}
	got, err := inj.Apply(ctx, turn)
	if err != nil {
		return got, err
	}
	if most := c.bundle.Manifest.MaxBytes; most != nil && got.Bytes() > *most {
		return inject.Contribution{}, errMuchText
	}
	if got.When == "" && c.timing != nil {
		due, err := c.timing.Apply(ctx, turn)
		if err != nil {
			return inject.Contribution{}, err
		}
		got.When = due.When
		if got.Predicate == nil {
			got.Predicate = due.Predicate
		}
	}
	return got, nil
}

func (c *code) load(ctx context.Context) (inject.Injector, error) {
	inj, err := c.loader.Load(ctx, c.module)
	switch {
	case err != nil:
		return nil, inFile(c.module.File, err)
	case inj == nil:
		return nil, inFile(c.module.File, errNoInjector)
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
