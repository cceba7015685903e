package redact

import (
	"slices"
	"strings"
)

// A Stream redacts a text that comes in chunks, cut anywhere. What Write and
// Flush return, joined, is what Text makes of the chunks joined, but for one
// thing: a known value that the end of the stream cuts off gives way to a
// marker as well, once at least 8 bytes and half of it were there. Text leaves
// such a beginning as it is.
//
// A Stream holds back only what may still turn out to be part of a value, and
// the bytes of an unfinished character. It is for one goroutine at a time.
type Stream struct {
	r     *Redactor
	f     finder
	tally Tally
}

// Stream begins one.
func (r *Redactor) Stream() *Stream {
	s := &Stream{r: r}
	s.reset()
	return s
}

func (s *Stream) reset() {
	if s.f = (finder{}); !s.r.empty() {
		s.f = s.r.finder(false)
		s.f.auto = s.r.auto()
	}
}

// Write takes the next chunk and returns what may be shown now.
func (s *Stream) Write(chunk string) string {
	f := &s.f
	if f.r == nil {
		return chunk
	}
	if f.text == "" {
		f.text = chunk
	} else {
		f.text += chunk
	}
	f.scan()
	return s.release(min(f.decided(), f.pos-partialRune(f.text)))
}

// Flush ends the text and returns what is left of it. The next Write begins a
// new one.
func (s *Stream) Flush() string {
	f := &s.f
	if f.r == nil {
		return ""
	}
	if f.auto != nil {
		if n, value := f.auto.cutOff(f.text[len(f.text)-f.held():]); n > 0 {
			f.unite(f.ending(n, value))
			f.beginsAt(f.pos - n)
		}
	}
	f.end()
	out := s.release(f.pos)
	s.reset()
	return out
}

// Tally counts the markers that the stream has shown, over all its texts. It
// is the stream's own.
func (s *Stream) Tally() *Tally { return &s.tally }

// release shows the text before position to and forgets it.
func (s *Stream) release(to int) string {
	f := &s.f
	if to == f.base {
		return ""
	}
	out := s.redacted(to)
	f.before = f.text[to-f.base-1]
	f.text = f.text[to-f.base:]
	f.base = to
	return out
}

// redacted is the text from base to a position, with what begins there as
// marks. A mark that touches the last one shown only makes that longer.
func (s *Stream) redacted(to int) string {
	f := &s.f
	if f.covered <= f.base && (len(f.marks) == 0 || f.marks[0].start >= to) {
		return f.text[:to-f.base]
	}
	var out strings.Builder
	show := func(end int) {
		if start := max(f.base, f.covered); start < end {
			out.WriteString(f.text[start-f.base : end-f.base])
		}
	}
	taken := 0
	for ; taken < len(f.marks) && f.marks[taken].start < to; taken++ {
		m := f.marks[taken]
		if f.covered == 0 || m.start > f.covered {
			show(m.start)
			out.WriteString(s.r.labels()[m.value].mark(&s.tally))
		}
		f.covered = max(f.covered, m.end)
	}
	f.marks = slices.Delete(f.marks, 0, taken)
	show(to)
	return out.String()
}

// cutOff looks for the longest end of tail that is a telling but not the whole
// part of a pattern's beginning.
func (a *automaton) cutOff(tail string) (n int, value int32) {
	for ; len(tail) >= minValue; tail = tail[1:] {
		i, _ := slices.BinarySearchFunc(a.patterns, tail, func(p pattern, t string) int { return strings.Compare(p.text, t) })
		for ; i < len(a.patterns) && strings.HasPrefix(a.patterns[i].text, tail); i++ {
			if p := a.patterns[i]; !p.word && len(p.text) > len(tail) && len(p.text) <= 2*len(tail) {
				return len(tail), p.value
			}
		}
	}
	return 0, none
}
