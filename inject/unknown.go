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
	Untrusted  bool     // there is one, and a configuration file's list does not reach it (P5)
}

// The wording is part of the protocol (P3), hence the capital.
func (e *UnknownError) Error() string {
	return "Unknown instruction injector: " + e.Name
}

func (r *Registry) unknownLocked(name string, fromFile bool) *UnknownError {
	e := &UnknownError{Name: name}
	e.Reason, e.Untrusted = r.whyNotLocked(name)
	for known := range r.names {
		if _, ok := r.readyLocked(known, fromFile); ok {
			e.Known = append(e.Known, known)
		}
	}
	slices.Sort(e.Known)
	e.Suggestion = plain.Nearest(name, e.Known)
	e.Known = e.Known[:min(len(e.Known), schema.MaxKnownNames)]
	return e
}

// whyNotLocked says why name, which does not resolve, does not, where anything
// of that name is known.
func (r *Registry) whyNotLocked(name string) (reason string, untrusted bool) {
	list := r.names[name]
	if len(list) == 0 {
		return r.whyListedLocked(name), false
	}
	if state, why := list[0].state(); state != schema.StateReady {
		return why, false
	}
	return reasonDistrust, true
}
