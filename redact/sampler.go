package redact

import "math/bits"

// A sampler finds occurrences of patterns without reading the whole text. With
// m the length of the shortest, it looks at four bytes in every m-3: each
// occurrence holds such a sample whole. One hash of it is tested in a bitmap,
// and the patterns are compared only where that hits.
type sampler struct {
	patterns []pattern
	stride   int
	bitmap   []uint64
	shift    uint
	heads    []int32 // by hash: the first entry and one, or 0
	hash     uint
	entries  []sample
}

type sample struct {
	gram  uint32
	place uint32 // pattern times maxStride, and the offset in it
	next  int32
}

const maxStride = 16

// newSampler takes patterns of at least four bytes.
func newSampler(patterns []pattern) *sampler {
	shortest := len(patterns[0].text)
	for _, p := range patterns {
		shortest = min(shortest, len(p.text))
	}
	s := &sampler{patterns: patterns, stride: min(shortest-3, maxStride)}
	n := len(patterns) * s.stride
	// 32 bits or more for each sample, at most 256 KB, which a near cache holds.
	size := min(max(bits.Len(uint(n*32)), 12), 21)
	s.bitmap = make([]uint64, 1<<(size-6))
	s.shift = uint(32 - size)
	buckets := bits.Len(uint(n))
	s.heads = make([]int32, 1<<buckets)
	s.hash = uint(32 - buckets)
	s.entries = make([]sample, 0, n)
	for i, p := range patterns {
		for at := range s.stride {
			s.add(gram(p.text[at:]), uint32(i*maxStride+at))
		}
	}
	return s
}

func (s *sampler) add(g, place uint32) {
	h := g * spread
	s.bitmap[h>>s.shift>>6] |= 1 << (h >> s.shift & 63)
	head := &s.heads[h>>s.hash]
	s.entries = append(s.entries, sample{g, place, *head})
	*head = int32(len(s.entries))
}

// next is where the first occurrence begins in text from i on, or -1.
func (s *sampler) next(text string, i int) int {
	from := i
	for i = s.hit(text, i); i >= 0; i = s.hit(text, i+s.stride) {
		if at := s.occurrence(text, i, from); at >= 0 {
			return at
		}
	}
	return -1
}

// hit is the first sample from i on that may be a pattern's, or -1.
func (s *sampler) hit(text string, i int) int {
	bitmap, shift, stride := s.bitmap, s.shift&31, s.stride
	mask := uint32(len(bitmap) - 1)
	for ; i+3*stride+4 <= len(text); i += 4 * stride {
		h0 := gram(text[i:i+4]) * spread >> shift
		h1 := gram(text[i+stride:i+stride+4]) * spread >> shift
		h2 := gram(text[i+2*stride:i+2*stride+4]) * spread >> shift
		h3 := gram(text[i+3*stride:i+3*stride+4]) * spread >> shift
		if (bitmap[h0>>6&mask]>>(h0&63)|bitmap[h1>>6&mask]>>(h1&63)|bitmap[h2>>6&mask]>>(h2&63)|bitmap[h3>>6&mask]>>(h3&63))&1 != 0 {
			break
		}
	}
	for ; i+4 <= len(text); i += stride {
		if h := gram(text[i:i+4]) * spread >> shift; bitmap[h>>6&mask]>>(h&63)&1 != 0 {
			return i
		}
	}
	return -1
}

// maxCompared is how many bytes of a pattern are compared. Of a longer one the
// finder reads on, and no byte twice.
const maxCompared = 256

// occurrence is where the first occurrence begins, from a place on, of those
// that have the sample at i; or -1. An occurrence that begins earlier has no
// later sample, so it is the first of all.
func (s *sampler) occurrence(text string, i, from int) int {
	first := -1
	g := gram(text[i:])
	for e := s.heads[g*spread>>s.hash]; e != 0; {
		x := &s.entries[e-1]
		e = x.next
		if x.gram != g {
			continue
		}
		at, p := i-int(x.place%maxStride), s.patterns[x.place/maxStride].text
		if at < from || first >= 0 && at >= first || at+len(p) > len(text) {
			continue
		}
		if p = p[:min(len(p), maxCompared)]; text[at:at+len(p)] == p {
			first = at
		}
	}
	return first
}
