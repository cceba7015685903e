package inject

import (
	"context"
	"errors"
	"fmt"
	"time"

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
	Timeout time.Duration // for each injector, its predicate included; default 5 s
}

// DefaultTimeout is how long an injector may take where Options say nothing.
const DefaultTimeout = 5 * time.Second

// SkipReason says why an injector that was selected gave nothing.
type SkipReason string

// The reasons.
const (
	SkipError   SkipReason = "error"
	SkipTimeout SkipReason = "timeout"
)

// Skipped is an injector that failed: it injects nothing, the turn goes on
// (P10). Err is for logs, which redact it.
type Skipped struct {
	Name   string
	Reason SkipReason
	Err    error
}

// Apply asks each selected injector, in order, what it gives to the turn that
// c describes, and returns what is due, redacted (P8–P10). c holds no secrets
// any more; each injector gets a copy of its own. An injector that is not due,
// or gives nothing, is in neither list. The one error is ctx's cause, when ctx
// ends before all were asked: then nothing is to be injected.
//
// An injector that outlasts its time is left behind: Apply waits no longer,
// and what it returns afterwards is dropped.
func Apply(ctx context.Context, selected []Resolved, c Context, red *redact.Redactor, tally *redact.Tally, opts Options) ([]Applied, []Skipped, error) {
	var applied []Applied
	var skipped []Skipped
	c = c.numbered()
	for _, r := range selected {
		if ctx.Err() != nil {
			break
		}
		got, err := ask(ctx, r.Injector, c, opts)
		switch {
		case err != nil:
			skipped = append(skipped, skip(r.Name, err))
		case got != nil:
			if a := newApplied(r, *got, red, tally); !a.empty() {
				applied = append(applied, a)
			}
		}
	}
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	return applied, skipped, nil
}

func skip(name string, err error) Skipped {
	if errors.Is(err, ErrTimeout) {
		return Skipped{name, SkipTimeout, err}
	}
	return Skipped{name, SkipError, err}
}

// ask returns what inj contributes to the turn; nil when it is not due.
func ask(ctx context.Context, inj Injector, c Context, opts Options) (*Contribution, error) {
	if s, ok := inj.(*static); ok && !s.asks() {
		if s.fault != nil || !due(s.c, c) {
			return nil, s.fault
		}
		return &s.c, nil
	}
	timeout := opts.Timeout
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, ErrTimeout)
	defer cancel()
	return guarded(ctx, inj, c)
}

type answer struct {
	c   *Contribution
	err error
}

// guarded runs foreign code in a goroutine of its own, so that it can neither
// stop the turn nor hold it.
func guarded(ctx context.Context, inj Injector, c Context) (*Contribution, error) {
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
		got = contribution(ctx, inj, forApply, forPredicate)
	}()
	select {
	case got := <-done:
		if got.err != nil && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return got.c, got.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func contribution(ctx context.Context, inj Injector, forApply, forPredicate Context) answer {
	c, err := inj.Apply(ctx, forApply)
	if err == nil {
		err = c.Check()
	}
	if err != nil || !due(c, forPredicate) {
		return answer{err: err}
	}
	return answer{c: &c}
}

// due decides by the timing alone, unless it is on_input.
func due(c Contribution, turn Context) bool {
	switch c.When {
	case schema.WhenFirstTurn:
		return turn.Turn == 1
	case schema.WhenOnInput:
		return c.Predicate == nil || c.Predicate(turn)
	}
	return true
}
