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

// maxAsked bounds the injectors of one turn that run at the same time.
const maxAsked = 64

// Apply asks the selected injectors what they give to the turn that c
// describes, and says of each, in the order of selection, what became of it:
// what is due is redacted (P8–P10). Those that are data come first; those that
// run code then run side by side. c holds no secrets any more; each injector
// gets a copy of its own. An error is ctx's cause, when ctx ends before all have
// answered, or a *FailedError: then nothing is to be injected, and what still
// runs is cancelled.
//
// An injector that outlasts its time is left behind: Apply waits no longer,
// and what it returns afterwards is dropped.
func Apply(ctx context.Context, selected []Resolved, c Context, red *redact.Redactor, tally *redact.Tally, opts Options) (Decisions, error) {
	e := newEvaluation(c, opts)
	inquiries := make([]inquiry, len(selected))
	for i, r := range selected {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		inquiries[i] = e.read(r.Injector)
		if err := inquiries[i].known.err; err != nil && fails(r.Injector) {
			return nil, &FailedError{r.Name, failure(err), err}
		}
	}
	asking, cancel := context.WithCancel(ctx)
	defer cancel()
	for i := range inquiries {
		e.ask(asking, &inquiries[i])
	}
	out := make(Decisions, 0, len(selected))
	for i, r := range selected {
		d := e.decide(r, inquiries[i].wait(), red, tally)
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
	running    chan struct{}   // has an element for each injector that runs
}

func newEvaluation(c Context, opts Options) *evaluation {
	c, opts = c.numbered(), opts.withDefaults()
	return &evaluation{c, opts, predicate.NewTurn(c.facts(), opts.PredicateTime), make(chan struct{}, maxAsked)}
}

// An answer is what an injector contributes; nil when it is not due.
type answer struct {
	c      *Contribution
	reason schema.Reason // why c is nil
	err    error
}

// An inquiry is a question on its way to its answer.
type inquiry struct {
	known answer        // of an injector that is data, or not due
	open  *opened       // else
	later <-chan answer // what comes of open
}

// An opened injector is to be asked: run runs its code.
type opened struct {
	injector Injector
	scope    schema.Scope
	run      func(context.Context, Injector, Context, schema.Scope) answer
}

func (q inquiry) wait() answer {
	if q.later == nil {
		return q.known
	}
	return <-q.later
}

// decide makes of r's answer what stands in the request.
func (e *evaluation) decide(r Resolved, got answer, red *redact.Redactor, tally *redact.Tally) Decision {
	d := newDecision(r)
	switch {
	case got.err != nil:
		d.Reason, d.Err = failure(got.err), got.err
		return d
	case got.c == nil:
		d.Reason = got.reason
		return d
	}
	d.When = cmp.Or(got.c.When, schema.WhenEveryTurn)
	a := newApplied(r, *got.c, e.opts.Frame, red, tally)
	if a.Empty() {
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

// read finds out what can be known of inj without its code.
func (e *evaluation) read(inj Injector) inquiry {
	inj, set := settingsOf(inj)
	switch own := inj.(type) {
	case *static:
		if !own.asks() {
			return inquiry{known: e.readStatic(own, set.Scope)}
		}
	case *gated:
		scope := cmp.Or(set.Scope, own.Scope)
		reason, err := own.closed(e.context, e.conditions, scope)
		if reason != "" || err != nil {
			return inquiry{known: answer{reason: reason, err: err}}
		}
		run := guarded
		if own.prompt {
			run = safely
		}
		return inquiry{open: &opened{own.open(), scope, run}}
	}
	return inquiry{open: &opened{inj, set.Scope, guarded}}
}

func (e *evaluation) readStatic(s *static, scope schema.Scope) answer {
	if s.fault != nil {
		return answer{err: s.fault}
	}
	if reason := undue(s.c, e.context, scope); reason != "" {
		return answer{reason: reason}
	}
	if s.condition != nil {
		if holds, err := s.condition.Eval(e.conditions); err != nil || !holds {
			return answer{reason: schema.ReasonPredicateFalse, err: err}
		}
	}
	return answer{c: &s.c}
}

// ask begins to run the code that it takes, if any.
func (e *evaluation) ask(ctx context.Context, q *inquiry) {
	if q.open == nil {
		return
	}
	later, of := make(chan answer, 1), q.open
	q.later = later
	go func() { // ends soon after ctx; Apply reads what it sends, unless the turn fails before
		got := answer{err: errExited}
		defer func() { later <- got }()
		got = e.run(ctx, of)
	}()
}

// run runs code when there is room, within its time.
func (e *evaluation) run(ctx context.Context, of *opened) answer {
	select {
	case e.running <- struct{}{}:
		defer func() { <-e.running }()
	case <-ctx.Done():
		return answer{err: context.Cause(ctx)}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, e.opts.Timeout, ErrTimeout)
	defer cancel()
	got := of.run(ctx, of.injector, e.context, of.scope)
	if got.err != nil && ctx.Err() != nil {
		return answer{err: context.Cause(ctx)}
	}
	return got
}

// guarded runs foreign code in a goroutine of its own, so that it can't hold
// the turn.
func guarded(ctx context.Context, inj Injector, c Context, scope schema.Scope) answer {
	done := make(chan answer, 1)
	go func() { // guarded waits for it until ctx ends; after that nobody does
		got := answer{err: errExited}
		defer func() { done <- got }()
		got = safely(ctx, inj, c, scope)
	}()
	select {
	case got := <-done:
		return got
	case <-ctx.Done():
		return answer{err: context.Cause(ctx)}
	}
}

// safely runs foreign code so that a panic of it stops neither the turn nor the
// process.
func safely(ctx context.Context, inj Injector, c Context, scope schema.Scope) (got answer) {
	defer func() {
		if v := recover(); v != nil {
			got = answer{err: fmt.Errorf("%w with a %T", ErrPanicked, v)}
		}
	}()
	return contribution(ctx, inj, c.Clone(), c.Clone(), scope)
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
