package inject

import (
	"slices"

	"github.com/prism-rpc/prism-rpc/schema"
)

// RegisterAll registers all of them, whose names differ, or none. The errors
// are those of Register.
func (r *Registry) RegisterAll(injectors []Injector, origin schema.Origin, info Info) error {
	for _, inj := range injectors {
		if err := registrable(inj, origin); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	more := 0
	for _, inj := range injectors {
		if _, taken := slices.BinarySearchFunc(r.names[inj.Name()], origin, byRank); !taken {
			more++
		}
	}
	if r.count+more > MaxInjectors {
		return ErrFull
	}
	for _, inj := range injectors {
		if _, err := r.putLocked(inj.Name(), registration{injector: inj, origin: origin, info: info}); err != nil {
			return err
		}
	}
	return nil
}

// UnregisterOwn is Unregister of an injector that was registered with that
// owner, and of no other.
func (r *Registry) UnregisterOwn(name string, origin schema.Origin, owner any) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.names[name]
	i, found := slices.BinarySearchFunc(list, origin, byRank)
	if !found || list[i].info.Owner != owner {
		return false
	}
	r.removeLocked(name, i)
	return true
}

// UnregisterAll removes all that was registered with that owner.
func (r *Registry) UnregisterAll(owner any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name := range r.names {
		for i := len(r.names[name]) - 1; i >= 0; i-- {
			if r.names[name][i].info.Owner == owner {
				r.removeLocked(name, i)
			}
		}
	}
}

// removeLocked leaves those of lower rank shadowed.
func (r *Registry) removeLocked(name string, i int) {
	r.count--
	if list := slices.Delete(r.names[name], i, i+1); len(list) > 0 {
		r.names[name] = list
	} else {
		delete(r.names, name)
	}
}
