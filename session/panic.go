package session

import (
	"errors"

	"go.uber.org/zap"

	"github.com/prism-rpc/prism-rpc/internal/panics"
)

var errPanicked = errors.New("the run panicked")

// guardedExecute is execute that holds a panic to the run: it ends, and its
// session goes on.
func (r *Run) guardedExecute() (more bool) {
	defer func() {
		if v := recover(); v != nil {
			r.session.manager.cfg.Logger.Error(panics.Text("a run", v), zap.String("session", r.session.id), zap.String("run", r.id))
			more = r.abandon()
		}
	}()
	return r.execute()
}

// abandon takes a run that panicked off its session.
func (r *Run) abandon() (more bool) {
	s := r.session
	s.mu.Lock()
	if s.running == r {
		s.running, s.settled = nil, r.settled
	}
	more = len(s.queue) > 0
	s.mu.Unlock()
	select {
	case <-r.done:
	default:
		r.end(nil, errPanicked)
	}
	return more
}

// guard is deferred in goroutines that have no run to end.
func (m *Manager) guard(where string) {
	// recover has to be called by the deferred function itself
	if v := recover(); v != nil {
		m.cfg.Logger.Error(panics.Text(where, v))
	}
}
