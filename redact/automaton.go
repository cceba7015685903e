package redact

import (
	"bytes"
	"slices"
	"strings"
)

// A pattern is one spelling of one value, as it is looked for.
type pattern struct {
	text  string
	value int32
	word  bool // only where it stands as a word
	// shares says that it is base64 and the next digit may hold bits of the
	// value too.
	shares bool
}

const none = -1

// An automaton is Aho and Corasick's, kept sparse but for its first rows, in
// which texts are most of the time: a state is a beginning of some pattern,
// states are numbered breadth first, and so the children of one are
// neighbours.
type automaton struct {
	patterns []pattern // sorted by text, each text once
	shorter  []int32   // by pattern: the next shorter one of its kind, word or not, that it ends with
	states   []state   // and one more, which ends the last one's children
	bytes    []byte    // by state: the last byte of what it stands for
	firstEnd int32     // the first state where a pattern ends

	near [][256]int32 // by state and byte, for the root and its children: the next state
}

// A state stands for the longest end of the text read that begins a pattern.
type state struct {
	first int32 // its first child; the next state's first ends them
	fail  int32 // the state of its longest proper end
	whole int32 // the longest pattern that ends here and may stand anywhere
	word  int32 // the longest that must stand as a word
	held  int32 // bytes that may be the beginning of a longer match
}

// newAutomaton takes patterns of which no two have the same text.
func newAutomaton(patterns []pattern) *automaton {
	patterns = slices.Clone(patterns)
	slices.SortFunc(patterns, func(a, b pattern) int { return strings.Compare(a.text, b.text) })
	a := &automaton{patterns: patterns, shorter: make([]int32, len(patterns))}
	size := 2
	for _, p := range patterns {
		size += len(p.text)
	}
	a.states = make([]state, 0, size)
	a.bytes = make([]byte, 0, size)
	a.grow()
	return a
}

// A group is the patterns from lo to hi, which have depth bytes in common:
// those of one state.
type group struct{ lo, hi, depth int32 }

func (a *automaton) grow() {
	groups := make([]group, 1, cap(a.states))
	groups[0].hi = int32(len(a.patterns))
	a.near = make([][256]int32, 1)
	a.states = append(a.states, state{whole: none, word: none})
	a.bytes = append(a.bytes, 0)
	for s := int32(0); int(s) < len(a.states); s++ {
		g := groups[s]
		a.states[s].first = int32(len(a.states))
		if s > 0 {
			a.inherit(s)
		}
		if len(a.patterns[g.lo].text) == int(g.depth) {
			a.accept(s, g.lo)
			g.lo++
		}
		if g.lo < g.hi {
			a.states[s].held = g.depth
		}
		groups = a.branch(s, g, groups)
	}
	a.firstEnd = int32(slices.IndexFunc(a.states, func(s state) bool { return s.ends() }))
	a.states = append(a.states, state{first: int32(len(a.states))})
	a.flatten()
}

// flatten makes the rows of near behind the first, which grow has made.
func (a *automaton) flatten() {
	a.near = slices.Grow(a.near, int(a.states[1].first)-1)
	for s := int32(1); s < a.states[1].first; s++ {
		row := a.near[0]
		for child := a.states[s].first; child < a.states[s+1].first; child++ {
			row[a.bytes[child]] = child
		}
		a.near = append(a.near, row)
	}
}

// inherit gives s what its longest proper end has, which is complete: it is
// shorter, so it came earlier.
func (a *automaton) inherit(s int32) {
	f := a.states[a.states[s].fail]
	a.states[s].whole, a.states[s].word, a.states[s].held = f.whole, f.word, f.held
}

func (a *automaton) accept(s, p int32) {
	longest := &a.states[s].whole
	if a.patterns[p].word {
		longest = &a.states[s].word
	}
	a.shorter[p], *longest = *longest, p
}

// branch adds the children of s.
func (a *automaton) branch(s int32, g group, groups []group) []group {
	for lo := g.lo; lo < g.hi; {
		c := a.patterns[lo].text[g.depth]
		hi := lo + 1
		for hi < g.hi && a.patterns[hi].text[g.depth] == c {
			hi++
		}
		child := int32(len(a.states))
		fail := int32(0)
		if s == 0 {
			a.near[0][c] = child
		} else {
			fail = a.next(a.states[s].fail, c)
		}
		a.states = append(a.states, state{fail: fail})
		a.bytes = append(a.bytes, c)
		groups = append(groups, group{lo, hi, g.depth + 1})
		lo = hi
	}
	return groups
}

// next is the state after s and c.
func (a *automaton) next(s int32, c byte) int32 {
	if int(s) < len(a.near) {
		return a.near[s][c]
	}
	return a.further(s, c)
}

func (a *automaton) further(s int32, c byte) int32 {
	for int(s) >= len(a.near) {
		st := &a.states[s]
		if i := bytes.IndexByte(a.bytes[st.first:a.states[s+1].first], c); i >= 0 {
			return st.first + int32(i)
		}
		s = st.fail
	}
	return a.near[s][c]
}

// ends tells whether a pattern ends in s.
func (a *automaton) ends(s int32) bool { return s >= a.firstEnd && a.states[s].ends() }

func (s *state) ends() bool { return s.whole != none || s.word != none }
