package inject

import (
	"fmt"
	"slices"

	"github.com/prism-rpc/prism-rpc/schema"
)

// Resolved is an injector that a turn is to be evaluated with.
type Resolved struct {
	Name     string
	Origin   schema.Origin
	Injector Injector
	Base     bool // named by the session's base list, not by the turn

	registered bool // by Resolve; a host's own value has nothing to refresh from
	fromFile   bool // by ResolveListed
}

// Resolve finds the injectors of that name, in that order, or none: the errors
// are *UnknownError for the first name that stands for no injector, and
// ErrRepeated (P2, P3). The names are those that a user or a client spoke.
func (r *Registry) Resolve(names []string) ([]Resolved, error) { return r.resolve(names, false) }

// ResolveListed is Resolve for the list of a configuration file, which reaches
// no injector that is distrusted (P5).
func (r *Registry) ResolveListed(names []string) ([]Resolved, error) { return r.resolve(names, true) }

func (r *Registry) resolve(names []string, fromFile bool) ([]Resolved, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	out := make([]Resolved, 0, len(names))
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		if seen[name] {
			return nil, fmt.Errorf("%w: %s", ErrRepeated, name)
		}
		seen[name] = true
		reg, ok := r.readyLocked(name, fromFile)
		if !ok {
			return nil, r.unknownLocked(name, fromFile)
		}
		out = append(out, Resolved{Name: name, Origin: reg.origin, Injector: reg.injector, registered: true, fromFile: fromFile})
	}
	return out, nil
}

// Refresh returns the newest version of each injector: what its name stands
// for now, or what it was resolved to where the name has gone or has fallen to
// an origin of lower rank (P4). What Resolve did not return is passed on as it
// is. resolved stays unchanged.
func (r *Registry) Refresh(resolved []Resolved) []Resolved {
	r.mu.RLock()
	defer r.mu.RUnlock()
	out := slices.Clone(resolved)
	for i, old := range out {
		if reg, ok := r.readyLocked(old.Name, old.fromFile); ok && old.registered && rank(reg.origin) <= rank(old.Origin) {
			out[i].Origin, out[i].Injector = reg.origin, reg.injector
		}
	}
	return out
}
