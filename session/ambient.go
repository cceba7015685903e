package session

import (
	"context"
	"slices"

	"github.com/prism-rpc/prism-rpc/assemble"
	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/inject/ambient"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
)

// Ambient says what stands at the end of the system text (A1–A6).
type Ambient struct {
	On     bool                  // what sessions have that say nothing else; default off
	Blocks []schema.AmbientBlock // behind the built-in ones

	// Armed is asked what the built-in blocks of a session may talk about, at
	// each call of its model, while the session has ambient blocks on. Nil arms
	// nothing. It may be called for several sessions at once.
	Armed func(ctx context.Context, sessionID string) ambient.Armed
}

// rendersAmbient tells whether the session's turns carry ambient blocks (A1);
// mu is held.
func (s *Session) rendersAmbient() bool {
	if own := s.settings().ContextInjections; own != nil {
		return *own
	}
	return s.manager.cfg.Ambient.On
}

// armed is what the host says of itself, modules being what the client says.
func (a *Ambient) armed(ctx context.Context, sessionID string, modules schema.Modules) ambient.Armed {
	if a.Armed == nil {
		return ambient.Armed{}.With(modules)
	}
	return a.Armed(ctx, sessionID).With(modules)
}

// standing are the blocks that stand before spliced ones (A2).
func (a *Ambient) standing(armed ambient.Armed) []ambient.Block {
	return append(ambient.Builtins(armed), ambient.Configured(a.Blocks)...)
}

func withSpliced(blocks []ambient.Block, spliced []*splice) []ambient.Block {
	blocks = slices.Clip(blocks)
	for _, sp := range spliced {
		blocks = append(blocks, sp.block())
	}
	return blocks
}

// An ambientPart is what a turn knows of its ambient blocks.
type ambientPart struct {
	on       bool               // from the turn's start on
	standing []ambient.Block    // fixed for the turn (P12)
	spliced  []*splice          // the session's, of the next call
	all      []assemble.Ambient // of the next call, rendered
	dropped  []assemble.Ambient // of these, those that found no room
}

// ambientPart asks what is armed, unless ambient blocks are off (A1), and
// renders all of them.
func (r *Run) ambientPart() (part ambientPart) {
	s := r.session
	s.mu.Lock()
	part.on, part.spliced = s.rendersAmbient(), s.spliced()
	s.mu.Unlock()
	if !part.on {
		return part
	}
	cfg := &s.manager.cfg.Ambient
	part.standing = cfg.standing(cfg.armed(r.ctx, s.id, r.Modules))
	part.all = assemble.RenderAmbient(withSpliced(part.standing, part.spliced), r.redactor, r.tally.at(whereInjected))
	return part
}

// fit gives the blocks for which there is room beside blocks.
func (part *ambientPart) fit(blocks []assemble.Block, room func(bytes int) bool) (kept []assemble.Ambient) {
	kept, part.dropped = assemble.DropAmbient(part.all, blocks, room)
	return kept
}

// renewAmbient takes in what was spliced and unspliced since p was made, and
// reports what p did not have.
func (r *Run) renewAmbient(p *plan) {
	if !p.ambient.on {
		return
	}
	r.session.mu.Lock()
	p.ambient.spliced = r.session.spliced()
	r.session.mu.Unlock()
	before, droppedBefore := p.request.Ambient, p.ambient.dropped
	p.ambient.all = assemble.RenderAmbient(withSpliced(p.ambient.standing, p.ambient.spliced), r.redactor, nil)
	p.request.Ambient = p.ambient.fit(p.request.Blocks, r.roomBeside(p.layers, p.request.Notices))
	p.request.Injected = p.report()
	r.carry(p)
	r.reportInjected(assemble.ReportAmbient(beyond(p.request.Ambient, before)), ambientSkipped(beyond(p.ambient.dropped, droppedBefore)))
}

// beyond are the blocks of list that are not in before.
func beyond(list, before []assemble.Ambient) []assemble.Ambient {
	return slices.DeleteFunc(slices.Clone(list), func(a assemble.Ambient) bool { return slices.Contains(before, a) })
}

func ambientSkipped(dropped []assemble.Ambient) inject.Decisions {
	var out inject.Decisions
	for _, a := range dropped {
		out = append(out, inject.Decision{Name: a.Name, Reason: schema.ReasonOverBudget, Err: errNoRoom})
	}
	return out
}

// carry notes which blocks of lifetime next the turn uses up if it commits.
func (r *Run) carry(p *plan) {
	for _, sp := range p.ambient.spliced {
		isIt := func(a assemble.Ambient) bool { return a.Origin == schema.OriginSplice && a.ID == sp.id }
		if sp.lifetime == schema.LifetimeNext && slices.ContainsFunc(p.request.Ambient, isIt) {
			r.carried = append(r.carried, sp.serial)
		}
	}
}

// BeginListContext takes note of the session's ambient blocks as they are. List
// says what they are, as a turn for a client with these modules would carry
// them; it may wait for Config.Ambient.Armed, which is not asked while ambient
// blocks are off (A1).
func (s *Session) BeginListContext(modules schema.Modules) (list func(ctx context.Context, text bool) *schema.ListContextResult) {
	s = s.present()
	s.mu.Lock()
	defer s.mu.Unlock()
	on, spliced, red := s.rendersAmbient(), s.spliced(), s.redactor()
	return func(ctx context.Context, text bool) *schema.ListContextResult {
		var armed ambient.Armed
		if on {
			armed = s.manager.cfg.Ambient.armed(ctx, s.id, modules)
		}
		blocks := withSpliced(s.manager.cfg.Ambient.standing(armed), spliced)
		out := &schema.ListContextResult{Enabled: on, Blocks: make([]schema.AmbientInfo, len(blocks))}
		for i, b := range blocks {
			out.Blocks[i] = describeAmbient(b, on, text, red)
		}
		for i, sp := range spliced {
			out.Blocks[len(blocks)-len(spliced)+i].Lifetime = sp.lifetime
		}
		return out
	}
}

func describeAmbient(b ambient.Block, rendered, text bool, red *redact.Redactor) schema.AmbientInfo {
	sent := assemble.RenderAmbient([]ambient.Block{b}, red, nil)[0].Injected()
	info := schema.AmbientInfo{
		ID: red.Text(b.ID, nil), Name: sent.Name, Origin: b.Origin, Bytes: sent.Bytes, SHA256: sent.SHA256, Rendered: rendered,
	}
	if text {
		content := red.Text(b.Content, nil)
		info.Content = &content
	}
	return info
}
