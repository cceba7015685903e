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

	columns [allEdges + 1][256]uint8 // of next, by the edges before a byte and the byte; 0 are those that no keyword has
	width   int
	next    []uint16 // state, by state before and column; with ends, where keywords end
	states  []keyState

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
	hits []int32 // the keywords that end here
	held uint8   // length of the longest beginning of a secret one
}

var (
	defaultRules = sync.OnceValue(func() *ruleset { return newRuleset(formats()) })
	strictRules  = sync.OnceValue(func() *ruleset { return newRuleset(append(formats(), assignments()...)) })
)

// after is the state after another and c, which stands behind an edge; with
// ends where keywords end.
func (s *ruleset) after(key uint16, before edge, c byte) uint16 {
	return s.next[int(key)*s.width+int(s.columns[before&allEdges][c])]
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
	bytes  []byte       // by column

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

// column gives columns to each byte that a keyword has.
func (g *grower) column() {
	var used bits256
	var heads [256][]progress
	for k := range g.keywords {
		kw := &g.keywords[k]
		for at := range len(kw.text) {
			for _, c := range cases(kw, at) {
				used.set(c)
				if at == 0 {
					heads[c] = append(heads[c], progress{int32(k), 1})
				}
			}
		}
	}
	g.begun, g.bytes = make([][]progress, 1, 128), make([]byte, 1, 128)
	for c := range 256 {
		if used.has(byte(c)) {
			g.split(byte(c), heads[c])
		}
	}
	g.width = len(g.begun)
	g.next = make([]uint16, 0, 1200*g.width)
}

// split gives c a column for each choice that edges make of the keywords that
// begin with it.
func (g *grower) split(c byte, heads []progress) {
	first := len(g.begun)
	for here := range allEdges + 1 {
		var begun []progress
		for _, p := range heads {
			if g.keywords[p.keyword].after.holds(here) {
				begun = append(begun, p)
			}
		}
		col := first
		for col < len(g.begun) && !slices.Equal(g.begun[col], begun) {
			col++
		}
		if col == len(g.begun) {
			g.begun, g.bytes = append(g.begun, begun), append(g.bytes, c)
		}
		g.columns[here][c] = uint8(col)
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
				g.followBy(i, c)
			}
		}
	}
}

// followBy fills the columns of c in the row of a state.
func (g *grower) followBy(i int, c byte) {
	for col := int(g.columns[anywhere][c]); col < g.width && g.bytes[col] == c; col++ {
		to := g.state(g.following(g.sets[i], col))
		g.next[i*g.width+col] = to
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

// following is the set behind a set and a column: those that were read furthest
// first.
func (g *grower) following(set []progress, col int) []progress {
	c := g.bytes[col]
	g.scratch = g.scratch[:0]
	for _, p := range set {
		if kw := &g.keywords[p.keyword]; int(p.read) < len(kw.text) && kw.matches(int(p.read), c) {
			g.scratch = append(g.scratch, progress{p.keyword, p.read + 1})
		}
	}
	g.scratch = append(g.scratch, g.begun[col]...)
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
	described := g.describe(set)
	if described.hits != nil {
		n |= ends
	}
	g.number[string(g.key)] = n
	g.sets = append(g.sets, slices.Clone(set))
	g.states = append(g.states, described)
	g.next = append(g.next, make([]uint16, g.width)...)
	return n
}

func (g *grower) describe(set []progress) (s keyState) {
	for _, p := range set {
		switch kw := &g.keywords[p.keyword]; {
		case int(p.read) == len(kw.text):
			s.hits = append(s.hits, p.keyword)
		case kw.secret:
			s.held = max(s.held, p.read)
		}
	}
	return s
}
