package session

import (
	"slices"
	"time"

	"github.com/prism-rpc/prism-rpc/schema"
)

// checkTurn tells whether r could be accepted now.
func (s *Session) checkTurn(r *Run, queue bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.admits(r, queue)
}

// admits is checkTurn with mu held.
func (s *Session) admits(r *Run, queue bool) error {
	limits := s.manager.cfg.Limits
	switch {
	case s.doomed, !queue && s.busy():
		return &BusyError{Turn: s.runningTurn(), Queued: len(s.queue)}
	case len(s.queue) >= limits.MaxQueue:
		return &FullError{Limit: limits.MaxQueue}
	case len(s.queue) > 0 && s.queueBytes()+r.size > limits.MaxQueueBytes:
		return &FullError{Limit: limits.MaxQueueBytes}
	case !s.busy() && r.ExpectedTurn > 0 && r.ExpectedTurn != len(s.turns)+1:
		return &ConflictError{Expected: r.ExpectedTurn, Turn: len(s.turns) + 1}
	}
	return nil
}

func (s *Session) queueBytes() (bytes int) {
	for _, r := range s.queue {
		bytes += r.size
	}
	return bytes
}

func (s *Session) runningTurn() int {
	if s.running != nil {
		return s.running.turn
	}
	return len(s.turns) + 1
}

// accept puts r into the queue and lets it start if it may. It tells whether r
// has to wait, and behind how many.
func (s *Session) accept(r *Run, queue bool) (behind int, err error) {
	s.mu.Lock()
	err = s.admits(r, queue)
	switch {
	case s.gone:
		err = errGone
	case s.knows(r.keyHash):
		err = errRaced
	}
	if err != nil {
		s.mu.Unlock()
		return 0, err
	}
	idle := !s.busy()
	s.queue = append(s.queue, r)
	s.mu.Unlock()
	if idle {
		s.manager.schedule(s)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Index(s.queue, r) + 1, nil
}

// announce reports a run that has to wait, and opens the way for its events.
func (r *Run) announce(position int) {
	if position > 0 {
		reason := "session"
		if position == 1 && r.session.current() == nil {
			reason = "server"
		}
		r.emit(&schema.PromptQueued{EventHeader: r.header(schema.EventPromptQueued, 0), RequestID: r.RequestID, Position: position, Reason: reason})
	}
	close(r.announced)
}

// take starts the session's next run: it gets its number and, from the
// registry, the newest version of its injectors (P4). Nil when there is none
// to start.
func (s *Session) take() *Run {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running != nil || len(s.queue) == 0 {
		return nil
	}
	r := s.queue[0]
	s.queue = slices.Delete(s.queue, 0, 1)
	r.startedAt, r.after = time.Now(), s.settled
	if r.asked == nil {
		r.turn = len(s.turns) + 1
	}
	s.running = r
	return r
}
