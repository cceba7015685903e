package session

// An order is a list of sessions. It runs through themselves, which takes less
// memory than a list around them.
type order struct {
	first, last *Session
	len         int
}

// toBack makes s the last, be it in the list or not.
func (o *order) toBack(s *Session) {
	o.remove(s)
	s.before = o.last
	if s.before == nil {
		o.first = s
	} else {
		s.before.after = s
	}
	o.last = s
	o.len++
}

// remove takes s off the list, if it is there.
func (o *order) remove(s *Session) {
	if s.before == nil && o.first != s {
		return
	}
	if s.before == nil {
		o.first = s.after
	} else {
		s.before.after = s.after
	}
	if s.after == nil {
		o.last = s.before
	} else {
		s.after.before = s.before
	}
	s.before, s.after = nil, nil
	o.len--
}
