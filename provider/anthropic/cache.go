package anthropic

import (
	"slices"

	"github.com/prism-rpc/prism-rpc/provider"
)

// The vendor keeps the beginning of a request up to each mark, and charges
// little for what a later request repeats of it. Marks stand at the end of the
// system text and at the end of the history; and at the end of the input, where
// nothing of this turn alone stands before it: what is sent now is then the
// beginning of the next turn's request. A request may hold four.

func cacheMark(ttl CacheTTL) string {
	switch ttl {
	case CacheOff:
		return ""
	case CacheOneHour:
		return `,"cache_control":{"type":"ephemeral","ttl":"1h"}`
	}
	return `,"cache_control":{"type":"ephemeral"}`
}

// appendMark puts a mark into the block that dst ends with.
func (p *Provider) appendMark(dst []byte) []byte {
	if p.mark == "" || len(dst) == 0 || dst[len(dst)-1] != '}' {
		return dst
	}
	return append(append(dst[:len(dst)-1], p.mark...), '}')
}

// mark marks the block that was written last.
func (b *builder) mark() {
	if b.role != "" {
		b.Buf = b.p.appendMark(b.Buf)
	}
}

// inputLasts tells whether the request up to its input is how the next turn's
// will begin.
func inputLasts(req *provider.Request) bool {
	return !slices.ContainsFunc(req.Segments, func(s provider.Segment) bool { return s.Kind == provider.SegmentBlocks })
}
