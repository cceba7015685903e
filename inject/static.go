package inject

import (
	"context"

	"github.com/prism-rpc/prism-rpc/inject/predicate"
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
	var err error
	if s.condition, err = condition(spec.Predicate, spec.When); err != nil {
		return nil, err
	}
	settings := settingsFrom(spec)
	if err := checkText(settings.Title); err != nil {
		return nil, schema.BadField("title", "text", err.Error())
	}
	return With(s, settings), nil
}

func settingsFrom(spec schema.InjectorSpec) Settings {
	return Settings{
		Placement: spec.Placement,
		Position:  spec.Position,
		Title:     spec.Title,
		Scope:     spec.Scope,
		OnError:   spec.OnError,
		Retention: spec.Retention,
		Producer:  spec.Producer,
		Trust:     spec.Trust,
		Disabled:  spec.Enabled != nil && !*spec.Enabled,
	}
}

type static struct {
	name        string
	description string
	c           Contribution
	condition   *predicate.Program // of on_input, as data; nil for none
	fault       error              // what Check said of c
}

func newStatic(name, description string, c Contribution) *static {
	if c.When == "" {
		c.When = schema.WhenEveryTurn
	}
	c.ContextBlocks = plainCopy.contextBlocks(c.ContextBlocks)
	return &static{name: name, description: description, c: c, fault: c.Check()}
}

func (s *static) Name() string { return s.name }

// Apply gives the condition as a function, in which an error means no.
func (s *static) Apply(context.Context, Context) (Contribution, error) {
	c := s.c
	c.ContextBlocks = plainCopy.contextBlocks(c.ContextBlocks)
	if s.condition != nil {
		c.Predicate = func(turn Context) bool {
			due, err := s.condition.Eval(predicate.NewTurn(turn.facts(), DefaultPredicateTime))
			return err == nil && due
		}
	}
	return c, s.fault
}

// asks tells whether it takes foreign code to know if s is due.
func (s *static) asks() bool { return s.c.When == schema.WhenOnInput && s.c.Predicate != nil }

// digest is the size and hash of what s injects under these settings, by the
// rules of schema.Injected, over all placements; without the frames, which are
// a session's.
func (s *static) digest(settings Settings, red *redact.Redactor) (int, string) {
	a := newApplied(Resolved{Injector: With(s, settings)}, s.c, Framer{}, red, nil)
	return measure(append([]string{a.Instructions, a.Notice}, a.rendered()...)...)
}
