package redact

import "strings"

// A rule describes one format of keys: a keyword, what must stand before it,
// and the parts that follow, each of which takes all it can. It asks for
// nothing else, no checksum and no measure of randomness.
//
// It finds a secret once the last part has its least length; what goes on from
// there belongs to the secret too, to the end of the word at least. No part
// takes a bracket: a marker ends every match.
type rule struct {
	name     string
	keywords []string
	fold     bool // the keywords, in lower case here, and literal parts have any case in the text
	shown    bool // the keyword is no part of the secret
	after    edge
	parts    []part // the last one is a run
}

// A part is a run of bytes or a literal.
type part struct {
	run      *class
	min, max int // bytes of the run; max 0 is no bound
	literal  string
	shown    bool   // no part of the secret, which begins behind it
	more     *class // of the last run: what goes on with a secret once it is found; default run and letters, digits, "_"
	before   byte   // of a last run: the secret ends before the last of these; without one there is none
}

func (r *rule) last() *part { return &r.parts[len(r.parts)-1] }

// A class is a set of bytes.
type class [256]bool

// bytesOf makes a class of what it lists; a-z stands for all from a to z.
func bytesOf(list string) *class {
	var c class
	for i := 0; i < len(list); i++ {
		first, last := list[i], list[i]
		if i+2 < len(list) && list[i+1] == '-' {
			last = list[i+2]
			i += 2
		}
		for b := int(first); b <= int(last); b++ {
			c[b] = true
		}
	}
	return &c
}

// bits256 is a class, a bit for each byte.
type bits256 [4]uint64

func (c *class) bits() (out bits256) {
	for b := range c {
		if c[b] {
			out.set(byte(b))
		}
	}
	return out
}

func (b *bits256) set(c byte) { b[c>>6] |= 1 << (c & 63) }

func (b *bits256) has(c byte) bool { return b[c>>6]>>(c&63)&1 == 1 }

func (b bits256) covers(c bits256) bool {
	return c[0]&^b[0]|c[1]&^b[1]|c[2]&^b[2]|c[3]&^b[3] == 0
}

func (b *bits256) add(c bits256) {
	for i := range b {
		b[i] |= c[i]
	}
}

// reach is every byte that may stand behind the rule's keyword.
func (r *rule) reach() (out bits256) {
	for _, p := range r.parts {
		if p.run != nil {
			out.add(p.run.bits())
		}
		if p.more != nil {
			out.add(p.more.bits())
		}
		for _, c := range []byte(p.literal) {
			out.set(c)
		}
	}
	return out
}

// first is every byte that may stand right behind the keyword.
func (r *rule) first() *class {
	first := &class{}
	for _, p := range r.parts {
		if p.run == nil {
			return first.and(bytesOf(p.literal[:1] + strings.ToUpper(p.literal[:1])))
		}
		if first = first.and(p.run); p.min > 0 {
			break
		}
	}
	return first
}

func (c *class) and(d *class) *class {
	out := *c
	for b := range out {
		out[b] = out[b] || d[b]
	}
	return &out
}

// without is every byte but those of c.
func without(c *class) *class {
	var out class
	for b := range out {
		out[b] = !c[b]
	}
	return &out
}

func lowerByte(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
