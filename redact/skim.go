package redact

import "math"

// skim reads the text up to a position, but leaves out all that no occurrence
// is in. It needs a sampler for the values, if there are any, so none of them
// may be short.
func (f *finder) skim(end int) {
	value, key := f.pos-1, f.pos-2 // where the next ones are, once that is known
	for f.pos < end {
		if f.idle() {
			if value < f.pos {
				value = f.nextValue()
			}
			if key < f.pos-1 {
				key = f.nextKey()
			}
			f.jump(min(end, value, f.window(key)))
			if f.pos == end {
				return
			}
		}
		if f.pos >= value && f.auto == nil { // before, no value begins
			f.auto = f.r.auto()
		}
		f.read(f.text[f.pos-f.base])
	}
}

// scan reads all that there is, but leaves out what it can. At the end it reads
// enough to know what may have begun there.
func (f *finder) scan() {
	end := f.base + len(f.text)
	if end-f.pos > 2*f.longest && !f.r.words {
		f.read(f.text[f.pos-f.base]) // an anchor can't hold the byte before, which may be gone
		f.skim(end - f.longest)
	}
	for f.pos < end {
		f.glide()
		if f.pos < end {
			f.read(f.text[f.pos-f.base])
		}
	}
}

// glide reads up to the next byte with which something ends, where nothing is
// under way. It does what read does, in less time.
func (f *finder) glide() {
	if f.underWay() {
		return
	}
	text, rules, auto := f.text[f.pos-f.base:], f.rules, f.auto
	if rules == nil {
		rules = noRuleset
	}
	if auto == nil {
		auto = noPatterns
	}
	n, key, state, trail, before := 0, f.key, f.state, f.trail, f.edge()
	for n < len(text) {
		c := text[n]
		nextKey, nextState := rules.after(key, before, c), auto.next(state, c)
		if nextKey&ends != 0 || auto.ends(nextState) {
			break
		}
		key, state = nextKey, nextState
		if trail.plain() { // follow, without a call
			trail = trailOf(c)
		} else {
			trail = trail.follow(c)
		}
		before = trail.edge()
		n++
	}
	f.key, f.state, f.trail = key, state, trail
	f.pos += n
	f.ended <<= n
}

// What to read by where there are no rules, or no values: nothing ever begins.
var (
	noRuleset  = &ruleset{width: 1, next: make([]uint16, 1)}
	noPatterns = &automaton{near: make([][256]int32, 1), firstEnd: math.MaxInt32}
)

// far is where the next occurrence is when there is none.
const far = math.MaxInt

// idle tells whether what was read begins nothing, nor lets anything begin.
func (f *finder) idle() bool {
	return f.held() == 0 && f.ended&1 == 0 && f.key == 0 && !f.underWay()
}

// underWay tells whether what was found is still to be decided about.
func (f *finder) underWay() bool {
	return len(f.attempts) > 0 || f.digits > 0 || f.fresh.end > 0 || len(f.waiting) > 0
}

// jump goes on to a position while idle.
func (f *finder) jump(to int) {
	if to > f.pos {
		f.ended <<= to - f.pos
		f.trail = f.trailTo(to)
		f.pos, f.state = to, 0
	}
}

// trailTo is the trail before a position that is not before pos.
func (f *finder) trailTo(to int) trail {
	text := f.text[f.pos-f.base : to-f.base]
	if start := trailStart(text); start > 0 {
		return trail{}.over(text[start:])
	}
	return f.trail.over(text)
}

func (f *finder) nextValue() int {
	if f.r.sampler == nil {
		return far
	}
	if at := f.r.sampler.next(f.text, f.pos-f.base); at >= 0 {
		return at + f.base
	}
	return far
}

// nextKey looks from the byte before pos on: some anchors hold the one before
// their keyword.
func (f *finder) nextKey() int {
	if f.rules == nil {
		return far
	}
	return f.nextKeyword(max(f.pos-1, f.base), f.pos)
}

// window is where to begin reading for an anchor: where the longest keyword
// would begin that has it at its end.
func (f *finder) window(anchor int) int {
	if f.rules == nil {
		return anchor
	}
	return max(f.pos, anchor-f.rules.longest)
}
