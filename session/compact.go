package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/schema"
)

// compacted is what a session sends instead of its older turns. Its log and
// its history keep them.
type compacted struct {
	generation int               // compactions, so far
	through    int               // the last turn that the summary stands for; 0: there is none
	sent       *provider.History // the summary and the turns behind it; nil without one
}

// CompactOptions are the settings of one compaction that somebody asked for.
type CompactOptions struct {
	Instructions string         // what the summary must heed
	RequestID    jsontext.Value // shows in the session's state

	// OnEvent gets the compaction's events, as RunOptions.OnEvent gets a run's.
	OnEvent func(schema.Event)
}

// A Compaction is one that somebody asked for. It takes the session's place
// for a run: nothing else runs in the session while it does.
type Compaction struct{ run *Run }

// askedCompaction is what a Run holds that makes a summary instead of a turn.
type askedCompaction struct {
	instructions string
	noProvider   error
	result       *schema.CompactResult
}

var errCompactionCancelled = fmt.Errorf("%w: %w", errCancelled, context.Canceled)

// Compact asks for a summary to stand for all turns that none stands for yet,
// and returns without waiting for it. When ctx ends, it is cancelled. Errors:
// *BusyError, ErrNotFound, *LockedError, ErrStore, ErrClosed.
func (s *Session) Compact(ctx context.Context, o CompactOptions) (*Compaction, error) {
	for {
		s, err := s.writable()
		if err != nil {
			return nil, err
		}
		r := s.newCompaction(ctx, o)
		if ctx.Err() != nil {
			r.cancelled = true // nobody else knows r yet
			r.cancel(errCancelled)
		}
		if _, err = s.accept(r, false); errors.Is(err, errGone) {
			continue
		}
		if err != nil {
			return nil, err
		}
		r.stop = context.AfterFunc(ctx, func() { r.Cancel() })
		close(r.announced)
		return &Compaction{r}, nil
	}
}

func (s *Session) newCompaction(ctx context.Context, o CompactOptions) *Run {
	asked := &askedCompaction{}
	r := &Run{
		RunOptions: RunOptions{RequestID: o.RequestID, OnEvent: o.OnEvent},
		id:         newRunID(), session: s, asked: asked, acceptedAt: time.Now(),
		announced: make(chan struct{}), done: make(chan struct{}), settled: make(chan struct{}),
	}
	s.mu.Lock()
	r.redactor = s.redactor()
	model := s.model()
	s.mu.Unlock()
	asked.instructions = r.redactor.Text(o.Instructions, nil)
	if asked.noProvider = checkModel(r.redactor, model); asked.noProvider == nil {
		r.provider, r.model, asked.noProvider = s.manager.provider(model)
	}
	r.ctx, r.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	return r
}

// ID is the id that the compaction's events bear, and by which Abort finds it.
func (c *Compaction) ID() string { return c.run.id }

// Wait waits for the end. Errors: context.Canceled when it was cancelled or
// aborted, *ProviderError, ErrNoProvider, ErrStore. After any of them all is as
// it was.
func (c *Compaction) Wait() (*schema.CompactResult, error) {
	<-c.run.done
	return c.run.asked.result, c.run.err
}

// Settle is Run.Settle: whoever called Compact must call it.
func (c *Compaction) Settle() { c.run.Settle() }

// executeAsked is execute for a compaction that somebody asked for.
func (r *Run) executeAsked() (more bool) {
	s := r.session
	result, err := r.condense(schema.CompactManual, allOf)
	s.mu.Lock()
	s.running, s.settled, s.usedAt = nil, r.settled, time.Now().UnixMilli()
	more = len(s.queue) > 0
	s.mu.Unlock()
	r.asked.result = result
	r.end(nil, err)
	return more
}

// status tells what the session does; mu is held.
func (s *Session) status() schema.SessionStatus {
	next := s.running
	if next == nil && len(s.queue) > 0 {
		next = s.queue[0]
	}
	switch {
	case next == nil:
		return schema.StatusIdle
	case next.asked != nil || next.condensing:
		return schema.StatusCompacting
	}
	return schema.StatusRunning
}
