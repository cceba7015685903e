package session

import (
	"bytes"
	"errors"
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
	s.resting, s.usedAt = false, time.Now()
	s.mu.Unlock()
	s.idle = time.AfterFunc(s.manager.cfg.IdleLock, s.rest) // ends by itself, or does nothing once the log is dropped
}

// dropLog lets go of the log, and makes durable what somebody may still wait
// for; logMu is held.
func (s *Session) dropLog() error {
	if s.log == nil {
		return nil
	}
	s.idle.Stop()
	err := s.sync()
	log := s.log
	s.log = nil
	return errors.Join(err, log.Close())
}

// rest gives the lock back if the session is still idle, else looks again
// later.
func (s *Session) rest() {
	s.logMu.Lock()
	defer s.logMu.Unlock()
	if s.log == nil {
		return
	}
	if wait := s.idleIn(); wait > 0 {
		s.idle.Reset(wait)
		return
	}
	s.mark = s.log.Mark()
	if err := s.dropLog(); err != nil {
		s.manager.cfg.Logger.Warn("an idle session's log was not closed", zap.String("session", s.id), zap.Error(err))
	}
}

// idleIn is how long the session must go on to be unused before its lock goes
// back; 0 when that is now, and it rests from then on.
func (s *Session) idleIn() time.Duration {
	if !s.saving.TryLock() {
		return s.manager.cfg.IdleLock
	}
	defer s.saving.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy() {
		return s.manager.cfg.IdleLock
	}
	wait := time.Until(s.usedAt.Add(s.manager.cfg.IdleLock))
	s.resting = wait <= 0
	return max(wait, 0)
}

// wake makes sure that the session's log is open, and stays so for a while.
// Errors: *LockedError, ErrStore; errGone when what is in memory is of no use
// any more.
func (s *Session) wake() error {
	s.mu.Lock()
	s.usedAt = time.Now()
	resting := s.resting
	s.mu.Unlock()
	if !resting {
		return nil
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
		return nil
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
	defer func() { s.cut = cutTurn{} }()
	return s.endReplay()
}
