package inject

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prism-rpc/prism-rpc/inject/predicate"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
)

// Why an injector was skipped, beside what it returned itself.
var (
	ErrTimeout  = errors.New("injector gave nothing in time")
	ErrPanicked = errors.New("injector panicked")
	errExited   = errors.New("injector ended its goroutine")
)

// Options bound one evaluation; the zero value works.
type Options struct {
	Timeout       time.Duration // for each injector that runs code, its predicate included; default 5 s
	PredicateTime time.Duration // for all predicates of a turn that are data; default 50 ms
	Frame         Framer        // of workspace text placed as context or notice
}

// What holds where Options say nothing.
const (
	DefaultTimeout       = 5 * time.Second
	DefaultPredicateTime = 50 * time.Millisecond
)

func (o Options) withDefaults() Options {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.PredicateTime <= 0 {
		o.PredicateTime = DefaultPredicateTime
	}
	return o
}

// A FailedError ends the turn: an injector failed whose settings say so (P10).
// Err is for logs, which redact it; it says nothing about the turn's own end,
// so it is not unwrapped.
type FailedError struct {
	Name   string
	Reason schema.Reason
	Err    error
}

func (e *FailedError) Error() string {
	if e.Reason == schema.ReasonTimeout {
		return "instruction injector " + e.Name + " gave nothing in time"
	}
	return "instruction injector " + e.Name + " failed"
}

// Apply asks each selected injector, in order, what it gives to the turn that
// c describes, and says of each what became of it: what is due is redacted
// (P8–P10). c holds no secrets any more; each injector gets a copy of its own.
// An error is ctx's cause, when ctx ends before all were asked, or a
// *FailedError: then nothing is to be injected.
//
// An injector that outlasts its time is left behind: Apply waits no longer,
// and what it returns afterwards is dropped.
func Apply(ctx context.Context, selected []Resolved, c Context, red *redact.Redactor, tally *redact.Tally, opts Options) (Decisions, error) {
	out := make(Decisions, 0, len(selected))
	e := newEvaluation(c, opts)
	for _, r := range selected {
		if ctx.Err() != nil {
			break
		}
		d := e.decide(ctx, r, red, tally)
		if d.Skipped() && fails(r.Injector) && ctx.Err() == nil {
			return nil, &FailedError{d.Name, d.Reason, d.Err}
		}
		out = append(out, d)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return out, nil
}

func fails(inj Injector) bool {
	_, set := settingsOf(inj)
	return set.OnError == schema.OnErrorFail
}

// An evaluation is the asking of one turn's injectors.
type evaluation struct {
	context    Context
	opts       Options
	conditions *predicate.Turn // what the predicates that are data share
}

func newEvaluation(c Context, opts Options) *evaluation {
	c, opts = c.numbered(), opts.withDefaults()
	return &evaluation{c, opts, predicate.NewTurn(c.facts(), opts.PredicateTime)}
}

// decide asks r and makes of its answer what stands in the request.
func (e *evaluation) decide(ctx context.Context, r Resolved, red *redact.Redactor, tally *redact.Tally) Decision {
	d := newDecision(r)
	got, reason, err := e.ask(ctx, r.Injector)
	switch {
	case err != nil:
		d.Reason, d.Err = failure(err), err
		return d
	case got == nil:
		d.Reason = reason
		return d
	}
	d.When = cmp.Or(got.When, schema.WhenEveryTurn)
	a := newApplied(r, *got, e.opts.Frame, red, tally)
	if a.empty() {
		d.Reason = schema.ReasonSkipped
		return d
	}
	d.Reason, d.Applied = schema.ReasonApplied, &a
	return d
}

func failure(err error) schema.Reason {
	if errors.Is(err, ErrTimeout) || errors.Is(err, predicate.ErrBudget) {
		return schema.ReasonTimeout
	}
	return schema.ReasonError
}

// ask returns what inj contributes to the turn; nil when it is not due, and
// why.
func (e *evaluation) ask(ctx context.Context, inj Injector) (*Contribution, schema.Reason, error) {
	inj, set := settingsOf(inj)
	if s, ok := inj.(*static); ok && !s.asks() {
		return e.read(s, set.Scope)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, e.opts.Timeout, ErrTimeout)
	defer cancel()
	return guarded(ctx, inj, e.context, set.Scope)
}

// read is ask of an injector that is data alone.
func (e *evaluation) read(s *static, scope schema.Scope) (*Contribution, schema.Reason, error) {
	if s.fault != nil {
		return nil, "", s.fault
	}
	if reason := undue(s.c, e.context, scope); reason != "" {
		return nil, reason, nil
	}
	if s.condition != nil {
		if holds, err := s.condition.Eval(e.conditions); err != nil || !holds {
			return nil, schema.ReasonPredicateFalse, err
		}
	}
	return &s.c, "", nil
}

type answer struct {
	c      *Contribution
	reason schema.Reason // why c is nil
	err    error
}

// guarded runs foreign code in a goroutine of its own, so that it can neither
// stop the turn nor hold it.
func guarded(ctx context.Context, inj Injector, c Context, scope schema.Scope) (*Contribution, schema.Reason, error) {
	forApply, forPredicate := c.Clone(), c.Clone()
	done := make(chan answer, 1)
	go func() { // guarded waits for it until ctx ends; after that nobody does
		got := answer{err: errExited}
		defer func() {
			if v := recover(); v != nil {
				got = answer{err: fmt.Errorf("%w with a %T", ErrPanicked, v)}
			}
			done <- got
		}()
		got = contribution(ctx, inj, forApply, forPredicate, scope)
	}()
	select {
	case got := <-done:
		if got.err != nil && ctx.Err() != nil {
			return nil, "", context.Cause(ctx)
		}
		return got.c, got.reason, got.err
	case <-ctx.Done():
		return nil, "", context.Cause(ctx)
	}
}

func contribution(ctx context.Context, inj Injector, forApply, forPredicate Context, scope schema.Scope) answer {
	c, err := inj.Apply(ctx, forApply)
	if err == nil {
		err = c.Check()
	}
	if err != nil {
		return answer{err: err}
	}
	if reason := undue(c, forPredicate, scope); reason != "" {
		return answer{reason: reason}
	}
	return answer{c: &c}
}

// undue says why c is not due; empty when it is. The timing alone decides,
// unless it is on_input. The first turn of a run is its first provider call.
func undue(c Contribution, turn Context, scope schema.Scope) schema.Reason {
	switch c.When {
	case schema.WhenFirstTurn:
		if scope == schema.ScopeRun && turn.Step == 1 || scope != schema.ScopeRun && turn.Turn == 1 {
			return ""
		}
		return schema.ReasonNotDue
	case schema.WhenOnInput:
		if c.Predicate != nil && !c.Predicate(turn) {
			return schema.ReasonPredicateFalse
		}
	}
	return ""
}
