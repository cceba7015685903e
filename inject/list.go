package inject

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/prism-rpc/prism-rpc/internal/plain"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
)

// Bounds of what is listed, in bytes.
const (
	maxDescription = 4096
	maxReason      = 1024
	maxPath        = 4096
)

// List describes all registrations, sorted by the bytes of their names, then
// by rank, and in the order of Replace what stands under no name. red is what
// hashes and sizes are taken after.
func (r *Registry) List(red *redact.Redactor) []schema.InjectorInfo {
	r.mu.RLock()
	lists := make([][]registration, 0, len(r.names))
	for _, name := range slices.Sorted(maps.Keys(r.names)) {
		lists = append(lists, slices.Clone(r.names[name]))
	}
	listed := maps.Clone(r.listed)
	r.mu.RUnlock()

	out := []schema.InjectorInfo{}
	for _, list := range lists {
		for _, reg := range list {
			out = append(out, reg.describe(reg.injector.Name(), red))
		}
	}
	for _, origin := range slices.Sorted(maps.Keys(listed)) {
		for _, e := range listed[origin] {
			out = append(out, e.describe(origin, red))
		}
	}
	slices.SortStableFunc(out, func(a, b schema.InjectorInfo) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(rank(a.Origin), rank(b.Origin)))
	})
	return out
}

func (reg registration) describe(name string, red *redact.Redactor) schema.InjectorInfo {
	info := schema.InjectorInfo{
		Name:        name,
		Description: reg.info.Description,
		Origin:      reg.origin,
		When:        schema.WhenEveryTurn,
		Path:        reg.info.Path,
		Warnings:    []string{},
	}
	bare, set := settingsOf(reg.injector)
	info.State, info.Reason = reg.state()
	switch inj := bare.(type) {
	case *static:
		info.When = inj.c.When
		info.Description = cmp.Or(info.Description, inj.description)
		info.Bytes, info.SHA256 = inj.digest(set, red)
		info.Warnings = set.warnings(inj.c)
	case *gated:
		info.When = inj.When
		info.Description = cmp.Or(info.Description, inj.description)
	}
	info.Warnings = append(info.Warnings, reg.info.Warnings...)
	return shown(info, red)
}

// shown is info fit for people: redacted, plain and bounded.
func shown(info schema.InjectorInfo, red *redact.Redactor) schema.InjectorInfo {
	show := func(text string, most int) string { return plain.Text(red.Text(text, nil), most) }
	info.Name = show(info.Name, maxPath)
	info.Description = show(info.Description, maxDescription)
	info.Reason = show(info.Reason, maxReason)
	info.Path = show(info.Path, maxPath)
	for i, w := range info.Warnings {
		info.Warnings[i] = show(w, maxReason)
	}
	return info
}
