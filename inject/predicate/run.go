package predicate

import (
	"errors"
	"fmt"
	"time"
)

// ErrBudget says that the conditions of a turn took too long, or that one
// copied too much text.
var ErrBudget = errors.New("the turn's time for predicates is spent")

var errDivision = errors.New("division by zero")

// mismatch says that values turned out to be of the wrong kind.
func mismatch(what string, values ...any) error {
	kinds := make([]kind, len(values))
	for i, v := range values {
		kinds[i] = kindOf(v)
	}
	return fmt.Errorf("%s can't be had of %v", what, kinds)
}

// Work is counted in bytes of text looked at; other work in what takes as long.
const (
	perElement = 16
	perRound   = 256
	perLook    = 64 << 10 // work between two looks at the clock
	maxCopied  = 8 << 20  // bytes that one evaluation may copy
)

// A run is one evaluation.
type run struct {
	turn     *Turn
	item     any // of the list that any, all, none, one or count goes through
	deadline time.Time
	work     int // since the last look at the clock
	copies   int // bytes that may still be copied
}

// spend counts work and fails past the deadline.
func (r *run) spend(work int) error {
	if r.work += work; r.work < perLook {
		return nil
	}
	r.work = 0
	if !time.Now().Before(r.deadline) {
		return ErrBudget
	}
	return nil
}

// copy counts work that makes a new text.
func (r *run) copy(bytes int) error {
	if r.copies -= bytes; r.copies < 0 {
		return ErrBudget
	}
	return r.spend(4 * bytes)
}
