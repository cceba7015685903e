package redact

import (
	"slices"
	"sync"
)

// A ruleset is rules made ready: an automaton that reads their keywords, and
// anchors that find them without reading. It is never changed and shared by
// all Redactors with the same Rules.
type ruleset struct {
	rules    []rule
	keywords []keyword
	longest  int // keyword
	anchors  *anchors

	columns [256]uint8 // of next, by byte; 0 are those that no keyword has
	width   int
	next    []uint16 // state, by state before and column; with ends, where keywords end
	states  []keyState
	open    []opening // by state: the longest beginning of a secret keyword, or none

	inside [][]bool // by rule and another: the last run of the one takes all bytes of the other
}

// A keyword is one of a rule's.
type keyword struct {
	text   string
	rule   int32
	fold   bool
	secret bool // it is a part of the secret
	after  edge
}

const ends = 1 << 15

// A keyState stands for the beginnings of keywords that the text read ends
// with.
type keyState struct {
	hits []int32   // the keywords that end here
	more []opening // beginnings of secret ones but the longest, longest first
}

// An opening is the beginning of a keyword; none has no length.
type opening struct {
	length uint8
	after  edge
}

var (
	defaultRules = sync.OnceValue(func() *ruleset { return newRuleset(formats()) })
	strictRules  = sync.OnceValue(func() *ruleset { return newRuleset(append(formats(), assignments()...)) })
)

// after is the state after another and c, with ends where keywords end.
func (s *ruleset) after(key uint16, c byte) uint16 {
	if s == nil {
		return 0
	}
	return s.next[int(key)*s.width+int(s.columns[c])]
}

func newRuleset(rules []rule) *ruleset {
	s := &ruleset{rules: rules}
	for i, r := range rules {
		if last := r.last(); last.more == nil {
			last.more = last.run.and(word)
		}
		for _, text := range r.keywords {
			s.keywords = append(s.keywords, keyword{text, int32(i), r.fold, !r.shown, r.after})
			s.longest = max(s.longest, len(text))
		}
	}
	s.anchors = newAnchors(s)
	s.grow()
	s.compare()
	return s
}

// compare fills inside.
func (s *ruleset) compare() {
	reach := make([]bits256, len(s.rules))
	for i := range s.rules {
		reach[i] = s.rules[i].reach()
	}
	for i := range s.rules {
		more := s.rules[i].last().more.bits()
		row := make([]bool, len(s.rules))
		for j := range row {
			row[j] = more.covers(reach[j])
		}
		s.inside = append(s.inside, row)
	}
}

// swallows tells whether the attempt, which has found its secret, takes all
// that another rule would, and so marks it as well.
func (s *ruleset) swallows(a *attempt, rule int32) bool {
	return int(a.part) == len(s.rules[a.rule].parts)-1 && s.inside[a.rule][rule]
}

// matches tells whether the keyword has c at a place.
func (k *keyword) matches(at int, c byte) bool {
	return k.text[at] == c || k.fold && k.text[at] == lowerByte(c)
}

// A progress is a keyword of which so many bytes were read.
type progress struct {
	keyword int32
	read    uint8
}

// A grower builds the automaton: its states are the sets of what can be in
// progress at once.
type grower struct {
	*ruleset
	sets   [][]progress
	number map[string]uint16
	begun  [][]progress // by column: the keywords that begin so

	scratch []progress
	key     []byte
}

func (s *ruleset) grow() {
	g := grower{ruleset: s, number: make(map[string]uint16, 1024)}
	g.column()
	g.state(nil)
	for col := 1; col < g.width; col++ {
		to := g.state(g.begun[col])
		g.next[col] = to
	}
	for i := 1; i < len(g.sets); i++ {
		g.follow(i)
	}
}

// column gives a column to each byte that a keyword has.
func (g *grower) column() {
	g.width = 1
	g.begun = make([][]progress, 1, 80)
	for k := range g.keywords {
		kw := &g.keywords[k]
		for at := range len(kw.text) {
			for _, c := range cases(kw, at) {
				g.use(c)
				if at == 0 {
					col := g.columns[c]
					g.begun[col] = append(g.begun[col], progress{int32(k), 1})
				}
			}
		}
	}
	g.next = make([]uint16, 0, 1200*g.width)
}

func (g *grower) use(c byte) {
	if g.columns[c] == 0 {
		g.columns[c] = uint8(g.width)
		g.begun = append(g.begun, nil)
		g.width++
	}
}

// follow fills the row of a state: where none of its keywords goes on, it is
// that of the start.
func (g *grower) follow(i int) {
	copy(g.next[i*g.width:(i+1)*g.width], g.next[:g.width])
	var done bits256
	for _, p := range g.sets[i] {
		kw := &g.keywords[p.keyword]
		if int(p.read) == len(kw.text) {
			continue
		}
		for _, c := range cases(kw, int(p.read)) {
			if !done.has(c) {
				done.set(c)
				to := g.state(g.following(g.sets[i], c))
				g.next[i*g.width+int(g.columns[c])] = to
			}
		}
	}
}

// cases are the bytes that the keyword may have at a place.
func cases(kw *keyword, at int) []byte {
	c := kw.text[at]
	if kw.fold && 'a' <= c && c <= 'z' {
		return []byte{c, c - 'a' + 'A'}
	}
	return []byte{c}
}

// following is the set behind a set and c: those that were read furthest
// first.
func (g *grower) following(set []progress, c byte) []progress {
	g.scratch = g.scratch[:0]
	for _, p := range set {
		if kw := &g.keywords[p.keyword]; int(p.read) < len(kw.text) && kw.matches(int(p.read), c) {
			g.scratch = append(g.scratch, progress{p.keyword, p.read + 1})
		}
	}
	g.scratch = append(g.scratch, g.begun[g.columns[c]]...)
	return g.scratch
}

// state is the number of a set, which it gets when it is new.
func (g *grower) state(set []progress) uint16 {
	g.key = g.key[:0]
	for _, p := range set {
		g.key = append(g.key, byte(p.keyword), byte(p.keyword>>8), p.read)
	}
	if n, known := g.number[string(g.key)]; known {
		return n
	}
	n := uint16(len(g.sets))
	described, open := g.describe(set)
	g.open = append(g.open, open)
	if described.hits != nil {
		n |= ends
	}
	g.number[string(g.key)] = n
	g.sets = append(g.sets, slices.Clone(set))
	g.states = append(g.states, described)
	g.next = append(g.next, make([]uint16, g.width)...)
	return n
}

func (g *grower) describe(set []progress) (s keyState, longest opening) {
	var open []opening
	for _, p := range set {
		switch kw := &g.keywords[p.keyword]; {
		case int(p.read) == len(kw.text):
			s.hits = append(s.hits, p.keyword)
		case kw.secret:
			if o := (opening{p.read, kw.after}); !slices.Contains(open, o) {
				open = append(open, o)
			}
		}
	}
	if open == nil {
		return s, opening{}
	}
	s.more = open[1:]
	return s, open[0]
}
