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
	if i := slices.Index(s.queue, r); i >= 0 {
		s.queue = slices.Delete(s.queue, i, i+1)
		s.queueBytes -= r.size
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

// endQueued answers a run that never started: it has no turn and no event but
// prompt_queued.
func (r *Run) endQueued() {
	r.end(&schema.TurnResult{
		SessionID: r.session.id, RunID: r.id, StopReason: schema.StopCancelled,
		Message: schema.AssistantText(""), Injected: []schema.Injected{}, Redacted: r.tally.list(),
	}, nil)
}

// Abort cancels the running turn, or the one run of that id, running or
// queued; with clear also all that wait. It returns the runs that it
// cancelled, the queued ones first.
func (s *Session) Abort(runID string, clear bool) []*Run {
	s.mu.Lock()
	var targets []*Run
	for _, r := range s.queue {
		if clear || runID != "" && r.id == runID {
			targets = append(targets, r)
		}
	}
	if s.running != nil && (runID == "" || s.running.id == runID) {
		targets = append(targets, s.running)
	}
	s.mu.Unlock()
	return slices.DeleteFunc(targets, func(r *Run) bool { return !r.Cancel() })
}
