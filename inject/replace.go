package inject

import (
	"cmp"
	"slices"

	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
)

// An Entry is what a source has under a name: an injector, or the reason why
// there is none.
type Entry struct {
	Name     string // of the injector, or for people where there is none
	Injector Injector
	Info     Info

	State  schema.InjectorState // without an injector: skipped, shadowed or error
	Reason string               // of the state
}

// Replace makes entries all that the origin has, in one step: a turn sees the
// registrations from before or those from after. Entries without an injector
// are listed, and no name resolves to them. What stood shadowed stays so, also
// when it went and comes back, until Reload. The errors are Register's, about
// the first entry that can't be registered: then nothing has changed. More
// entries than there is room for, listed ones among them, are ErrFull.
func (r *Registry) Replace(origin schema.Origin, entries []Entry) error {
	for _, e := range entries {
		if e.Injector == nil {
			continue
		}
		if err := registrable(e.Injector, origin); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(entries) > MaxInjectors || r.othersLocked(origin)+len(entries) > MaxInjectors {
		return ErrFull
	}
	r.clearLocked(origin, entries)
	return r.putAllLocked(origin, entries)
}

func (r *Registry) othersLocked(origin schema.Origin) int {
	n := r.count
	for _, list := range r.names {
		if _, found := slices.BinarySearchFunc(list, origin, byRank); found {
			n--
		}
	}
	return n
}

// clearLocked takes out what the origin no longer has. What stays keeps its
// place, and with it whether it is shadowed.
func (r *Registry) clearLocked(origin schema.Origin, entries []Entry) {
	kept := make(map[string]bool, len(entries))
	for _, e := range entries {
		kept[e.Name] = kept[e.Name] || e.Injector != nil
	}
	for name, list := range r.names {
		i, found := slices.BinarySearchFunc(list, origin, byRank)
		if !found || kept[name] {
			continue
		}
		if list[i].shadowed {
			r.withholdLocked(name)
		}
		r.removeLocked(name, i)
	}
	delete(r.listed, origin)
}

func (r *Registry) withholdLocked(name string) {
	if r.withheld == nil {
		r.withheld = map[string]bool{}
	}
	r.withheld[name] = true
}

func (r *Registry) putAllLocked(origin schema.Origin, entries []Entry) error {
	var listed []Entry
	for _, e := range entries {
		if e.Injector == nil {
			listed = append(listed, e)
			continue
		}
		name := e.Injector.Name()
		was := r.shadowedLocked(name, origin)
		if _, err := r.putLocked(name, registration{injector: e.Injector, origin: origin, info: e.Info}); err != nil {
			return err
		}
		if was {
			r.shadowLocked(name, origin)
		}
	}
	if len(listed) == 0 {
		return nil
	}
	if r.listed == nil {
		r.listed = map[schema.Origin][]Entry{}
	}
	r.listed[origin] = listed
	return nil
}

func (r *Registry) shadowedLocked(name string, origin schema.Origin) bool {
	i, found := slices.BinarySearchFunc(r.names[name], origin, byRank)
	return found && r.names[name][i].shadowed
}

func (r *Registry) shadowLocked(name string, origin schema.Origin) {
	if i, found := slices.BinarySearchFunc(r.names[name], origin, byRank); found {
		r.names[name][i].shadowed = true
	}
}

// whyListedLocked says why the newest entry of that name has no injector.
func (r *Registry) whyListedLocked(name string) string {
	for _, origin := range ranks {
		for _, e := range slices.Backward(r.listed[origin]) {
			if e.Name == name {
				return cmp.Or(e.Reason, string(e.State))
			}
		}
	}
	return ""
}

func (e Entry) describe(origin schema.Origin, red *redact.Redactor) schema.InjectorInfo {
	return shown(schema.InjectorInfo{
		Name:        e.Name,
		Description: e.Info.Description,
		Origin:      origin,
		When:        schema.WhenEveryTurn,
		State:       e.State,
		Reason:      e.Reason,
		Path:        e.Info.Path,
		Warnings:    append([]string{}, e.Info.Warnings...),
	}, red)
}
