package inject

import (
	"context"

	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
)

// Static is the injector of that name which always contributes c. It keeps its
// own copy, so that the text can be described without asking it. A Predicate
// in c must give the same answer for the same Context.
func Static(name string, c Contribution) Injector { return newStatic(name, "", c) }

// FromSpec is the injector that spec describes. The error is a
// *schema.ParamsError, or says what no request can hold.
func FromSpec(spec schema.InjectorSpec) (Injector, error) {
	if err := schema.Validate(&spec); err != nil {
		return nil, err
	}
	s := newStatic(spec.Name, spec.Description, Contribution{
		Instructions:  spec.Instructions,
		ContextBlocks: spec.ContextBlocks,
		When:          spec.When,
	})
	if s.fault != nil {
		return nil, s.fault
	}
	return s, nil
}

type static struct {
	name        string
	description string
	c           Contribution
	fault       error // what Check said of c
}

func newStatic(name, description string, c Contribution) *static {
	if c.When == "" {
		c.When = schema.WhenEveryTurn
	}
	c.ContextBlocks = plainCopy.contextBlocks(c.ContextBlocks)
	return &static{name: name, description: description, c: c, fault: c.Check()}
}

func (s *static) Name() string { return s.name }

func (s *static) Apply(context.Context, Context) (Contribution, error) {
	c := s.c
	c.ContextBlocks = plainCopy.contextBlocks(c.ContextBlocks)
	return c, s.fault
}

// asks tells whether it takes a predicate to know if s is due.
func (s *static) asks() bool { return s.c.When == schema.WhenOnInput && s.c.Predicate != nil }

// digest is the size and hash of what s injects, by the rules of
// schema.Injected, over all placements.
func (s *static) digest(red *redact.Redactor) (int, string) {
	a := newApplied(Resolved{}, s.c, red, nil)
	return measure(append([]string{a.Instructions}, a.rendered()...)...)
}
