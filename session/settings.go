package session

import (
	"time"

	"github.com/prism-rpc/prism-rpc/schema"
)

// configure gives a new session its own settings.
func (s *Session) configure(settings schema.SessionSettings, secrets []schema.SecretValue) error {
	if _, err := s.manager.cfg.Registry.Resolve(settings.InstructionInjectors); err != nil {
		return err
	}
	red, err := withSecrets(s.redactor, secrets)
	if err != nil {
		return err
	}
	s.redactor = red
	if settings.Instructions != nil {
		text := red.Text(*settings.Instructions, nil)
		settings.Instructions = &text
	}
	settings.Metadata = red.JSON(settings.Metadata, nil)
	settings.CWD = red.Text(settings.CWD, nil)
	settings.Model = red.Text(settings.Model, nil)
	s.settings = settings
	return nil
}

// SetModel sets the session's model from its next turn on; empty restores the
// configured one. The change holds at once; save makes it durable and, where
// it can't, takes it back.
func (s *Session) SetModel(model string) (save func() error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.settings.Model
	s.settings.Model = s.redactor.Text(model, nil)
	set := s.settings.Model
	return func() error {
		err := s.saveSettings()
		if err != nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.settings.Model == set {
				s.settings.Model = before
			}
		}
		return err
	}
}

func (s *Session) saveSettings() error {
	s.mu.Lock()
	settings := s.settings
	s.mu.Unlock()
	if err := s.append(&schema.SettingsRecord{RecordHead: head(schema.RecordSettings), At: stamp(time.Now()), Settings: settings}); err != nil {
		return err
	}
	return s.Sync()
}
