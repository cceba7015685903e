package inject

import (
	"slices"

	"github.com/prism-rpc/prism-rpc/internal/plain"
	"github.com/prism-rpc/prism-rpc/schema"
)

// An UnknownError reports a name that stands for no injector. All its texts
// are fit to be shown.
type UnknownError struct {
	Name       string   // as asked for, escaped, at most 128 bytes
	Known      []string // names that can be used, sorted, at most schema.MaxKnownNames
	Suggestion string   // the nearest of them all, when one is near
	Reason     string   // why a registration of that name can't be used; empty when there is none
}

// The wording is part of the protocol (P3), hence the capital.
func (e *UnknownError) Error() string {
	return "Unknown instruction injector: " + plain.Text(e.Name, schema.MaxNameBytes)
}

func (r *Registry) unknownLocked(name string) *UnknownError {
	e := &UnknownError{Name: plain.Text(name, schema.MaxNameBytes)}
	if len(r.names[name]) > 0 {
		e.Reason = reasonShadowed
	}
	for known := range r.names {
		if _, ok := r.readyLocked(known); ok {
			e.Known = append(e.Known, known)
		}
	}
	slices.Sort(e.Known)
	e.Suggestion = plain.Nearest(name, e.Known)
	e.Known = e.Known[:min(len(e.Known), schema.MaxKnownNames)]
	return e
}
