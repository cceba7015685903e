package inject

import "github.com/prism-rpc/prism-rpc/schema"

// Settings say what becomes of an injector's contribution. The zero value adds
// instructions to the system text, puts context where the layout has it, and
// goes on without the injector when it fails.
type Settings struct {
	Placement schema.Placement // of instructions; default system
	Position  schema.Position  // of context; default as the layout says
	Title     string           // of instructions placed as context or notice
	Retention schema.Retention // of a notice; default turn
	Producer  string           // who gives a notice; default prism-rpc
	Scope     schema.Scope     // what first_turn counts; default the session's turns
	OnError   schema.OnError   // default skip
	Trust     schema.Trust     // default host
	Disabled  bool             // has its name, but can't be selected
}

// With is inj with settings, instead of those it may have.
func With(inj Injector, s Settings) Injector {
	if inj == nil || s == (Settings{}) {
		return inj
	}
	bare, _ := settingsOf(inj)
	return configured{bare, s}
}

type configured struct {
	Injector
	settings Settings
}

// settingsOf takes the settings off an injector.
func settingsOf(inj Injector) (Injector, Settings) {
	if c, ok := inj.(configured); ok {
		return c.Injector, c.settings
	}
	return inj, Settings{}
}

// warnings name settings that change nothing.
func (s Settings) warnings(c Contribution) []string {
	out := []string{}
	inContext := s.Placement == schema.PlaceContext || len(c.ContextBlocks) > 0
	if s.Position != "" && !inContext {
		out = append(out, "position changes nothing: the injector gives no context")
	}
	if s.Title != "" && (s.Placement == "" || s.Placement == schema.PlaceSystem) {
		out = append(out, "title changes nothing: instructions in the system text have none")
	}
	if s.Placement != schema.PlaceNotice {
		out = append(out, s.noticeWarnings()...)
	}
	return out
}

func (s Settings) noticeWarnings() (out []string) {
	if s.Retention != "" {
		out = append(out, "retention changes nothing: the instructions are no notice")
	}
	if s.Producer != "" {
		out = append(out, "producer changes nothing: the instructions are no notice")
	}
	return out
}
