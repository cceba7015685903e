package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"slices"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/schema"
)

// A Preview is a request that is about to be made but not to be sent.
type Preview struct {
	run       *Run
	last      *provider.Request // that the session sent
	history   bool
	untrusted []string // names that a configuration file lists and does not reach
}

// Preview resolves what a turn would be made of, by the rules of Begin, and
// takes nothing: no turn, no number, no place in the queue. A session that no
// store knows is not made. Turn is the number to go by; 0 is the session's
// next. Errors: *schema.ParamsError, ErrStore, *inject.UnknownError,
// *ConflictError.
func (m *Manager) Preview(start Start, turn int, history bool) (*Preview, error) {
	if err := m.checkID(start.SessionID); err != nil {
		return nil, err
	}
	s, err := m.View(start.SessionID)
	if errors.Is(err, ErrNotFound) {
		s, err = m.newSession(start.SessionID), nil
	}
	if err != nil {
		return nil, err
	}
	start.OnEvent = nil
	r, err := s.newRun(start)
	if err != nil {
		return nil, err
	}
	untrusted, err := s.resolveShown(r)
	if err != nil {
		return nil, err
	}
	if _, r.model, err = m.provider(s.modelFor(r.Model)); err != nil {
		r.model = s.modelFor(r.Model) // it takes no provider to see what one would get
	}
	if r.turn = turn; turn == 0 {
		r.turn = s.nextTurn()
	}
	if r.ExpectedTurn > 0 && r.ExpectedTurn != r.turn {
		return nil, &ConflictError{Expected: r.ExpectedTurn, Turn: r.turn}
	}
	last := m.sent.of(s.id)
	r.session = s.frozen()
	return &Preview{r, last, history, untrusted}, nil
}

// frozen is a copy of all that requests are made of, as it is now: what comes
// later changes nothing of it.
func (s *Session) frozen() *Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &Session{
		id: s.id, manager: s.manager, frameKey: s.frameKey, hiding: s.hiding, title: s.title, untitled: s.untitled,
		turns: s.turns, history: s.history, compacted: s.compacted, counted: s.counted, rate: s.rate,
		images: maps.Clone(s.images),
	}
	if sent := s.compacted.sent; sent != nil {
		own := *sent
		f.compacted.sent = &own
	}
	if s.splices != nil {
		f.splices = &splices{list: slices.Clone(s.splices.list), logged: slices.Clone(s.splices.logged)}
	}
	if s.reminded != nil {
		f.reminded = &reminded{last: maps.Clone(s.reminded.last)}
	}
	return f
}

func (s *Session) nextTurn() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.turns) + 1
}

// Result makes the request, which asks injectors that run code, and says what
// is in it. Errors: *inject.FailedError, *ProviderError for a request that the
// model can't take, ctx's cause.
func (p *Preview) Result(ctx context.Context) (*schema.PreviewResult, error) {
	r := p.run
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	defer r.cancel(nil)
	plan, err := r.guardedPlan()
	if err != nil {
		return nil, err
	}
	req := plan.request.Build()
	if !r.session.fits(protectedSize(req)) {
		return nil, r.failure(errProtected, false)
	}
	return p.describe(plan, req)
}

func (p *Preview) describe(plan *plan, req *provider.Request) (*schema.PreviewResult, error) {
	r := p.run
	size, hash, err := req.Measure()
	if err != nil {
		return nil, err
	}
	shared, err := shared(plan, req, p.last)
	if err != nil {
		return nil, err
	}
	return &schema.PreviewResult{
		SessionID: r.session.id, Turn: r.turn,
		Request: schema.PreviewRequest{Model: req.Model, Options: req.Options, Segments: p.segments(req)},
		Layers:  append(r.rows(plan), untrustedRows(p.untrusted)...), Bytes: size, Tokens: r.session.tokensOf(sizeOf(req)), SHA256: hash,
		Shared: shared, Compacts: r.session.compacts(req), Redacted: r.tally.list(),
	}, nil
}

func (p *Preview) segments(req *provider.Request) []schema.PreviewSegment {
	out := make([]schema.PreviewSegment, len(req.Segments))
	for i := range req.Segments {
		seg := &req.Segments[i]
		out[i].Kind = seg.Kind.String()
		switch {
		case seg.Kind != provider.SegmentHistory:
			out[i].Messages = shownMessages(seg.Messages)
		case p.history:
			out[i].Messages = shownHistory(&seg.History)
		default:
			out[i].History = standIn(&seg.History)
		}
	}
	return out
}

func shownMessages(messages []provider.Message) []schema.PreviewMessage {
	out := make([]schema.PreviewMessage, len(messages))
	for i, m := range messages {
		out[i] = schema.PreviewMessage{Role: m.Role, Content: m.Content, Source: shownSource(m.Source)}
	}
	return out
}

func shownHistory(h *provider.History) []schema.PreviewMessage {
	out := []schema.PreviewMessage{}
	for i, m := range h.Messages(0, h.Len()) {
		out = append(out, schema.PreviewMessage{Role: m.Role, Content: m.Content, Source: shownSource(h.Source(i))})
	}
	return out
}

func shownSource(s *provider.Source) *schema.Source {
	if s == nil {
		return nil
	}
	return &schema.Source{Kind: s.Kind, Form: s.Form, Summary: s.Summary}
}

func standIn(h *provider.History) *schema.PreviewHistory {
	encoded, _ := h.Plain()
	hash := sha256.Sum256(encoded)
	return &schema.PreviewHistory{Messages: h.Len(), Bytes: len(encoded), SHA256: hex.EncodeToString(hash[:])}
}

// shared compares req with the session's last request; nil is none.
func shared(plan *plan, req, last *provider.Request) (schema.PreviewShared, error) {
	if last == nil {
		return schema.PreviewShared{}, nil
	}
	same, err := req.SharedWith(last)
	out := schema.PreviewShared{Known: true, Bytes: same.Bytes}
	if err == nil && !same.Whole {
		out.BrokenBy = &schema.PreviewBreak{Segment: req.Segments[same.Segment].Kind.String(), Offset: same.Offset}
		out.BrokenBy.Name, out.BrokenBy.Gone = plan.breaks(req, last, same)
	}
	return out, err
}
