package session

import (
	"errors"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/schema"
)

// keptTurns is how many of the newest turns a compaction within a turn leaves
// as they are, if they are small.
const keptTurns = 2

// fit makes a turn's request small enough for the model's context, as far as
// compaction can. A request of which the system text and the input alone are
// too large is not sent (P17).
func (r *Run) fit(req *provider.Request) (*provider.Request, error) {
	if !r.session.fits(protectedSize(req)) {
		return nil, errProtected
	}
	if !r.session.compacts(req) {
		return req, nil
	}
	if smaller := r.condensed(req, schema.CompactThreshold, largeOlderTurns); smaller != nil {
		return smaller, nil
	}
	return req, nil
}

var errProtected = &provider.Error{
	Class: provider.ClassContextOverflow, Message: "the system text and the input alone are larger than context.maxContextTokens",
}

// compacts tells whether a request is so large that older turns are to be
// summarised.
func (s *Session) compacts(req *provider.Request) bool {
	cfg := &s.manager.cfg
	return cfg.MaxContextTokens > 0 && s.tokensOf(sizeOf(req)) > cfg.compactsAt()
}

// fits tells whether the model may take a text of that many bytes. In doubt it
// may: what it doesn't take, its provider refuses.
func (s *Session) fits(bytes int) bool {
	most := int64(s.manager.cfg.MaxContextTokens)
	s.mu.Lock()
	defer s.mu.Unlock()
	return most == 0 || tokensAt(min(s.tokenRate(), tokensPerByte), bytes) <= most
}

// compactsAt is the size of a request from which on older turns are summarised.
func (c *Config) compactsAt() int64 { return int64(c.CompactAt * float64(c.MaxContextTokens)) }

// ask calls the provider for the turn's answer. Where it finds the request too
// large before it has said anything, the older turns are summarised and it is
// called once more. It returns the request that was sent last.
func (r *Run) ask(req *provider.Request) (*provider.Request, *provider.Result, error) {
	if r.ctx.Err() != nil {
		return req, nil, errCancelled
	}
	out := r.newOutput()
	result, err := r.send(req, out)
	if !overflowed(err) || out.begun {
		return req, result, err
	}
	smaller := r.condensed(req, schema.CompactOverflow, olderTurns)
	if smaller == nil || r.ctx.Err() != nil {
		return req, nil, err
	}
	result, err = r.send(smaller, r.newOutput())
	return smaller, result, err
}

func (r *Run) send(req *provider.Request, out sink) (*provider.Result, error) {
	r.session.manager.sent.put(r.session.id, req)
	return r.callInto(req, out)
}

func overflowed(err error) bool {
	var failed *provider.Error
	return errors.As(err, &failed) && failed.Class == provider.ClassContextOverflow
}

// condensed is req with a summary of the older turns in their place; nil when
// there is none to be had, which its event has told.
func (r *Run) condensed(req *provider.Request, reason schema.CompactionReason, upTo scope) *provider.Request {
	result, err := r.condense(reason, upTo)
	if err != nil || result.TurnsReplaced == 0 {
		return nil
	}
	s := r.session
	s.mu.Lock()
	history := s.sent(r.redactor)
	s.mu.Unlock()
	return r.nextCall(req, history)
}

// nextCall is req for the turn's next call of the model: with that history and
// with what was spliced meanwhile (A6); all else, what was injected too, is as
// it was (P12).
func (r *Run) nextCall(req *provider.Request, history provider.History) *provider.Request {
	p := r.planned
	p.request.History = history
	r.renewReminders(p)
	r.renewAmbient(p)
	other, built := *req, p.request.Build()
	other.Segments, other.Injected = built.Segments, built.Injected
	return &other
}

// olderTurns is the scope of a compaction within a turn: all but the newest
// ones, which stay as they are while they take at most half of what would be
// summarised, and a quarter of the context where its size is known.
func olderTurns(s *Session) int {
	first := s.itemsUpTo(s.compacted.through)
	all := s.sizeFrom(first)
	room := all / 2
	to := len(s.turns)
	for range keptTurns {
		if to-1 <= s.compacted.through {
			break
		}
		size := s.sizeFrom(s.itemsUpTo(to - 1))
		if size > room || s.tooLarge(size) {
			break
		}
		to--
	}
	return to
}

// largeOlderTurns is olderTurns where a summary of them is worth a call: not
// where it is something else that makes requests large.
func largeOlderTurns(s *Session) int {
	to := olderTurns(s)
	size := s.sizeFrom(s.itemsUpTo(s.compacted.through)) - s.sizeFrom(s.itemsUpTo(to))
	if s.estimate(size) < s.manager.cfg.compactsAt()/20 {
		return 0
	}
	return to
}

// sizeFrom is the size of the history from that message on; mu is held.
func (s *Session) sizeFrom(item int) int {
	before := s.history.First(item)
	return s.history.Size() - before.Size()
}

func (s *Session) tooLarge(size int) bool {
	most := int64(s.manager.cfg.MaxContextTokens) / 4
	return most > 0 && s.estimate(size) > most
}
