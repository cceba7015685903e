package bundle

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/internal/plain"
	"github.com/prism-rpc/prism-rpc/schema"
)

// A Source keeps a registry's bundles as they are on disk (P25).
type Source struct {
	Registry *inject.Registry
	Options  Options
	Load     LoadOptions

	mu    sync.Mutex // held while scanning
	made  map[string]made
	wrong map[Problem]bool // what was told of
}

// Changes are what a scan found other than the one before.
type Changes struct {
	Names    []string  // of bundles that came, went or changed; sorted, fit to be shown
	Problems []Problem // that are new
}

// maxName bounds a name in Changes, in bytes.
const maxName = 256

// Scan looks for the bundles again and swaps them in one step: a turn that has
// begun keeps what it has. A bundle that is as it was stays loaded. The error
// is the registry's, or ctx's cause; the registry is then as before.
func (s *Source) Scan(ctx context.Context) (Changes, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := Discover(ctx, s.Options)
	if ctx.Err() != nil {
		return Changes{}, context.Cause(ctx)
	}
	found.limit(s.Registry.Room(schema.OriginBundle))
	all := s.makeLocked(found)
	if err := register(s.Registry, all); err != nil {
		return Changes{}, err
	}
	return s.changedLocked(all, problems(found, all)), nil
}

// makeLocked makes what has changed, what a permission was given for and what
// was refused: the file may be another by now, and the client of another mind.
func (s *Source) makeLocked(found *Found) []made {
	l := newLoader(s.Load)
	out := make([]made, len(found.Bundles))
	for i, b := range found.Bundles {
		out[i] = l.make(b)
		if old, ok := s.made[b.Path]; ok && old.print == out[i].print && !old.again() {
			out[i] = old
		}
	}
	return out
}

func (s *Source) changedLocked(all []made, wrong []Problem) Changes {
	var c Changes
	now := make(map[string]made, len(all))
	for _, m := range all {
		now[m.bundle.Path] = m
		if old, ok := s.made[m.bundle.Path]; !ok || old.print != m.print {
			c.Names = append(c.Names, m.entry.Name, old.entry.Name)
		}
	}
	for path, m := range s.made {
		if _, stays := now[path]; !stays {
			c.Names = append(c.Names, m.entry.Name)
		}
	}
	told := make(map[Problem]bool, len(wrong))
	for _, p := range wrong {
		if told[p] = true; !s.wrong[p] {
			c.Problems = append(c.Problems, p)
		}
	}
	s.made, s.wrong = now, told
	c.Names = shownNames(c.Names)
	return c
}

func shownNames(names []string) []string {
	set := map[string]bool{}
	for _, name := range names {
		if name != "" {
			set[plain.Text(name, maxName)] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// problems are those of the search and of single bundles.
func problems(found *Found, all []made) []Problem {
	out := slices.Clone(found.Problems)
	for _, m := range all {
		if m.entry.State == schema.StateError {
			out = append(out, Problem{Name: m.entry.Name, Path: m.bundle.Path, Reason: m.entry.Reason})
		}
	}
	return out
}
