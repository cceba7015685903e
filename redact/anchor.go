package redact

import "strings"

// anchors find keywords without reading the text byte by byte: for each, its
// rarest four bytes are looked for, hashed, in a bitmap. A keyword of three
// bytes takes the byte that goes with it.
type anchors struct {
	bitmap  [1 << 11]uint64 // 16 KB, which stay in the nearest cache
	heads   [1 << 10]uint16 // by hash: the first entry and one, or 0
	entries []anchor
}

type anchor struct {
	gram    uint32
	keyword int32
	offset  int32 // of the gram in the keyword; -1 when the byte before it is in
	next    uint16
}

const spread = 0x9E3779B1 // 2^32 over the golden ratio, to hash by multiplying

// gram is the first four bytes of s.
func gram(s string) uint32 {
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

func newAnchors(s *ruleset) *anchors {
	a := &anchors{}
	for i := range s.keywords {
		k := &s.keywords[i]
		switch {
		case len(k.text) >= 4:
			at := rarest(k.text)
			a.addCases(k, int32(i), at)
		case k.after == schemeEnd || k.after == digitEnd:
			a.addBehind(k, int32(i))
		default:
			a.addFollowed(k, int32(i), s.rules[k.rule].first())
		}
	}
	return a
}

func (a *anchors) add(g uint32, keyword, offset int32) {
	h := g * spread
	a.bitmap[h>>15>>6] |= 1 << (h >> 15 & 63)
	head := &a.heads[h>>22]
	a.entries = append(a.entries, anchor{g, keyword, offset, *head})
	*head = uint16(len(a.entries))
}

// addCases adds the four bytes at a place, in each case that they may have.
func (a *anchors) addCases(k *keyword, keyword int32, at int) {
	for _, text := range inCases(k, at, at+4) {
		a.add(gram(text), keyword, int32(at))
	}
}

func (a *anchors) addBehind(k *keyword, keyword int32) {
	for _, text := range inCases(k, 0, len(k.text)) {
		for c := range 256 {
			if k.after.holds(edgeBehind[c]) {
				a.add(gram(string([]byte{byte(c)})+text), keyword, -1)
			}
		}
	}
}

func (a *anchors) addFollowed(k *keyword, keyword int32, first *class) {
	for _, text := range inCases(k, 0, len(k.text)) {
		for c := range 256 {
			if first[c] {
				a.add(gram(text+string([]byte{byte(c)})), keyword, 0)
			}
		}
	}
}

// inCases is the keyword from one place to before another, in each case that
// it may have.
func inCases(k *keyword, from, to int) []string {
	texts := []string{""}
	for i := from; i < to; i++ {
		var longer []string
		for _, text := range texts {
			for _, c := range cases(k, i) {
				longer = append(longer, text+string(rune(c)))
			}
		}
		texts = longer
	}
	return texts
}

// rarest is where the four bytes of a keyword begin that text has least often,
// going by its letters.
func rarest(keyword string) int {
	best, least := 0, -1
	for at := 0; at+4 <= len(keyword); at++ {
		rarity := 0
		for _, c := range []byte(keyword[at : at+4]) {
			rarity += byteRarity(c)
		}
		if rarity > least {
			best, least = at, rarity
		}
	}
	return best
}

func byteRarity(c byte) int {
	switch {
	case strings.IndexByte("etaoinsr -", c) >= 0:
		return 0
	case strings.IndexByte("zqxjkvw", c) >= 0:
		return 4
	case c < 'a' || c > 'z':
		return 3
	}
	return 1
}

// next is the first place in text from i on where an anchor may be, or -1.
func (a *anchors) next(text string, i int) int {
	bitmap := &a.bitmap
	for ; i+8 <= len(text); i += 5 {
		t := text[i : i+8]
		w := uint64(t[0]) | uint64(t[1])<<8 | uint64(t[2])<<16 | uint64(t[3])<<24 |
			uint64(t[4])<<32 | uint64(t[5])<<40 | uint64(t[6])<<48 | uint64(t[7])<<56
		h0 := uint32(w) * spread >> 15
		h1 := uint32(w>>8) * spread >> 15
		h2 := uint32(w>>16) * spread >> 15
		h3 := uint32(w>>24) * spread >> 15
		h4 := uint32(w>>32) * spread >> 15
		if (bitmap[h0>>6]>>(h0&63)|bitmap[h1>>6]>>(h1&63)|bitmap[h2>>6]>>(h2&63)|bitmap[h3>>6]>>(h3&63)|bitmap[h4>>6]>>(h4&63))&1 != 0 {
			break
		}
	}
	for ; i+4 <= len(text); i++ {
		if h := gram(text[i:]) * spread >> 15; bitmap[h>>6]>>(h&63)&1 != 0 {
			return i
		}
	}
	return -1
}

// nextKeyword is the first anchor from position i on, but for those of
// keywords that begin before from, or without their edge; or far.
func (f *finder) nextKeyword(i, from int) int {
	a := f.rules.anchors
	for at := a.next(f.text, i-f.base); at >= 0; at = a.next(f.text, at+1) {
		g := gram(f.text[at:])
		for e := a.heads[g*spread>>22]; e != 0; e = a.entries[e-1].next {
			if x := &a.entries[e-1]; x.gram == g && f.keywordAt(x, at+f.base, from) {
				return at + f.base
			}
		}
	}
	return far
}

func (f *finder) keywordAt(x *anchor, at, from int) bool {
	k := &f.rules.keywords[x.keyword]
	start := at - int(x.offset)
	if start < from || start-f.base+len(k.text) > len(f.text) {
		return false
	}
	for i := range len(k.text) {
		if !k.matches(i, f.text[start-f.base+i]) {
			return false
		}
	}
	return k.after == anywhere || k.after.holds(f.trailTo(start).edge())
}
