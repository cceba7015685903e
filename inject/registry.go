package inject

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/prism-rpc/prism-rpc/internal/plain"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
)

// MaxInjectors bounds the registrations of one Registry, shadowed ones
// included.
const MaxInjectors = 1000

const maxDescription = 4096

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
}

type registration struct {
	injector Injector
	origin   schema.Origin
	info     Info
	shadowed bool
}

// Info is what people are told about a registration.
type Info struct {
	Description string // default: the description of the injector's spec
	Path        string // of the file it came from
	Owner       any    // whoever may remove it, where that is not all of its origin; comparable
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
	reg.shadowed = i > 0
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
// that shadowed it has gone.
func (r *Registry) Reload() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, list := range r.names {
		list[0].shadowed = false
	}
}

// Get returns the injector that name stands for.
func (r *Registry) Get(name string) (Injector, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	reg, ok := r.readyLocked(name)
	return reg.injector, ok
}

func (r *Registry) readyLocked(name string) (registration, bool) {
	list := r.names[name]
	if len(list) == 0 || list[0].unusable() != "" {
		return registration{}, false
	}
	return list[0], true
}

// unusable says why the registration's name does not resolve to it; empty when
// it does.
func (reg registration) unusable() string {
	_, set := settingsOf(reg.injector)
	switch {
	case reg.shadowed:
		return reasonShadowed
	case set.Disabled:
		return reasonDisabled
	}
	return ""
}

// List describes all registrations, sorted by the bytes of their names, then
// by rank. red is what hashes and sizes are taken after.
func (r *Registry) List(red *redact.Redactor) []schema.InjectorInfo {
	r.mu.RLock()
	names := slices.Sorted(maps.Keys(r.names))
	lists := make([][]registration, len(names))
	for i, name := range names {
		lists[i] = slices.Clone(r.names[name])
	}
	r.mu.RUnlock()

	out := []schema.InjectorInfo{}
	for i, name := range names {
		for _, reg := range lists[i] {
			out = append(out, reg.describe(name, red))
		}
	}
	return out
}

func (reg registration) describe(name string, red *redact.Redactor) schema.InjectorInfo {
	info := schema.InjectorInfo{
		Name:        name,
		Description: reg.info.Description,
		Origin:      reg.origin,
		When:        schema.WhenEveryTurn,
		State:       schema.StateReady,
		Path:        reg.info.Path,
		Warnings:    []string{},
	}
	bare, set := settingsOf(reg.injector)
	if info.Reason = reg.unusable(); info.Reason != "" {
		info.State = schema.StateDisabled
	}
	if reg.shadowed {
		info.State = schema.StateShadowed
	}
	switch own := bare.(type) {
	case *static:
		info.When = own.c.When
		info.Description = cmp.Or(info.Description, own.description)
		info.Bytes, info.SHA256 = own.digest(set, red)
		info.Warnings = set.warnings(own.c)
	case *gated:
		info.When = own.When
		info.Description = cmp.Or(info.Description, own.description)
	}
	info.Name = red.Text(info.Name, nil)
	info.Description = plain.Text(red.Text(info.Description, nil), maxDescription)
	return info
}

// Why a registration's name does not resolve to it.
const (
	reasonShadowed = "an injector of this name from a source of higher rank has, or had, the name; reload to let this one stand"
	reasonDisabled = "it is disabled: enabled is false where it is defined"
)
