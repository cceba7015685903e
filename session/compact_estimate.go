package session

import (
	"cmp"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/schema"
)

// Tokens per byte of text: what is taken until a provider has counted some,
// and between which bounds its counts are believed.
const (
	tokensPerByte    = 0.25
	minTokensPerByte = 0.125
	maxTokensPerByte = 1.0
)

// calibratedFrom is the size of a request from which on its count says
// something: of a small one most is what the provider adds by itself.
const calibratedFrom = 1024

// estimate is about how many tokens a text of that many bytes is; mu is held.
func (s *Session) estimate(bytes int) int64 {
	return tokensAt(s.tokenRate(), bytes)
}

func (s *Session) tokenRate() float64 { return cmp.Or(s.rate, tokensPerByte) }

func tokensAt(rate float64, bytes int) int64 { return int64(float64(bytes)*rate + 0.5) }

// tokensOf is estimate without mu held.
func (s *Session) tokensOf(bytes int) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.estimate(bytes)
}

// calibrate learns from what the provider counted of a request. One with images
// says nothing of text: providers count them each in their own way.
func (s *Session) calibrate(req *provider.Request, usage schema.Usage) {
	bytes, read := sizeOf(req), tokensRead(usage)
	if bytes < calibratedFrom || read <= 0 || req.HasImages() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rate = min(max(float64(read)/float64(bytes), minTokensPerByte), maxTokensPerByte)
}

// tokensRead is how many tokens the model read; 0 when that isn't known. Some
// providers count cached ones apart, but all in the total.
func tokensRead(u schema.Usage) int64 {
	if u.InputTokens == nil {
		return 0
	}
	if u.TotalTokens != nil && u.OutputTokens != nil {
		return max(*u.InputTokens, *u.TotalTokens-*u.OutputTokens)
	}
	return *u.InputTokens
}

// countedTokens are those of a turn's request and answer; 0 when they aren't
// known.
func countedTokens(u schema.Usage) int64 {
	if u.InputTokens == nil || u.OutputTokens == nil {
		return 0
	}
	return tokensRead(u) + *u.OutputTokens
}

// contextUse is what the dialogue takes of the model's context; bytes are its
// size where no provider has counted it. mu is held.
func (s *Session) contextUse(counted int64, bytes int) schema.ContextUse {
	use := schema.ContextUse{Tokens: counted, Max: int64(s.manager.cfg.MaxContextTokens)}
	if counted == 0 {
		use.Tokens, use.Estimated = s.estimate(bytes), true
	}
	return use
}

// sizeOf is about how many bytes of text a request holds.
func sizeOf(req *provider.Request) int {
	return partSize(req, func(provider.SegmentKind) bool { return true })
}

// protectedSize is sizeOf of what can't be left out: system text and input.
func protectedSize(req *provider.Request) int {
	return partSize(req, func(k provider.SegmentKind) bool {
		return k == provider.SegmentSystem || k == provider.SegmentInput
	})
}

func partSize(req *provider.Request, counts func(provider.SegmentKind) bool) int {
	size := 0
	for i := range req.Segments {
		seg := &req.Segments[i]
		if !counts(seg.Kind) {
			continue
		}
		size += seg.History.Size()
		for _, m := range seg.Messages {
			size += provider.Size(m.Content)
		}
	}
	return size
}
