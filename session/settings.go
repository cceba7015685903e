package session

import (
	"reflect"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/prism-rpc/prism-rpc/internal/plain"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
)

// settings are the session's own; mu is held.
func (s *Session) settings() (own schema.SessionSettings) {
	if s.untitled != nil {
		own = *s.untitled
	}
	own.Title = s.title
	return own
}

// set gives the session settings of its own; mu is held. Most sessions have a
// title alone.
func (s *Session) set(own schema.SessionSettings) {
	s.title, own.Title = own.Title, ""
	s.untitled = nil
	if !reflect.ValueOf(own).IsZero() {
		s.untitled = &own
	}
}

// configure gives a new session its own settings.
func (s *Session) configure(settings schema.SessionSettings, secrets []schema.SecretValue) error {
	if _, err := s.manager.cfg.Registry.Resolve(settings.InstructionInjectors); err != nil {
		return err
	}
	if _, err := withSecrets(s.manager.Redactor(), secrets); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hide(secrets)
	if err := checkModel(s.redactor(), settings.Model); err != nil {
		return err
	}
	s.set(hideSettings(s.redactor(), settings))
	return nil
}

func hideSettings(red *redact.Redactor, settings schema.SessionSettings) schema.SessionSettings {
	if settings.Instructions != nil {
		text := red.Text(*settings.Instructions, nil)
		settings.Instructions = &text
	}
	for _, text := range []*string{&settings.Title, &settings.CWD, &settings.Model} {
		*text = red.Text(*text, nil)
	}
	settings.Metadata = red.JSON(settings.Metadata, nil)
	return settings
}

// Update changes the given settings from the session's next turn on; those
// that are null are again as configured. The change holds at once; save, which
// must be called, makes it durable and, where it can't, takes it back. Errors:
// *inject.UnknownError, *schema.ParamsError, those of Manager.Lookup.
func (s *Session) Update(p *schema.UpdateSessionParams) (save func() error, err error) {
	if _, err := s.manager.cfg.Registry.Resolve(p.InstructionInjectors.Value); err != nil {
		return nil, err
	}
	if s, err = s.beginSaving(); err != nil {
		return nil, err
	}
	edit, before, err := s.edit(p)
	if err != nil {
		s.saving.RUnlock()
		return nil, err
	}
	return func() error {
		defer s.saving.RUnlock()
		err := s.saveSettings()
		if err != nil {
			s.takeBack(edit, before)
		}
		return err
	}, nil
}

// beginSaving gives the session of s's id with its log open, which stays so
// until saving is unlocked.
func (s *Session) beginSaving() (*Session, error) {
	for {
		open, err := s.writable()
		if err != nil {
			return nil, err
		}
		open.saving.RLock()
		if open.isOpen() {
			return open, nil
		}
		open.saving.RUnlock()
	}
}

// edit makes the change and tells which one it is and what was there before.
func (s *Session) edit(p *schema.UpdateSessionParams) (edit uint32, before schema.SessionSettings, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := checkModel(s.redactor(), p.Model.Value); err != nil {
		return 0, before, err
	}
	before = s.settings()
	s.set(hideSettings(s.redactor(), patched(before, p)))
	s.edits++
	return s.edits, before, nil
}

func patched(settings schema.SessionSettings, p *schema.UpdateSessionParams) schema.SessionSettings {
	if p.Title.Given {
		settings.Title = p.Title.Value
	}
	if p.Instructions.Given {
		settings.Instructions = nil
		if !p.Instructions.Null {
			settings.Instructions = &p.Instructions.Value
		}
	}
	if p.InstructionInjectors.Given {
		settings.InstructionInjectors = p.InstructionInjectors.Value
	}
	if p.Model.Given {
		settings.Model = p.Model.Value
	}
	if p.Metadata.Given {
		settings.Metadata = p.Metadata.Value
	}
	if p.ContextInjections.Given {
		settings.ContextInjections = nil
		if !p.ContextInjections.Null {
			settings.ContextInjections = &p.ContextInjections.Value
		}
	}
	return settings
}

// takeBack undoes an edit that no later one has followed.
func (s *Session) takeBack(edit uint32, before schema.SessionSettings) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.edits == edit {
		s.set(before)
	}
}

func (s *Session) saveSettings() error {
	if err := s.logSettings(); err != nil {
		return err
	}
	return s.Sync()
}

// logSettings adds the settings as they are at that moment, so that the log's
// last ones are the session's.
func (s *Session) logSettings() error {
	return s.appendMade(func() ([]byte, error) {
		s.mu.Lock()
		settings := s.settings()
		s.mu.Unlock()
		return json.Marshal(&schema.SettingsRecord{RecordHead: head(schema.RecordSettings), At: stamp(time.Now()), Settings: settings})
	})
}

// titleBytes bounds a title that is made of a first input.
const titleBytes = 80

// entitle gives a session without a title one, from its first input. It is
// logged with that input's turn.
func (s *Session) entitle(r *Run) error {
	s.mu.Lock()
	named := s.title != "" || len(s.turns) > 0
	if !named {
		s.title = titleOf(schema.PlainText(r.input))
	}
	s.mu.Unlock()
	if named {
		return nil
	}
	return s.logSettings()
}

func titleOf(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			return strings.Clone(plain.Text(line, titleBytes)) // lest it keep the whole text in memory
		}
	}
	return ""
}
