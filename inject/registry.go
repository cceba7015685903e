package inject

import (
	"cmp"
	"errors"
	"slices"
	"sync"

	"github.com/prism-rpc/prism-rpc/schema"
)

// MaxInjectors bounds the registrations of one Registry, shadowed ones
// included.
const MaxInjectors = 1000

// Errors of a Registry.
var (
	ErrName     = errors.New("an injector's name must be 1 to 128 bytes of NFC text without control, format or invisible characters and without blank ends, and not \"false\"")
	ErrOrigin   = errors.New("unknown origin of an injector")
	ErrNil      = errors.New("no injector given")
	ErrFull     = errors.New("too many injectors")
	ErrRepeated = errors.New("an injector is named twice")
)

// A Registry holds injectors by name. Within an origin the last one registered
// under a name stands; between origins rank decides, whatever the order (P5).
// The zero value is empty and ready; all methods may be called from many
// goroutines.
type Registry struct {
	mu    sync.RWMutex
	names map[string][]registration // the highest rank first
	count int

	listed   map[schema.Origin][]Entry // those that Replace was given and that no name resolves to
	withheld map[string]bool           // names whose shadowed injector went, until Reload
}

type registration struct {
	injector Injector
	origin   schema.Origin
	info     Info
	shadowed bool
}

// Info is what people are told about a registration.
type Info struct {
	Description string   // default: the description of the injector's spec
	Path        string   // of the file or folder it came from
	Warnings    []string // beside those about its settings
	Owner       any      // whoever may remove it, where that is not all of its origin; comparable
	Distrusted  bool     // a list in a configuration file does not reach it (P5)

	// Ready says why the injector can't be used at present, nil when it can.
	// It is called under the registry's lock and must not block. Nil: always.
	Ready func() error
}

// ranks holds the origins, the highest first (P5).
var ranks = []schema.Origin{
	schema.OriginHost, schema.OriginClient, schema.OriginFile,
	schema.OriginConfig, schema.OriginBundle, schema.OriginBuiltin,
}

func rank(o schema.Origin) int { return slices.Index(ranks, o) }

func byRank(r registration, o schema.Origin) int { return cmp.Compare(rank(r.origin), rank(o)) }

// Register adds inj under its name, and tells whether it replaced the same
// origin's injector of that name. At most one Info is looked at. The errors
// are ErrNil, ErrName, ErrOrigin, ErrFull, or what is wrong with a static
// contribution.
func (r *Registry) Register(inj Injector, origin schema.Origin, info ...Info) (replaced bool, err error) {
	if err := registrable(inj, origin); err != nil {
		return false, err
	}
	reg := registration{injector: inj, origin: origin}
	if len(info) > 0 {
		reg.info = info[0]
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.putLocked(inj.Name(), reg)
}

func registrable(inj Injector, origin schema.Origin) error {
	switch {
	case inj == nil:
		return ErrNil
	case !schema.ValidInjectorName(inj.Name()):
		return ErrName
	case rank(origin) < 0:
		return ErrOrigin
	}
	bare, _ := settingsOf(inj)
	if s, ok := bare.(*static); ok {
		return s.fault
	}
	return nil
}

func (r *Registry) putLocked(name string, reg registration) (replaced bool, err error) {
	list := r.names[name]
	i, replaced := slices.BinarySearchFunc(list, reg.origin, byRank)
	reg.shadowed = i > 0 || r.withheld[name]
	switch {
	case replaced:
		list[i] = reg
	case r.count >= MaxInjectors:
		return false, ErrFull
	default:
		list = slices.Insert(list, i, reg)
		r.count++
	}
	for j := i + 1; j < len(list); j++ {
		list[j].shadowed = true
	}
	if r.names == nil {
		r.names = map[string][]registration{}
	}
	r.names[name] = list
	return replaced, nil
}

// Unregister removes the origin's injector of that name and tells whether
// there was one. One of a lower rank stays shadowed: the name is unknown until
// somebody registers it again, or until Reload.
func (r *Registry) Unregister(name string, origin schema.Origin) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.names[name]
	i, found := slices.BinarySearchFunc(list, origin, byRank)
	if !found {
		return false
	}
	r.removeLocked(name, i)
	return true
}

// Reload lets the highest registration of each name stand again, where one
// that shadowed it has gone, and names those.
func (r *Registry) Reload() (stand []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, list := range r.names {
		if list[0].shadowed {
			list[0].shadowed = false
			stand = append(stand, name)
		}
	}
	r.withheld = nil
	slices.Sort(stand)
	return stand
}

// Room is how many injectors the origin may have, beside those of others.
func (r *Registry) Room(origin schema.Origin) int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return max(0, MaxInjectors-r.othersLocked(origin))
}

// Get returns the injector that name stands for.
func (r *Registry) Get(name string) (Injector, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	reg, ok := r.readyLocked(name, false)
	return reg.injector, ok
}

// readyLocked is what name resolves to, where a configuration file lists it or
// where somebody spoke it.
func (r *Registry) readyLocked(name string, fromFile bool) (registration, bool) {
	list := r.names[name]
	if len(list) == 0 {
		return registration{}, false
	}
	if state, _ := list[0].state(); state != schema.StateReady || fromFile && list[0].info.Distrusted {
		return registration{}, false
	}
	return list[0], true
}

// state tells whether the registration's name resolves to it, and why not.
func (reg registration) state() (schema.InjectorState, string) {
	_, set := settingsOf(reg.injector)
	switch {
	case reg.shadowed:
		return schema.StateShadowed, reasonShadowed
	case set.Disabled:
		return schema.StateDisabled, reasonDisabled
	case reg.info.Ready != nil:
		if err := reg.info.Ready(); err != nil {
			return schema.StateSkipped, err.Error()
		}
	}
	return schema.StateReady, ""
}

// Why a registration's name does not resolve to it.
const (
	reasonShadowed = "an injector of this name from a source of higher rank has, or had, the name; reload to let this one stand"
	reasonDisabled = "it is disabled: enabled is false where it is defined"
	reasonDistrust = "it comes from a workspace that no --trust-root holds: a list in a configuration file does not reach it; name it in the request or with --instruction, or trust its folder"
)
