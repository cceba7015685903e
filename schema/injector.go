package schema

import "strings"

// When says on which turns an injector applies (P8).
type When string

// The timings.
const (
	WhenFirstTurn When = "first_turn"
	WhenEveryTurn When = "every_turn"
	WhenOnInput   When = "on_input"
)

// Valid tells whether w is one of the three timings.
func (w When) Valid() bool {
	switch w {
	case WhenFirstTurn, WhenEveryTurn, WhenOnInput:
		return true
	}
	return false
}

// Placement says where injected text stands in a request (P16).
type Placement string

// The placements.
const (
	PlaceSystem  Placement = "system"
	PlaceContext Placement = "context"
	PlaceNotice  Placement = "notice"
)

// Scope says what an injector's first_turn is the first of (P8).
type Scope string

// The scopes.
const (
	ScopeSession Scope = "session" // the session's turns
	ScopeRun     Scope = "run"     // the provider calls within one turn
)

// Position says where the context of an injector stands, whatever the layout
// (P15).
type Position string

// The positions.
const (
	PositionHead Position = "head" // before the dialogue
	PositionTail Position = "tail" // right before the input
)

// OnError says what becomes of the turn when an injector fails (P10).
type OnError string

// The ways to go on.
const (
	OnErrorSkip OnError = "skip" // without the injector
	OnErrorFail OnError = "fail" // not at all
)

// Retention says how long a notice stays in the dialogue (R1).
type Retention string

// The retentions.
const (
	RetainTurn Retention = "turn" // it is not sent again
	RetainKeep Retention = "keep" // like what was said
)

// Trust says whose words an injector's text is (P28). That of a workspace is
// framed where it stands among the dialogue.
type Trust string

// The degrees of trust.
const (
	TrustHost      Trust = "host"      // who runs the program, or a client that vouches for it
	TrustWorkspace Trust = "workspace" // files that anybody may have written
)

// Reason says why a layer of a request stands in it, or doesn't.
type Reason string

// The reasons.
const (
	ReasonApplied        Reason = "applied"
	ReasonNotDue         Reason = "not_due"         // another turn's
	ReasonPredicateFalse Reason = "predicate_false" // its condition does not hold
	ReasonTrivial        Reason = "trivial"         // the input says nothing that it is about
	ReasonDisabled       Reason = "disabled"
	ReasonUntrusted      Reason = "untrusted" // nobody who may has chosen it
	ReasonSkipped        Reason = "skipped"   // it had nothing to give
	ReasonError          Reason = "error"
	ReasonTimeout        Reason = "timeout"
	ReasonOverBudget     Reason = "over_budget" // it found no room
)

// Origin says who brought an injector.
type Origin string

// The origins, the highest rank first (P5): a name belongs to the highest one
// that has it.
const (
	OriginHost    Origin = "host"   // a Go host's value
	OriginClient  Origin = "client" // registered over the wire
	OriginFile    Origin = "file"   // --injector-file
	OriginConfig  Origin = "config"
	OriginBundle  Origin = "bundle" // found on disk
	OriginBuiltin Origin = "builtin"
	OriginUser    Origin = "user"   // a reminder; not among the injectors
	OriginSplice  Origin = "splice" // spliceContext; it names no injector
)

// InjectorSpec is an injector as data, as configuration writes it.
type InjectorSpec struct {
	Name          string         `json:"name" validate:"injectorname"`
	Description   string         `json:"description,omitempty" validate:"max=4096"`
	When          When           `json:"when"`
	Predicate     string         `json:"predicate,omitempty"`                                                  // of on_input: an expression
	Scope         Scope          `json:"scope,omitempty" validate:"omitempty,oneof=session run"`               // what first_turn counts; default session
	Placement     Placement      `json:"placement,omitempty" validate:"omitempty,oneof=system context notice"` // of instructions; default system
	Position      Position       `json:"position,omitempty" validate:"omitempty,oneof=head tail"`              // of context; default as the layout says
	Title         string         `json:"title,omitempty"`                                                      // of instructions placed as context or notice
	Instructions  string         `json:"instructions,omitempty"`
	ContextBlocks []ContextBlock `json:"contextBlocks,omitempty"`
	MaxBytes      *int           `json:"maxBytes,omitempty" validate:"omitempty,min=1,max=262144"`  // of all its text; default 256 KiB
	OnError       OnError        `json:"onError,omitempty" validate:"omitempty,oneof=skip fail"`    // default skip
	Trust         Trust          `json:"trust,omitempty" validate:"omitempty,oneof=host workspace"` // default host
	Retention     Retention      `json:"retention,omitempty" validate:"omitempty,oneof=turn keep"`  // of a notice; default turn
	Producer      string         `json:"producer,omitempty" validate:"omitempty,producer"`          // who gives a notice; default prism-rpc
	Enabled       *bool          `json:"enabled,omitempty"`                                         // default true
}

func (s *InjectorSpec) check() *ParamsError {
	if err := s.checkTiming(); err != nil {
		return err
	}
	return s.checkText()
}

// ValidateCallback is Validate of an injector whose text is asked for.
func ValidateCallback(s *InjectorSpec) error {
	err := broken(s)
	if err == nil {
		err = s.checkCallback()
	}
	if err != nil {
		return err
	}
	return nil
}

func (s *InjectorSpec) checkCallback() *ParamsError {
	switch {
	case s.Instructions != "":
		return BadField("instructions", "callback", "the text of a callback comes with each answer; leave it out")
	case s.ContextBlocks != nil:
		return BadField("contextBlocks", "callback", "the blocks of a callback come with each answer; leave them out")
	case len(s.Title) > MaxTitleBytes:
		return PastLimit("title", MaxTitleBytes, "bytes")
	}
	return s.checkTiming()
}

func (s *InjectorSpec) checkTiming() *ParamsError {
	switch {
	case s.When == "":
		return BadField("when", "required", "is missing; use first_turn, every_turn or on_input")
	case !s.When.Valid():
		return BadField("when", "oneof", "must be one of: first_turn, every_turn, on_input")
	case len(s.Predicate) > MaxPredicateBytes:
		return PastLimit("predicate", MaxPredicateBytes, "bytes")
	}
	return nil
}

func (s *InjectorSpec) checkText() *ParamsError {
	silent := strings.TrimSpace(s.Instructions) == ""
	switch {
	case silent && len(s.ContextBlocks) == 0:
		return BadField("instructions", "required", "an injector needs instructions or contextBlocks")
	case silent && s.Placement == PlaceNotice:
		return BadField("instructions", "required", "a notice needs instructions")
	case len(s.Instructions) > MaxInjectorBytes:
		return PastLimit("instructions", MaxInjectorBytes, "bytes")
	case len(s.Title) > MaxTitleBytes:
		return PastLimit("title", MaxTitleBytes, "bytes")
	case len(s.ContextBlocks) > MaxInjectorBlocks:
		return PastLimit("contextBlocks", MaxInjectorBlocks, "blocks")
	}
	if err := CheckBlocks("contextBlocks", s.ContextBlocks); err != nil {
		return err
	}
	if s.MaxBytes != nil && s.size() > *s.MaxBytes {
		return PastLimit("maxBytes", *s.MaxBytes, "bytes: so is the injector's text")
	}
	return nil
}

// size is that of the text that s can inject.
func (s *InjectorSpec) size() int {
	n := len(s.Title) + len(s.Instructions)
	for _, b := range s.ContextBlocks {
		n += len(b.Title) + len(PlainText(b.Content))
	}
	return n
}

// ListInjectorsParams are the params of listInjectors.
type ListInjectorsParams struct {
	SessionID *string `json:"sessionId,omitempty" validate:"omitempty,sessionid"`
	Meta
}

// ListInjectorsResult answers listInjectors, sorted by name, then by rank.
type ListInjectorsResult struct {
	Injectors []InjectorInfo `json:"injectors"`
	Cut       []string       `json:"cut,omitempty"` // members that are shortened, the whole being too large for a message
}

// InjectorInfo describes one registered injector, never its text.
type InjectorInfo struct {
	Name        string        `json:"name"`
	Description string        `json:"description"`
	Origin      Origin        `json:"origin"`
	When        When          `json:"when"`
	State       InjectorState `json:"state"`
	Reason      string        `json:"reason,omitempty"`
	Path        string        `json:"path,omitempty"`
	SHA256      string        `json:"sha256,omitempty"` // of the redacted text; absent when it is made anew each turn
	Bytes       int           `json:"bytes,omitzero"`
	Warnings    []string      `json:"warnings"`
}

// InjectorState tells whether a name resolves to an injector: only a ready one
// does (P3).
type InjectorState string

// The states.
const (
	StateReady    InjectorState = "ready"
	StateSkipped  InjectorState = "skipped"
	StateShadowed InjectorState = "shadowed"
	StateDisabled InjectorState = "disabled"
	StateError    InjectorState = "error"
)
