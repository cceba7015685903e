// Package predicate evaluates the conditions of injectors: expressions that
// come as data, from a file or over the wire, and that nobody vouches for.
//
//	input matches "(?i)json" and turn > 1
//	any(paths, # endsWith ".go")
//
// The syntax is that of github.com/expr-lang/expr, of which only what can be
// bounded is taken: no calls, no concatenation, no ranges, no loops in loops.
// An expression is checked whole when it is compiled: names, types, patterns.
// Evaluating one touches nothing but the turn it is given, allocates a bounded
// amount, and looks at the clock as it goes.
package predicate

import (
	"fmt"
	"time"
)

// Bounds of an expression.
const (
	MaxBytes      = 4 << 10 // of source
	MaxNodes      = 200     // of its syntax tree
	MaxDepth      = 64      // of brackets in brackets, and of signs before one thing
	MaxRegexBytes = 1 << 10
	maxRegexSize  = 2000 // steps of a compiled pattern
)

// An Error says why an expression is refused, and where: Line and Column count
// from 1, in code points.
type Error struct {
	Line, Column int
	Message      string
}

func (e *Error) Error() string {
	if e.Line > 1 {
		return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
	}
	return fmt.Sprintf("column %d: %s", e.Column, e.Message)
}

// A Program is a compiled expression. It may be evaluated from many goroutines
// at once, each with a Turn of its own.
type Program struct {
	condition func(*run) (any, error)
}

// Compile checks and compiles an expression. The error is an *Error.
func Compile(source string) (*Program, error) {
	root, err := parse(source)
	if err != nil {
		return nil, err
	}
	c := &compiler{source: source}
	t, err := c.term(root)
	switch {
	case err != nil:
		return nil, err
	case t.kind == anything:
		return nil, c.refuse(root, "what this gives is known only when it runs; compare it with something, as in metadata.urgent == true")
	case t.kind != boolean:
		return nil, c.refuse(root, "the whole must be true or false, not "+t.String())
	}
	return &Program{t.eval}, nil
}

// Eval tells whether the condition holds in the turn. The error is ErrBudget
// when the turn's time is spent, else it says what can't be evaluated.
func (p *Program) Eval(t *Turn) (bool, error) {
	if t.left <= 0 {
		return false, ErrBudget
	}
	start := time.Now()
	defer func() { t.left -= time.Since(start) }()
	got, err := p.condition(&run{turn: t, deadline: start.Add(t.left), copies: maxCopied})
	if err != nil {
		return false, err
	}
	return got.(bool), nil // as Compile made sure
}
