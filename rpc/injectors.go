package rpc

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/schema"
)

// registerInjector makes an injector of the client's known, until the
// connection ends. The last one of a name stands; a turn under way keeps what
// it began with (P5).
func (s *server) registerInjector(_ *call, p *schema.RegisterInjectorParams) (*schema.RegisterInjectorResult, error) {
	if err := s.checkInjectorName(p.Name); err != nil {
		return nil, err
	}
	inj, err := s.clientInjector(p)
	if err != nil {
		return nil, err
	}
	replaced, err := s.Sessions.Registry().Register(inj, schema.OriginClient, inject.Info{Owner: s})
	if err != nil {
		return nil, notRegistered("name", err)
	}
	return &schema.RegisterInjectorResult{Replaced: replaced}, nil
}

// unregisterInjector makes the name unknown again, if it stands for an injector
// of this client's.
func (s *server) unregisterInjector(_ *call, p *schema.UnregisterInjectorParams) (schema.Empty, error) {
	s.Sessions.Registry().UnregisterOwn(p.Name, schema.OriginClient, s)
	return schema.Empty{}, nil
}

// unregisterAll forgets the client's injectors when it has gone.
func (s *server) unregisterAll() {
	if s.Sessions != nil {
		s.Sessions.Registry().UnregisterAll(s)
	}
}

// checkInjectorName refuses a secret: names are shown as they are.
func (s *server) checkInjectorName(name string) error {
	if s.redacting().Contains(name) {
		return schema.BadField("name", "secret", "holds a known secret")
	}
	return nil
}

// clientInjector is what the client describes, not registered yet.
func (s *server) clientInjector(p *schema.RegisterInjectorParams) (inject.Injector, error) {
	if p.Callback {
		return inject.Callback(p.InjectorSpec, s.asker(p.Name, p.Wants))
	}
	inj, err := inject.FromSpec(p.InjectorSpec)
	if err == nil || errors.As(err, new(*schema.ParamsError)) {
		return inj, err
	}
	if (inject.Contribution{Instructions: p.Instructions}).Check() != nil {
		return nil, schema.BadField("instructions", "text", errors.Unwrap(err).Error())
	}
	return nil, schema.BadField("contextBlocks", "text", err.Error()) // what no request can hold stands in either
}

// clientInjectors are those of a list, none of which stands in it twice.
func (s *server) clientInjectors(list []schema.RegisterInjectorParams) ([]inject.Injector, error) {
	out := make([]inject.Injector, len(list))
	for i := range list {
		at := fmt.Sprintf("injectors[%d]", i)
		if slices.ContainsFunc(list[:i], func(p schema.RegisterInjectorParams) bool { return p.Name == list[i].Name }) {
			return nil, schema.BadField(at+".name", "unique", "is the name of an earlier one")
		}
		var err error
		if out[i], err = s.clientInjector(&list[i]); err != nil {
			return nil, schema.Under(at, err)
		}
	}
	return out, nil
}

// registerAll registers the injectors that initialize brings, or none of them.
func (s *server) registerAll(all []inject.Injector) error {
	for i, inj := range all {
		if err := s.checkInjectorName(inj.Name()); err != nil {
			return schema.Under(fmt.Sprintf("injectors[%d]", i), err)
		}
	}
	if err := s.Sessions.Registry().RegisterAll(all, schema.OriginClient, inject.Info{Owner: s}); err != nil {
		return notRegistered("injectors", err)
	}
	return nil
}

// notRegistered is about a registry that is full; nothing else is left to be
// wrong by then.
func notRegistered(field string, err error) error {
	if !errors.Is(err, inject.ErrFull) {
		return fmt.Errorf("register: %w", err)
	}
	full := schema.BadField(field, "max", fmt.Sprintf("is one too many: there may be %d injectors; unregister others", inject.MaxInjectors))
	full.Limit = inject.MaxInjectors
	return full
}

// asker asks the client for an injector's text. It returns when ctx ends.
func (s *server) asker(name string, wants []schema.Want) func(context.Context, inject.Context) (inject.Contribution, error) {
	return func(ctx context.Context, turn inject.Context) (inject.Contribution, error) {
		raw, err := s.conn.call(ctx, "applyInjector", s.applyParams(name, wants, turn))
		if err != nil {
			return inject.Contribution{}, err
		}
		return inject.DecodeContribution(raw)
	}
}
