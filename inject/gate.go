package inject

import (
	"cmp"
	"context"
	"fmt"

	"github.com/prism-rpc/prism-rpc/inject/predicate"
	"github.com/prism-rpc/prism-rpc/schema"
)

// A Gate says on which turns an injector that runs code is asked at all (P8),
// and how much it may give. The zero value asks it on every turn.
type Gate struct {
	When      schema.When  // default every_turn
	Predicate string       // of on_input: an expression
	Scope     schema.Scope // what first_turn counts; default the session's turns
	MaxBytes  int          // of all the text that it gives; default schema.MaxInjectorBytes
}

// Gated is inj behind a gate: on a turn that is not due it is not asked. What
// it gives may have a timing of its own, which then decides (P8). The error is
// ErrWhen, or a *schema.ParamsError about the predicate.
func Gated(inj Injector, g Gate) (Injector, error) {
	if inj == nil {
		return nil, ErrNil
	}
	return newGated(inj, g)
}

func newGated(inj Injector, g Gate) (*gated, error) {
	out := &gated{inner: inj, Gate: g}
	if out.When = cmp.Or(g.When, schema.WhenEveryTurn); !out.When.Valid() {
		return nil, ErrWhen
	}
	if g.MaxBytes <= 0 {
		out.MaxBytes = schema.MaxInjectorBytes + schema.MaxBlockBytes
	}
	var err error
	out.condition, err = condition(g.Predicate, out.When)
	return out, err
}

// condition compiles an expression. One that is not asked, the timing being
// another, has to be right as well; nil then.
func condition(expression string, when schema.When) (*predicate.Program, error) {
	if expression == "" {
		return nil, nil
	}
	p, err := predicate.Compile(expression)
	if err != nil {
		return nil, schema.BadField("predicate", "predicate", err.Error())
	}
	if when != schema.WhenOnInput {
		return nil, nil
	}
	return p, nil
}

// Callback is the injector that spec describes, of which ask gives the text,
// anew for each turn that is due. Spec has none then. ask must return when its
// ctx ends: nobody leaves it behind. The error is a *schema.ParamsError, or says
// what no request can hold.
func Callback(spec schema.InjectorSpec, ask func(context.Context, Context) (Contribution, error)) (Injector, error) {
	if err := schema.ValidateCallback(&spec); err != nil {
		return nil, err
	}
	settings := settingsFrom(spec)
	if err := checkText(settings.Title); err != nil {
		return nil, schema.BadField("title", "text", err.Error())
	}
	gate := Gate{When: spec.When, Predicate: spec.Predicate, Scope: spec.Scope}
	if spec.MaxBytes != nil {
		gate.MaxBytes = *spec.MaxBytes
	}
	g, err := newGated(Func(spec.Name, ask), gate)
	if err != nil {
		return nil, err
	}
	g.prompt, g.description = true, spec.Description
	return With(g, settings), nil
}

type gated struct {
	inner Injector
	Gate
	description string
	condition   *predicate.Program // of on_input; nil for none
	prompt      bool               // inner returns when its context ends
}

func (g *gated) Name() string { return g.inner.Name() }

// Apply is for those who do not know of gates: on a turn that is not due the
// contribution is empty, and its timing says why.
func (g *gated) Apply(ctx context.Context, c Context) (Contribution, error) {
	c = c.numbered()
	reason, err := g.closed(c, predicate.NewTurn(c.facts(), DefaultPredicateTime), g.Scope)
	switch {
	case err != nil:
		return Contribution{}, err
	case reason == schema.ReasonPredicateFalse:
		return Contribution{When: g.When, Predicate: func(Context) bool { return false }}, nil
	case reason != "":
		return Contribution{When: g.When}, nil
	}
	return g.give(ctx, c)
}

// closed says why the injector is not to be asked; empty when it is.
func (g *gated) closed(turn Context, conditions *predicate.Turn, scope schema.Scope) (schema.Reason, error) {
	if reason := undue(Contribution{When: g.When}, turn, scope); reason != "" || g.condition == nil {
		return reason, nil
	}
	holds, err := g.condition.Eval(conditions)
	if err != nil || holds {
		return "", err
	}
	return schema.ReasonPredicateFalse, nil
}

// give asks.
func (g *gated) give(ctx context.Context, c Context) (Contribution, error) {
	got, err := g.inner.Apply(ctx, c)
	if err != nil {
		return Contribution{}, err
	}
	if err := got.Check(); err != nil {
		return Contribution{}, err
	}
	got.When = cmp.Or(got.When, g.When)
	if got.size() > g.MaxBytes {
		return Contribution{}, fmt.Errorf("%w: at most %d bytes in all", ErrMaxBytes, g.MaxBytes)
	}
	return got, nil
}

// size is that of the text that c can inject.
func (c Contribution) size() int {
	n := len(c.Instructions)
	for _, b := range c.ContextBlocks {
		n += len(b.Title) + len(schema.PlainText(b.Content))
	}
	return n
}

// open is g when its gate has been passed already.
func (g *gated) open() Injector { return Func(g.Name(), g.give) }
