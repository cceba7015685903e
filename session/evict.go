package session

// writable is the session of s's id that is in memory now: s, unless it was
// let go of since. Errors: those of Manager.Lookup.
func (s *Session) writable() (*Session, error) {
	s.mu.Lock()
	gone := s.gone
	s.mu.Unlock()
	if !gone {
		return s, nil
	}
	return s.manager.Lookup(s.id)
}
