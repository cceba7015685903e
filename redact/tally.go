package redact

import (
	"maps"
	"slices"
)

// A Tally counts removals by the name of the value. The zero value is ready;
// a nil one counts nothing. It is for one goroutine at a time.
type Tally struct {
	counts map[string]int
}

// A Count says how many markers stand for the value of that name. Values
// without a name count together under the empty one.
type Count struct {
	Name  string
	Count int
}

// Counts lists what was removed, by name.
func (t *Tally) Counts() []Count {
	if t == nil {
		return nil
	}
	var out []Count
	for _, name := range slices.Sorted(maps.Keys(t.counts)) {
		out = append(out, Count{name, t.counts[name]})
	}
	return out
}

// Add adds what u counted, which stays as it is.
func (t *Tally) Add(u *Tally) {
	if u == nil {
		return
	}
	for name, n := range u.counts {
		t.add(name, n)
	}
}

func (t *Tally) add(name string, n int) {
	if t == nil {
		return
	}
	if t.counts == nil {
		t.counts = map[string]int{}
	}
	t.counts[name] += n
}
