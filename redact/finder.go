package redact

import "slices"

// A span is an occurrence, or several united ones, from start to before end.
type span struct {
	start, end int
	lead       int32 // length of the occurrence that names it
	value      int32 // whose that is
}

// A finder reads a text from its beginning, byte by byte, and unites the
// occurrences. Its text may lose its beginning and gain at its end between
// scans: positions count from the beginning of all there was.
type finder struct {
	r      *Redactor
	auto   *automaton // of the values; nil without
	rules  *ruleset   // nil without
	text   string     // from base on
	base   int
	before byte   // the one before base; 0 at the beginning
	pos    int    // how much was read
	trail  trail  // before pos
	state  int32  // of auto
	key    uint16 // of rules

	longest   int       // text that is looked for as it is: a pattern, or a keyword
	firstRule int32     // the number of the first rule's label
	attempts  []attempt // to match rules
	digits    digits    // what still belongs to the value before

	marks   []span // in order, neither overlapping nor touching
	covered int    // end of the last mark taken from marks, or 0

	// Where an occurrence that is no word begins or ends, a word may end or
	// begin too: when that is gone, what is left stands alone.
	ended   uint64 // bit n: one ended n bytes ago; no word pattern has 64 bytes
	fresh   span   // the word occurrence that ends at pos, if any
	waiting []span // those, in order of end, that wait for one to begin there
}

// finder begins a text, without rules where they can find nothing.
func (r *Redactor) finder(brief bool) finder {
	f := finder{r: r, firstRule: int32(len(r.values)), longest: r.longest}
	if brief {
		return f
	}
	if f.rules = r.rules.set(); f.rules != nil {
		f.longest = max(f.longest, f.rules.longest)
	}
	return f
}

func (f *finder) read(c byte) {
	if f.fresh.end > 0 {
		f.settle(c)
	}
	before := f.edge()
	f.pos++
	f.ended <<= 1
	f.trail = f.trail.follow(c)
	if f.digits > 0 {
		f.takeDigit(c)
	}
	if f.auto != nil {
		f.readValue(c)
	}
	if f.rules != nil {
		f.readKey(before, c)
	}
	if len(f.waiting) > 0 {
		f.giveUp()
	}
}

// edge is what is before pos. A word may start where a value's occurrence
// ends: once that is gone, nothing stands before it.
func (f *finder) edge() edge {
	if f.ended&1 == 1 {
		return f.trail.edge() | wordStart
	}
	return f.trail.edge()
}

func (f *finder) readKey(before edge, c byte) {
	if len(f.attempts) > 0 {
		f.advance(c)
	}
	next := f.rules.after(f.key, before, c)
	f.key = next &^ ends
	if next&ends != 0 {
		f.begin(f.rules.states[f.key].hits)
	}
}

func (f *finder) readValue(c byte) {
	f.state = f.auto.next(f.state, c)
	if f.state == 0 {
		return
	}
	s := &f.auto.states[f.state]
	if s.whole != none {
		f.ended |= 1
		f.found(s.whole)
	}
	if s.word != none {
		f.foundWord(s.word)
	}
}

func (f *finder) span(p int32) span {
	pat := &f.auto.patterns[p]
	return f.ending(len(pat.text), pat.value)
}

// ending is the occurrence of n bytes that ends at pos.
func (f *finder) ending(n int, value int32) span { return span{f.pos - n, f.pos, int32(n), value} }

func (f *finder) found(p int32) {
	f.unite(f.span(p))
	for shorter := p; shorter != none && len(f.waiting) > 0; shorter = f.auto.shorter[shorter] {
		f.beginsAt(f.span(shorter).start)
	}
	f.digits = 0
	if f.auto.patterns[p].shares {
		f.digits = oneDigit
	}
}

// beginsAt says that an occurrence begins at a position.
func (f *finder) beginsAt(start int) {
	f.waiting = slices.DeleteFunc(f.waiting, func(w span) bool {
		if w.end != start {
			return false
		}
		f.unite(w)
		return true
	})
}

// foundWord notes the longest of p and the word patterns it ends with that
// begins as a word.
func (f *finder) foundWord(p int32) {
	for ; p != none; p = f.auto.shorter[p] {
		if sp := f.span(p); f.opensWord(sp) {
			f.fresh = sp
			return
		}
	}
}

// settle decides about the fresh occurrence when c follows it.
func (f *finder) settle(c byte) {
	sp := f.fresh
	f.fresh = span{}
	if wordByte(c) && wordByte(f.at(sp.end-1)) {
		f.waiting = append(f.waiting, sp)
		return
	}
	f.unite(sp)
}

// giveUp drops the occurrences at whose end none can begin any more.
func (f *finder) giveUp() {
	open := f.open()
	over := 0
	for over < len(f.waiting) && f.waiting[over].end < open {
		over++
	}
	f.waiting = slices.Delete(f.waiting, 0, over)
}

// opensWord tells whether sp, which ends at pos, begins as a word: at a word
// boundary, or where another occurrence ended.
func (f *finder) opensWord(sp span) bool {
	return sp.start == 0 || !wordByte(f.at(sp.start-1)) || !wordByte(f.at(sp.start)) || f.ended>>(sp.end-sp.start)&1 == 1
}

func (f *finder) at(i int) byte {
	if i < f.base {
		return f.before // no word that is still looked for begins before base
	}
	return f.text[i-f.base]
}

// unite puts sp in its place among the marks, nearly always the last.
func (f *finder) unite(sp span) {
	hi := len(f.marks)
	if hi > 0 && f.marks[hi-1].reaches(sp) {
		f.marks[hi-1].end = max(f.marks[hi-1].end, sp.end)
		return
	}
	for hi > 0 && f.marks[hi-1].start > sp.end {
		hi--
	}
	lo := hi
	for lo > 0 && f.marks[lo-1].end >= sp.start {
		lo--
		m := f.marks[lo]
		if m.start < sp.start || m.start == sp.start && m.lead >= sp.lead {
			sp.start, sp.lead, sp.value = m.start, m.lead, m.value
		}
		sp.end = max(sp.end, m.end)
	}
	if len(f.marks) == cap(f.marks) {
		f.marks = slices.Grow(f.marks, len(f.marks)+1) // twice as many, lest millions be copied again and again
	}
	f.marks = slices.Replace(f.marks, lo, hi, sp)
}

// reaches tells whether uniting m with sp is only to make it longer.
func (m span) reaches(sp span) bool {
	return m.end >= sp.start && (m.start < sp.start || m.start == sp.start && m.lead >= sp.lead)
}

// held is how many of the last bytes may begin a value.
func (f *finder) held() int {
	if f.auto == nil {
		return 0
	}
	return int(f.auto.states[f.state].held)
}

// open is the position before which no occurrence can begin any more that is
// not known, short values aside.
func (f *finder) open() int {
	return min(f.pos-f.held(), f.pos-f.keyHeld(), f.undecided())
}

// decided is the position before which no occurrence can begin any more that
// is not among the marks.
func (f *finder) decided() int {
	at := f.open()
	if f.fresh.end > 0 {
		at = min(at, f.fresh.start)
	}
	for _, w := range f.waiting {
		at = min(at, w.start)
	}
	return at
}

// end says that the text ends here.
func (f *finder) end() {
	for i := range f.attempts {
		f.finish(&f.attempts[i])
	}
	if f.fresh.end > 0 {
		f.unite(f.fresh)
	}
	f.attempts, f.fresh, f.waiting = nil, span{}, nil
}

// digits is what may follow a value in base64 and still hold bits of it, or
// tell where it ends: a digit, then padding.
type digits uint8

const (
	padding  digits = 1 // to 2: so many
	oneDigit digits = 3
)

func (f *finder) takeDigit(c byte) {
	switch {
	case f.digits == oneDigit && base64Digit(c), f.digits < oneDigit && c == '=':
		f.unite(span{start: f.pos - 1, end: f.pos})
		f.ended |= 1
		f.digits--
	default:
		f.digits = 0
	}
}

func base64Digit(c byte) bool { return wordByte(c) || c == '+' || c == '/' || c == '-' }
