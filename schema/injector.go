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
)

// InjectorSpec is an injector as data, as configuration writes it.
type InjectorSpec struct {
	Name          string         `json:"name" validate:"injectorname"`
	Description   string         `json:"description,omitempty" validate:"max=4096"`
	When          When           `json:"when"`
	Predicate     string         `json:"predicate,omitempty"`
	Instructions  string         `json:"instructions,omitempty"`
	ContextBlocks []ContextBlock `json:"contextBlocks,omitempty"`
}

func (s *InjectorSpec) check() *ParamsError {
	switch {
	case s.When == "":
		return BadField("when", "required", "is missing; use first_turn, every_turn or on_input")
	case !s.When.Valid():
		return BadField("when", "oneof", "must be one of: first_turn, every_turn, on_input")
	case s.Predicate != "":
		return BadField("predicate", "unsupported", "predicates are not supported yet; leave it out and use when: first_turn or every_turn")
	case strings.TrimSpace(s.Instructions) == "" && len(s.ContextBlocks) == 0:
		return BadField("instructions", "required", "an injector needs instructions or contextBlocks")
	case len(s.Instructions) > MaxInjectorBytes:
		return PastLimit("instructions", MaxInjectorBytes, "bytes")
	case len(s.ContextBlocks) > MaxInjectorBlocks:
		return PastLimit("contextBlocks", MaxInjectorBlocks, "blocks")
	}
	return CheckBlocks("contextBlocks", s.ContextBlocks)
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
