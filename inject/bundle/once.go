package bundle

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/prism-rpc/prism-rpc/inject"
)

// A once makes an injector one time, whoever asks. A refusal stands until the
// bundles are loaded anew; any other error is for those who asked together, and
// the next one tries again.
type once struct {
	turn    chan struct{} // held by who makes it
	made    inject.Injector
	refused atomic.Pointer[error]
}

func newOnce() *once { return &once{turn: make(chan struct{}, 1)} }

// do waits for its turn as long as ctx lets it.
func (o *once) do(ctx context.Context, load func(context.Context) (inject.Injector, error)) (inject.Injector, error) {
	select {
	case o.turn <- struct{}{}:
		defer func() { <-o.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if err := o.refusal(); err != nil || o.made != nil {
		return o.made, err
	}
	made, err := load(ctx)
	switch {
	case err == nil:
		o.made = made
	case errors.Is(err, ErrDenied), errors.Is(err, ErrNoInjector):
		o.refused.Store(&err)
	}
	return made, err
}

// refusal is why the injector is not to be had; nil when nothing was refused.
func (o *once) refusal() error {
	if err := o.refused.Load(); err != nil {
		return *err
	}
	return nil
}
