package inject

import (
	"slices"
	"strings"

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
	e.Suggestion = nearest(name, e.Known)
	e.Known = e.Known[:min(len(e.Known), schema.MaxKnownNames)]
	return e
}

// nearest is the known name that takes the fewest edits to reach, the first of
// equals; empty when all take more than a third of the name's length.
func nearest(name string, known []string) string {
	if len(name) > schema.MaxNameBytes {
		return ""
	}
	asked := []rune(strings.ToLower(name))
	best, limit := "", len(asked)/3
	for _, k := range known {
		if d := distance(asked, []rune(strings.ToLower(k)), limit); d <= limit {
			best, limit = k, d-1
		}
	}
	return best
}

// distance counts the characters to insert, remove or change on the way from a
// to b; above limit it only says so.
func distance(a, b []rune, limit int) int {
	if d := len(a) - len(b); d > limit || -d > limit {
		return limit + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		diagonal, smallest := row[0], i+1
		row[0] = i + 1
		for j, y := range b {
			cost := diagonal
			if x != y {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
			smallest = min(smallest, cost)
		}
		if smallest > limit {
			return limit + 1
		}
	}
	return row[len(b)]
}
