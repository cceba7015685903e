package session

import "go.uber.org/zap"

// A Manager with a store holds at most Limits.MaxIdle idle sessions in memory:
// beyond that, those that were used longest ago are let go of, and come back
// from the store when they are asked for.

// triedAtOnce bounds how many sessions that can't be let go of are looked at
// each time.
const triedAtOnce = 16

// used notes that s is in use; mu is held.
func (m *Manager) used(s *Session) { m.order.toBack(s) }

// forget takes s out of memory; mu is held.
func (m *Manager) forget(s *Session) {
	if m.sessions[s.id] == s {
		delete(m.sessions, s.id)
		m.sent.drop(s.id)
	}
	m.order.remove(s)
}

// discard takes a session out of memory of which the log says something else;
// nil is none.
func (m *Manager) discard(s *Session) {
	if s == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = true
	m.forget(s)
}

// trim lets go of the sessions beyond those that may stay, but never of the one
// that was used last: whoever asked for it is about to work with it. mu is held.
func (m *Manager) trim() {
	if m.cfg.Store == nil {
		return
	}
	for range triedAtOnce {
		if m.order.len-m.running-len(m.ready) <= m.cfg.Limits.MaxIdle {
			return
		}
		oldest, newest := m.order.first, m.order.last
		if oldest == newest {
			return
		}
		if !m.evict(oldest) {
			m.order.toBack(oldest)
			m.order.toBack(newest)
		}
	}
}

// evict lets go of a session if the store has all that is known of it, nothing
// is being done with it, and its last answer has been passed on; mu is held.
func (m *Manager) evict(s *Session) bool {
	if !s.saving.TryLock() {
		return false
	}
	defer s.saving.Unlock()
	if !s.logMu.TryLock() {
		return false
	}
	defer s.logMu.Unlock()
	if s.unsynced || s.log == nil && s.mark == "" || !s.retire() {
		return false
	}
	if err := s.dropLog(); err != nil {
		m.cfg.Logger.Warn("a session's log was not closed", zap.String("session", s.id), zap.Error(err))
	}
	m.forget(s)
	return true
}

// retire marks a session as gone that nothing but memory needs.
func (s *Session) retire() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy() || s.gone || s.settled != nil || s.hiding.own != nil {
		return false
	}
	s.gone = true
	return true
}

// writable is the session of s's id that can be written to: s, unless it or
// its log was let go of. Errors: those of Manager.Lookup.
func (s *Session) writable() (*Session, error) {
	if s.isOpen() {
		return s, nil
	}
	return s.manager.Lookup(s.id)
}

func (s *Session) isOpen() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.gone && !s.resting
}

// present is the session of s's id as it is now, for reading.
func (s *Session) present() *Session {
	if s.isOpen() {
		return s
	}
	now, err := s.manager.View(s.id)
	if err != nil {
		return s // what was known of it last
	}
	return now
}
