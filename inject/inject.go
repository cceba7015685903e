// Package inject decides which instructions and context a turn carries: it
// keeps the registry of named injectors, resolves a turn's names, and asks each
// selected injector for its contribution (requirements P1–P12).
//
//	Registry.Resolve   names → []Resolved, all or none
//	Apply              []Resolved → []Applied, redacted, and what was skipped
//	Applied.Injected   what is reported of it, never the text
package inject

import (
	"bytes"
	"context"
	"iter"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-rpc/prism-rpc/inject/predicate"
	"github.com/prism-rpc/prism-rpc/schema"
)

// An Injector yields instructions and context for a turn. Apply is called at
// most once per turn, may be called from several turns at once, and should
// return soon after ctx ends.
type Injector interface {
	Name() string
	Apply(ctx context.Context, c Context) (Contribution, error)
}

// Context is what an injector sees of the turn (P9): redacted copies, so that
// changing them changes nothing.
type Context struct {
	SessionID string
	RunID     string
	Turn      int // from 1; 0 means 1
	Step      int // the provider call within the turn, from 1; 0 means 1
	Input     []schema.ContentBlock
	Metadata  jsontext.Value           // the turn's object; nil when it gave none
	Trivial   bool                     // the input only acknowledges, greets or says to go on (R4)
	History   iter.Seq[schema.Message] // the committed dialogue, decoded as it is read; nil when there is none

	// Recent gives the last messages of History without reading through it.
	// Nil where nobody knows how.
	Recent func(most int) iter.Seq[schema.Message]
}

// Clone is a copy that shares nothing that can be changed. Its history is
// copied message by message, as it is read.
func (c Context) Clone() Context {
	c.Input = plainCopy.content(c.Input)
	c.Metadata = bytes.Clone(c.Metadata)
	if c.History != nil {
		c.History = copied(c.History)
	}
	if recent := c.Recent; recent != nil {
		c.Recent = func(most int) iter.Seq[schema.Message] { return copied(recent(most)) }
	}
	return c
}

func copied(messages iter.Seq[schema.Message]) iter.Seq[schema.Message] {
	return func(yield func(schema.Message) bool) {
		for m := range messages {
			m.Content = plainCopy.content(m.Content)
			if !yield(m) {
				return
			}
		}
	}
}

// facts are what conditions see of the turn.
func (c Context) facts() predicate.Facts {
	c = c.numbered()
	f := predicate.Facts{Input: c.Input, Turn: c.Turn, Step: c.Step, SessionID: c.SessionID, Metadata: c.Metadata, Trivial: c.Trivial}
	switch {
	case c.Recent != nil:
		f.Recent = func() iter.Seq[schema.Message] { return c.Recent(predicate.MaxMessages) }
	case c.History != nil:
		f.Recent = func() iter.Seq[schema.Message] { return last(c.History, predicate.MaxMessages) }
	}
	return f
}

// last reads through messages and keeps the end.
func last(messages iter.Seq[schema.Message], most int) iter.Seq[schema.Message] {
	var kept []schema.Message
	for m := range messages {
		if kept = append(kept, m); len(kept) == 2*most {
			kept = append(kept[:0], kept[most:]...)
		}
	}
	return slices.Values(kept[max(0, len(kept)-most):])
}

// numbered makes 0, which a Go caller may leave, the first turn and step.
func (c Context) numbered() Context {
	c.Turn = max(c.Turn, 1)
	c.Step = max(c.Step, 1)
	return c
}

// Contribution is what an injector gives (P7). It grants nothing: there is no
// field for anything but text. When is its timing for this turn; empty means
// every_turn. Predicate decides for on_input; nil means true. It is ignored for
// the other timings (P8). Ignored names what was given beside these and changed
// nothing (P7); it is reported.
type Contribution struct {
	Instructions  string
	ContextBlocks []schema.ContextBlock
	When          schema.When
	Predicate     func(Context) bool
	Ignored       []string
}

// Func is the injector of that name whose contribution fn makes anew for each
// turn.
func Func(name string, fn func(context.Context, Context) (Contribution, error)) Injector {
	return funcInjector{name, fn}
}

type funcInjector struct {
	name string
	fn   func(context.Context, Context) (Contribution, error)
}

func (f funcInjector) Name() string { return f.name }

func (f funcInjector) Apply(ctx context.Context, c Context) (Contribution, error) {
	return f.fn(ctx, c)
}
