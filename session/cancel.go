package session

import (
	"slices"

	"github.com/prism-rpc/prism-rpc/schema"
)

// Cancel stops the run if its outcome still can change, and tells whether it
// could.
func (r *Run) Cancel() bool {
	s := r.session
	s.mu.Lock()
	if len(s.unqueue(func(q *Run) bool { return q == r })) > 0 {
		s.mu.Unlock()
		r.endQueued()
		return true
	}
	defer s.mu.Unlock()
	if s.running != r || r.closing {
		return false
	}
	r.cancelled = true
	r.cancel(errCancelled)
	return true
}

// forsaken cancels the run where its caller has ended, which may be about to
// reach it: what an injector of the caller's could not say any more must not be
// missing in a request.
func (r *Run) forsaken() bool { return r.caller.Err() != nil && r.Cancel() }

// endQueued answers a run that never started: it has no turn and no event but
// prompt_queued.
func (r *Run) endQueued() {
	if r.asked != nil {
		r.end(nil, errCompactionCancelled)
		return
	}
	r.end(&schema.TurnResult{
		SessionID: r.session.id, RunID: r.id, StopReason: schema.StopCancelled,
		Message: schema.AssistantText(""), Injected: []schema.Injected{}, Redacted: r.tally.list(),
	}, nil)
}

// Abort cancels the running turn, or the one run of that id, running or
// queued; with clear also all that wait. It returns the runs that it
// cancelled, in the order in which they were asked for, which is also the
// order in which they end.
func (s *Session) Abort(runID string, clear bool) []*Run {
	s = s.present()
	s.mu.Lock()
	var targets []*Run
	if r := s.running; r != nil && !r.closing && (runID == "" || r.id == runID) {
		r.cancelled = true
		r.cancel(errCancelled)
		targets = append(targets, r)
	}
	queued := s.unqueue(func(r *Run) bool { return clear || runID != "" && r.id == runID })
	s.mu.Unlock()
	if len(queued) > 0 {
		s.manager.spawn(func() { endInOrder(slices.Concat(targets, queued)) })
	}
	return append(targets, queued...)
}

// unqueue takes runs out of the queue; mu is held.
func (s *Session) unqueue(which func(*Run) bool) []*Run {
	var out []*Run
	s.queue = slices.DeleteFunc(s.queue, func(r *Run) bool {
		if !which(r) {
			return false
		}
		out = append(out, r)
		return true
	})
	return out
}

// endInOrder ends the runs that never started, each when the one before it is
// settled.
func endInOrder(runs []*Run) {
	for _, r := range runs {
		if r.startedAt.IsZero() {
			r.endQueued()
		}
		<-r.settled
	}
}
