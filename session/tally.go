package session

import (
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
)

// The places where secrets are taken out of a turn.
const (
	whereInput = iota
	whereInstructions
	whereMetadata
	whereContext
	whereInjected
	whereOutput
	wheres
)

var whereNames = [wheres]string{"input", "instructions", "metadata", "context", "injected", "output"}

// tally counts what was taken out where.
type tally [wheres]redact.Tally

func (t *tally) at(where int) *redact.Tally { return &t[where] }

func (t *tally) list() []schema.Redaction {
	var out []schema.Redaction
	for where := range t {
		for _, c := range t[where].Counts() {
			out = append(out, schema.Redaction{Where: whereNames[where], Name: c.Name, Count: c.Count})
		}
	}
	return out
}
