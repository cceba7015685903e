package session

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"
)

// A session that has been idle for Config.IdleLock gives its log's lock back,
// so that another process can take it. What is in memory stays; the log is
// opened again before the next write, and what others added is taken in.

// hold takes log as the session's; logMu is held.
func (s *Session) hold(log Log) {
	s.log, s.mark = log, ""
	s.mu.Lock()
	s.resting, s.usedAt = false, time.Now().UnixMilli()
	s.mu.Unlock()
	s.manager.idle.within(s.manager.cfg.IdleLock, s.manager.restIdle)
}

// dropLog lets go of the log, and makes durable what somebody may still wait
// for; logMu is held.
func (s *Session) dropLog() error {
	if s.log == nil {
		return nil
	}
	err := s.sync()
	log := s.log
	s.log = nil
	return errors.Join(err, log.Close())
}

// restIdle gives back the locks of all sessions that have been idle for long
// enough, and comes again when the next ones may have been.
func (m *Manager) restIdle() {
	defer m.guard("letting go of idle sessions")
	m.idle.fired()
	m.mu.Lock()
	all := slices.Collect(maps.Values(m.sessions))
	m.mu.Unlock()
	var next time.Duration
	for _, s := range all {
		if wait := s.rest(); wait > 0 && (next == 0 || wait < next) {
			next = wait
		}
	}
	if next > 0 {
		m.idle.within(next, m.restIdle)
	}
}

// rest gives the session's lock back if it is idle. It tells how long it must
// go on to be unused before it is; 0 when there is no lock.
func (s *Session) rest() time.Duration {
	if !s.logMu.TryLock() {
		return s.manager.cfg.IdleLock // something is being written
	}
	defer s.logMu.Unlock()
	if s.log == nil {
		return 0
	}
	if wait := s.idleIn(); wait > 0 {
		return wait
	}
	s.mark = s.log.Mark()
	if err := s.dropLog(); err != nil {
		s.manager.cfg.Logger.Warn("an idle session's log was not closed", zap.String("session", s.id), zap.Error(err))
	}
	return 0
}

// idleIn is how long the session must go on to be unused before its lock goes
// back; 0 when that is now, and it rests from then on.
func (s *Session) idleIn() time.Duration {
	most := s.manager.cfg.IdleLock
	if !s.saving.TryLock() {
		return most
	}
	defer s.saving.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy() {
		return most
	}
	wait := time.Until(time.UnixMilli(s.usedAt).Add(most))
	s.resting = wait <= 0
	return max(wait, 0)
}

// An idleWatch is the one timer of all sessions. There is none before the first
// log is opened.
type idleWatch struct {
	mu    sync.Mutex
	timer *time.Timer
	at    time.Time // when it fires; zero: it doesn't
}

// within makes sure that do, which is always the same, is called no later than
// after d.
func (w *idleWatch) within(d time.Duration, do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := time.Now().Add(d)
	switch {
	case w.timer == nil:
		w.timer = time.AfterFunc(d, do) // nobody waits for it: it ends by itself, and finds nothing to do once the logs are closed
	case w.at.IsZero() || at.Before(w.at):
		w.timer.Reset(d)
	default:
		return
	}
	w.at = at
}

// fired says that the timer runs no more.
func (w *idleWatch) fired() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at = time.Time{}
}

func (w *idleWatch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Stop()
	}
}

// wake makes sure that the session's log is open, and stays so for a while.
// Errors: *LockedError, ErrStore; errGone when what is in memory is of no use
// any more.
func (s *Session) wake() error {
	s.mu.Lock()
	s.usedAt = time.Now().UnixMilli()
	resting := s.resting
	s.mu.Unlock()
	if !resting {
		return s.overtaken()
	}
	s.logMu.Lock()
	defer s.logMu.Unlock()
	if s.log != nil {
		return nil
	}
	var added [][]byte
	log, err := s.manager.cfg.Store.OpenFrom(s.id, s.mark, collect(&added))
	if err != nil {
		return reopenFailed(err)
	}
	if err := s.takeIn(added); err != nil {
		s.mark = unusable
		return errors.Join(errGone, log.Close())
	}
	s.hold(log)
	return nil
}

// catchUp is wake for reading, which takes nothing.
func (s *Session) catchUp() error {
	s.mu.Lock()
	resting := s.resting
	s.mu.Unlock()
	if !resting {
		return s.overtaken()
	}
	s.logMu.Lock()
	defer s.logMu.Unlock()
	if s.log != nil {
		return nil
	}
	var added [][]byte
	mark, err := s.manager.cfg.Store.ReadFrom(s.id, s.mark, collect(&added))
	if err != nil {
		return reopenFailed(err)
	}
	if err := s.takeIn(added); err != nil {
		s.mark = unusable
		return errGone
	}
	s.mark = mark
	return nil
}

// overtaken is errGone for a session of which nothing is written yet, when
// another process has made one of its id meanwhile. One in which something runs
// finds that out when it writes.
func (s *Session) overtaken() error {
	if s.manager.cfg.Store == nil || !s.logMu.TryLock() {
		return nil // nobody else can have one, or it is being written
	}
	defer s.logMu.Unlock()
	if s.log != nil || s.mark != "" || s.inUse() {
		return nil
	}
	switch made, err := s.manager.cfg.Store.Exists(s.id); {
	case err != nil:
		return storeFailed(err)
	case made:
		return errGone
	}
	return nil
}

func (s *Session) inUse() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.busy()
}

// unusable is a mark that no store gave: the log must be read anew.
const unusable Mark = "unusable"

func reopenFailed(err error) error {
	var locked *LockedError
	switch {
	case errors.Is(err, ErrRewritten), errors.Is(err, ErrNotFound):
		return errGone
	case errors.As(err, &locked):
		return err
	}
	return storeFailed(err)
}

func collect(records *[][]byte) func([]byte) error {
	return func(record []byte) error {
		*records = append(*records, bytes.Clone(record))
		return nil
	}
}

// takeIn replays what others have added to the log of an idle session.
func (s *Session) takeIn(records [][]byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, record := range records {
		if err := s.replay(record); err != nil {
			return err
		}
	}
	return s.endReplay()
}
