package schema

import (
	"reflect"

	"github.com/go-json-experiment/json/jsontext"
)

// A ServerRequest is one row of the table of what the server asks the client.
type ServerRequest struct {
	Name    string
	Summary string
	Params  reflect.Type
	Result  reflect.Type
	Null    bool // the result may be null
}

// ServerRequests lists what the server asks a client that said it can answer.
func ServerRequests() []ServerRequest {
	return []ServerRequest{
		{"applyInjector", "Give the text of an injector registered with callback; null: nothing in this turn.",
			of[ApplyInjectorParams](), of[ApplyInjectorResult](), true},
		{"loadModule", "Run the code that a bundle names, with --module-loader client; null: not this one. applyInjector then asks for the text.",
			of[LoadModuleParams](), of[LoadModuleResult](), true},
		{"permitRead", "Allow a bundle to read a resource outside of its folder; asked of a client that declared permitRead.",
			of[PermitReadParams](), of[PermitReadResult](), false},
	}
}

// CancelAskedParams name a request of the server's.
type CancelAskedParams struct {
	ID string `json:"id"`
}

// ApplyInjectorParams ask for an injector's text.
type ApplyInjectorParams struct {
	Name    string      `json:"name"`
	Context TurnContext `json:"context"`
}

// TurnContext is what an injector sees of the turn, redacted (P9).
type TurnContext struct {
	SessionID string         `json:"sessionId"`
	RunID     string         `json:"runId"`
	Turn      int            `json:"turn"`
	Step      int            `json:"step"` // the provider call within the turn, from 1
	Input     Input          `json:"input"`
	Metadata  jsontext.Value `json:"metadata"`         // the turn's; {} when it gave none
	History   []Message      `json:"history,omitzero"` // the end of the dialogue, where it was asked for
}

// ApplyInjectorResult is the answer to applyInjector. Other fields change
// nothing, and are named in ignored (P7).
type ApplyInjectorResult struct {
	Instructions  string         `json:"instructions,omitempty"`
	ContextBlocks []ContextBlock `json:"contextBlocks,omitempty"`
	When          When           `json:"when,omitempty"` // instead of the registered one
}

// LoadModuleParams name code to run.
type LoadModuleParams struct {
	Name       string `json:"name"`                 // of the bundle, and of the injector
	Module     string `json:"module"`               // the file, as the manifest names it
	ExportName string `json:"exportName,omitempty"` // what is asked for in the module
	Path       string `json:"path"`                 // the file, absolute
}

// LoadModuleResult is the answer to loadModule: when the injector is asked.
type LoadModuleResult struct {
	When      When   `json:"when,omitempty"` // default every_turn
	Predicate string `json:"predicate,omitempty"`
	Wants     []Want `json:"wants,omitempty" validate:"omitempty,max=16,dive,oneof=history"`
}

// PermitReadParams ask whether a file may be read.
type PermitReadParams struct {
	Path   string `json:"path"` // absolute, without links
	Bundle string `json:"bundle"`
	Reason string `json:"reason"`
}

// PermitReadResult is the answer to permitRead.
type PermitReadResult struct {
	Allow bool `json:"allow"`
}
