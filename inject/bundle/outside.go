package bundle

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/schema"
)

// Why an outside resource gives no text.
var (
	ErrDenied = errors.New("lies outside of the bundle, and the client did not allow it to be read")
	errMoved  = errors.New("changed its place while permission was asked")
)

// outside is the bundle as an injector whose text lies elsewhere, so that it is
// read when it is first used, and only with permission.
func (w *work) outside(file string) (inject.Injector, error) {
	if w.Permission == nil {
		return nil, inFile(file, ErrNoPermission)
	}
	if _, err := specOf(&w.bundle, "x"); err != nil {
		return nil, err
	}
	w.anew = func() bool { return true }
	o := &outsider{bundle: w.bundle, path: w.bundle.at(file), file: file, ask: w.Permission, once: newOnce()}
	ready := w.PermissionReady
	w.entry.Info.Ready = func() error {
		if err := o.once.refusal(); err != nil {
			return err
		}
		if ready != nil {
			if err := ready(); err != nil {
				return inFile(file, fmt.Errorf("%w; %w", ErrNoPermission, err))
			}
		}
		return nil
	}
	return lazy(o, &w.bundle)
}

// An outsider reads its text on first use.
type outsider struct {
	bundle Bundle
	path   string // of the resource, as the manifest leads to it
	file   string // as the manifest names it
	ask    Permission
	once   *once
}

// Name is the bundle's.
func (o *outsider) Name() string { return o.bundle.Name }

// Apply asks for permission where that was not given before.
func (o *outsider) Apply(ctx context.Context, c inject.Context) (inject.Contribution, error) {
	inj, err := o.once.do(ctx, o.load)
	if err != nil {
		return inject.Contribution{}, err
	}
	return inj.Apply(ctx, c)
}

func (o *outsider) load(ctx context.Context) (inject.Injector, error) {
	real, err := realPath(o.path)
	if err != nil {
		return nil, inFile(o.file, err)
	}
	allow, err := o.ask(ctx, ReadRequest{Path: real, Bundle: o.bundle.Name, Reason: "the bundle's resource " + o.file + " lies outside of its folder"})
	switch {
	case err != nil:
		return nil, fmt.Errorf("permission to read the resource: %w", err)
	case !allow:
		return nil, inFile(o.file, ErrDenied)
	}
	text, err := o.read(real)
	if err != nil {
		return nil, inFile(o.file, err)
	}
	return specOf(&o.bundle, text)
}

// read reads the file that was allowed, and no other.
func (o *outsider) read(allowed string) (string, error) {
	got, err := fence{filepath.Dir(allowed)}.read(allowed, schema.MaxInjectorBytes)
	switch {
	case errors.Is(err, ErrOutside) || err == nil && got.real != allowed:
		return "", errMoved
	case err != nil:
		return "", err
	}
	text, _, err := textOf(&o.bundle, got.data)
	return text, err
}
