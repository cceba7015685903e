package inject

import (
	"slices"

	"github.com/prism-rpc/prism-rpc/internal/plain"
	"github.com/prism-rpc/prism-rpc/schema"
)

// An UnknownError reports a name that stands for no injector. The name is as it
// was asked for: whoever shows it takes secrets out, then makes it fit to be
// shown.
type UnknownError struct {
	Name       string   // as asked for
	Known      []string // names that can be used, sorted, at most schema.MaxKnownNames
	Suggestion string   // the nearest of them all, when one is near
	Reason     string   // why a registration of that name can't be used; empty when there is none
}

// The wording is part of the protocol (P3), hence the capital.
func (e *UnknownError) Error() string {
	return "Unknown instruction injector: " + e.Name
}

func (r *Registry) unknownLocked(name string) *UnknownError {
	e := &UnknownError{Name: name}
	if list := r.names[name]; len(list) > 0 {
		e.Reason = list[0].unusable()
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
