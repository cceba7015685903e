package redact

import "slices"

// A span is an occurrence, or several united ones, from start to before end.
type span struct {
	start, end int
	lead       int   // length of the occurrence that names it
	value      int32 // whose that is
}

// A finder reads a text from its beginning, byte by byte, and unites the
// occurrences. Its text may lose its beginning and gain at its end between
// scans: positions count from the beginning of all there was.
type finder struct {
	auto   *automaton
	text   string // from base on
	base   int
	before byte // the byte before base, if there is one
	pos    int  // how much was read
	state  int32

	marks   []span // in order, neither overlapping nor touching
	covered int    // end of the last mark taken from marks, or 0

	// Where an occurrence that is no word begins or ends, a word may end or
	// begin too: when that is gone, what is left stands alone.
	ended   uint64 // bit n: one ended n bytes ago; no word pattern has 64 bytes
	fresh   span   // the word occurrence that ends at pos, if any
	waiting []span // those, in order of end, that wait for one to begin there
}

func (f *finder) scan() {
	for i := f.pos - f.base; i < len(f.text); i++ {
		f.read(f.text[i])
	}
}

func (f *finder) read(c byte) {
	if f.fresh.end > 0 {
		f.settle(c)
	}
	f.state = f.auto.next(f.state, c)
	f.pos++
	f.ended <<= 1
	s := &f.auto.states[f.state]
	if s.whole != none {
		f.ended |= 1
		f.found(s.whole)
	}
	if s.word != none {
		f.foundWord(s.word)
	}
	if len(f.waiting) > 0 {
		f.giveUp()
	}
}

func (f *finder) span(p int32) span {
	pat := &f.auto.patterns[p]
	return f.ending(len(pat.text), pat.value)
}

// ending is the occurrence of n bytes that ends at pos.
func (f *finder) ending(n int, value int32) span { return span{f.pos - n, f.pos, n, value} }

func (f *finder) found(p int32) {
	sp := f.span(p)
	f.unite(sp)
	f.waiting = slices.DeleteFunc(f.waiting, func(w span) bool {
		if w.end != sp.start {
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
		if sp := f.span(p); f.opens(sp) {
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
	open := f.pos - f.held()
	over := 0
	for over < len(f.waiting) && f.waiting[over].end < open {
		over++
	}
	f.waiting = slices.Delete(f.waiting, 0, over)
}

// opens tells whether sp, which ends at pos, begins as a word: at a word
// boundary, or where another occurrence ended.
func (f *finder) opens(sp span) bool {
	return sp.start == 0 || !wordByte(f.at(sp.start-1)) || !wordByte(f.at(sp.start)) || f.ended>>(sp.end-sp.start)&1 == 1
}

func (f *finder) at(i int) byte {
	if i < f.base {
		return f.before
	}
	return f.text[i-f.base]
}

// unite puts sp in its place among the marks, nearly always the last.
func (f *finder) unite(sp span) {
	hi := len(f.marks)
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
	f.marks = slices.Replace(f.marks, lo, hi, sp)
}

func (f *finder) held() int { return int(f.auto.states[f.state].held) }

// decided is the position before which no occurrence can begin any more that
// is not among the marks.
func (f *finder) decided() int {
	at := f.pos - f.held()
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
	if f.fresh.end > 0 {
		f.unite(f.fresh)
	}
	f.fresh, f.waiting = span{}, nil
}
