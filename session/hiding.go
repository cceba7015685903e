package session

import (
	"slices"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
)

// Learn hides further secrets in all sessions from now on, also in what they
// hold already. The error is a *schema.ParamsError about the field redact.
func (m *Manager) Learn(secrets []schema.SecretValue) error {
	m.learning.Lock()
	defer m.learning.Unlock()
	red, err := withSecrets(m.Redactor(), secrets)
	if err != nil {
		return err
	}
	m.redactor.Store(red)
	return nil
}

// Redactor knows the secrets of all sessions.
func (m *Manager) Redactor() *redact.Redactor { return m.redactor.Load() }

// RedactorOf knows the secrets of all sessions and, while that session is in
// memory, its own.
func (m *Manager) RedactorOf(sessionID string) *redact.Redactor {
	m.mu.Lock()
	s := m.sessions[sessionID]
	m.mu.Unlock()
	if s == nil {
		return m.Redactor()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.redactor()
}

// withSecrets adds values that came over the wire. The error is a
// *schema.ParamsError about the field redact.
func withSecrets(red *redact.Redactor, secrets []schema.SecretValue) (*redact.Redactor, error) {
	if len(secrets) == 0 {
		return red, nil
	}
	values := make([]redact.Value, len(secrets))
	for i, v := range secrets {
		values[i] = redact.Value{Name: v.Name, Secret: redact.NewSecret(v.Value)}
	}
	more, err := red.With(values...)
	if err != nil {
		return nil, schema.BadField("redact", "secret", err.Error())
	}
	return more, nil
}

// hiding is what a session hides, and what its history is known to be free of.
type hiding struct {
	own    *ownSecrets      // beside the manager's; nil: none
	freeOf *redact.Redactor // what the history was last searched with
	free   bool             // that it holds nothing of it
}

// ownSecrets are a session's. They are replaced, never changed, so that sessions
// can share them.
type ownSecrets struct {
	list []schema.SecretValue
	base *redact.Redactor // the manager's that made was made of
	made *redact.Redactor // nil until first used
}

// secrets are the session's own; mu is held.
func (s *Session) secrets() []schema.SecretValue {
	if s.hiding.own == nil {
		return nil
	}
	return s.hiding.own.list
}

// hide makes secrets the session's own; mu is held.
func (s *Session) hide(secrets []schema.SecretValue) {
	s.hiding.own = nil
	if len(secrets) > 0 {
		s.hiding.own = &ownSecrets{list: secrets}
	}
}

// hideAs lets a session that nobody else knows yet hide what another one does.
func (s *Session) hideAs(other *Session) {
	other.mu.Lock()
	defer other.mu.Unlock()
	s.hiding.own = other.hiding.own
}

// redactor knows the manager's secrets and the session's own; mu is held.
func (s *Session) redactor() *redact.Redactor {
	base, own := s.manager.Redactor(), s.hiding.own
	if own == nil {
		return base
	}
	if own.made == nil || own.base != base {
		made, err := withSecrets(base, own.list)
		if err != nil {
			panic("a secret that was taken before is refused: " + err.Error())
		}
		s.hiding.own = &ownSecrets{own.list, base, made}
		return made
	}
	return own.made
}

// maxOwnSecrets bounds what a session learns from its turns.
const maxOwnSecrets = 4096

// learn adds secrets to those that the session hides, and returns its
// redactor; mu is held. Past the bound they are hidden in their turn alone.
func (s *Session) learn(secrets []schema.SecretValue) (*redact.Redactor, error) {
	own := s.secrets()
	fresh := slices.DeleteFunc(slices.Clone(secrets), func(v schema.SecretValue) bool { return slices.Contains(own, v) })
	if len(fresh) == 0 {
		return s.redactor(), nil
	}
	made, err := withSecrets(s.redactor(), fresh)
	if err != nil || len(own)+len(fresh) > maxOwnSecrets {
		return made, err
	}
	s.hide(slices.Concat(own, fresh))
	return s.redactor(), nil
}

// cleanHistory is the history without what red knows; mu is held. It costs
// nothing unless more is to be hidden than before.
func (s *Session) cleanHistory(red *redact.Redactor) provider.History {
	h := &s.hiding
	if !h.free || h.freeOf != red {
		s.history = without(s.history, red)
		if c := &s.compacted; c.sent != nil {
			clean := without(*c.sent, red)
			c.sent = &clean
		}
		h.free, h.freeOf = true, red
	}
	return s.history
}

// without is history as it is, or another one without what red knows.
func without(history provider.History, red *redact.Redactor) provider.History {
	var clean provider.History
	changed := false
	for i := range history.Len() {
		raw := history.Encoded(i)
		hidden := red.JSON(raw, nil)
		if !changed && len(hidden) > 0 && &hidden[0] != &raw[0] {
			changed = true
			for j := range i {
				clean.Append(history.Encoded(j))
			}
		}
		if changed {
			clean.Append(hidden)
		}
	}
	if !changed {
		return history
	}
	return clean
}

// appended tells that messages which hold nothing of what red knows were added
// to the history; mu is held.
func (h *hiding) appended(first bool, red *redact.Redactor) {
	if first {
		h.free, h.freeOf = true, red
	}
	h.free = h.free && h.freeOf == red
}

func hideInterrupted(cut *schema.Interrupted, red *redact.Redactor) *schema.Interrupted {
	if cut == nil {
		return nil
	}
	hidden := *cut
	hidden.Input = inject.RedactContent(cut.Input, red, nil)
	hidden.Partial = red.Text(cut.Partial, nil)
	if red.Contains(cut.RequestKey) {
		hidden.RequestKey = "" // another one would be another request
	}
	return &hidden
}

func hideList(list []string, red *redact.Redactor) []string {
	out := make([]string, len(list))
	for i, text := range list {
		out[i] = red.Text(text, nil)
	}
	return out
}
