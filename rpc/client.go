package rpc

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/inject/bundle"
	"github.com/prism-rpc/prism-rpc/schema"
)

// Why the client can't be asked.
var (
	errNoClient    = errors.New("no client is connected")
	errNoPermitter = errors.New("the client did not declare permitRead in initialize, so it can't be asked")
)

// A Client asks whoever is connected to do what bundles need done: to run their
// code, to let them read what lies outside. It is made before the connection
// and handed to Options. The zero value is ready; as long as no connection is
// served with it, nobody can be asked.
type Client struct{ server atomic.Pointer[server] }

var _ bundle.ModuleLoader = (*Client)(nil)

// Load has the client run a bundle's code (P20): applyInjector asks for what it
// gives. Nil and no error: the client does not want to.
func (c *Client) Load(ctx context.Context, m bundle.Module) (inject.Injector, error) {
	s := c.server.Load()
	if s == nil {
		return nil, errNoClient
	}
	red := s.redacting()
	raw, err := s.conn.call(ctx, "loadModule", &schema.LoadModuleParams{
		Name: red.Text(m.Name, nil), Module: red.Text(m.File, nil), ExportName: red.Text(m.ExportName, nil), Path: red.Text(m.Path, nil),
	})
	if err != nil || string(raw) == "null" {
		return nil, err
	}
	var loaded schema.LoadModuleResult
	if err := schema.DecodeLenient(raw, &loaded); err != nil {
		return nil, err
	}
	spec := schema.InjectorSpec{Name: m.Name, When: cmp.Or(loaded.When, schema.WhenEveryTurn), Predicate: loaded.Predicate}
	return inject.Callback(spec, s.asker(m.Name, loaded.Wants))
}

// Ready says why Load can't work at present, nil when it can.
func (c *Client) Ready() error {
	if c.server.Load() == nil {
		return errNoClient
	}
	return nil
}

// Permit asks the client whether a bundle may read what lies outside of it
// (P22). Whatever is no clear yes is a no.
func (c *Client) Permit(ctx context.Context, r bundle.ReadRequest) (bool, error) {
	if err := c.PermitReady(); err != nil {
		return false, err
	}
	s := c.server.Load()
	if s == nil {
		return false, errNoClient
	}
	red := s.redacting()
	raw, err := s.conn.call(ctx, "permitRead", &schema.PermitReadParams{
		Path: red.Text(r.Path, nil), Bundle: red.Text(r.Bundle, nil), Reason: red.Text(r.Reason, nil),
	})
	if err != nil {
		return false, err
	}
	var said schema.PermitReadResult
	if err := schema.DecodeLenient(raw, &said); err != nil {
		return false, err
	}
	return said.Allow, nil
}

// PermitReady says why Permit can't ask at present, nil when it can.
func (c *Client) PermitReady() error {
	switch s := c.server.Load(); {
	case s == nil:
		return errNoClient
	case !s.permits.Load():
		return errNoPermitter
	}
	return nil
}
