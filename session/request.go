package session

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"

	"go.uber.org/zap"

	"github.com/prism-rpc/prism-rpc/assemble"
	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/inject/reminder"
	"github.com/prism-rpc/prism-rpc/internal/plain"
	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/schema"
)

// A plan is what a turn's request is made of, and why. The turn sends it,
// preview shows it.
type plan struct {
	request   assemble.Request
	layers    []assemble.Layer // all of the system text, also those left out
	decisions inject.Decisions // on the selected injectors
	dropped   []assemble.Block // that found no room
	leftOut   inject.Decisions // on what found none, once that was reported
	ambient   ambientPart
	reminders reminders
	injected  []schema.Injected // all but the ambient blocks
}

// report is what stands in the request, as it is told.
func (p *plan) report() []schema.Injected {
	return slices.Concat(p.injected, assemble.ReportAmbient(p.request.Ambient), reminder.Injected(p.reminders.notices))
}

// plan asks the injectors and puts the parts of the run's request together.
// What they gave is fixed from here on (P12).
func (r *Run) plan() (*plan, error) {
	s := r.session
	cfg := &s.manager.cfg
	s.mu.Lock()
	history, sent, base := s.cleanHistory(r.redactor), s.sent(r.redactor), s.base()
	s.mu.Unlock()
	seen := r.seen(history)
	decisions, err := inject.Apply(r.ctx, cfg.Registry.Refresh(r.selected), seen, r.redactor, r.tally.at(whereInjected),
		inject.Options{Timeout: cfg.InjectorTimeout, Frame: s.frameKey.framer()})
	if err != nil {
		return nil, err
	}
	p := &plan{decisions: decisions, layers: r.layers(base, decisions.Applied())}
	leaveOut(p.decisions, p.layers)
	blocks, err := r.blocks(seen, decisions.Applied())
	if err != nil {
		return nil, fmt.Errorf("context blocks: %w", err)
	}
	p.reminders = r.reminders()
	notices := p.notices()
	room := r.roomBeside(p.layers, notices)
	p.ambient = r.ambientPart()
	ambient := p.ambient.fit(blocks, room)
	if len(ambient) == 0 { // else there is room for all blocks
		blocks, p.dropped = assemble.Drop(blocks, room)
	}
	p.request = assemble.Request{
		Model: r.model, Layout: r.layout(), Options: r.Options,
		Layers: p.layers, Ambient: ambient, Blocks: blocks, History: sent, Input: r.input, Notices: notices,
		SessionID: s.id, RunID: r.id, Turn: r.turn, Step: 1,
	}
	p.injected = r.injected(decisions.Applied(), blocks)
	p.request.Injected = p.report()
	return p, nil
}

// leaveOut takes back the instructions that a later layer of the system text
// dropped or emptied (P13).
func leaveOut(decisions inject.Decisions, layers []assemble.Layer) {
	stands := map[string]bool{}
	for _, l := range assemble.Standing(layers) {
		stands[l.Name] = true
	}
	for i, d := range decisions {
		if d.Applied == nil || d.Applied.Instructions == "" || stands[d.Name] {
			continue
		}
		d.Applied.Instructions = ""
		if d.Applied.Empty() {
			decisions[i].Applied, decisions[i].Reason = nil, schema.ReasonDisabled
		}
	}
}

// blocks are the turn's context blocks.
func (r *Run) blocks(seen inject.Context, applied []inject.Applied) ([]assemble.Block, error) {
	cfg := &r.session.manager.cfg
	return assemble.Sources{
		Configured: cfg.Blocks, Turn: r.ContextBlocks, Host: cfg.Context, Applied: applied,
		Middleware: cfg.Middleware, Frame: r.session.frameKey.framer(),
	}.Collect(r.ctx, seen, r.redactor, r.tally.at(whereContext))
}

// injected reports what of applied stands in a request with these blocks.
func (r *Run) injected(applied []inject.Applied, blocks []assemble.Block) []schema.Injected {
	out := assemble.Report(applied, blocks)
	for i := range out {
		out[i].Name = r.redactor.Text(out[i].Name, nil)
	}
	return out
}

// assemble makes the run's request and reports what is in it.
func (r *Run) assemble() (*provider.Request, error) {
	p, err := r.guardedPlan()
	if err != nil {
		r.logFailed(err)
		return nil, err
	}
	r.planned = p
	r.carry(p)
	p.leftOut = append(ambientSkipped(p.ambient.dropped), r.overBudget(p.dropped)...)
	r.reportInjected(p.request.Injected, slices.Concat(p.decisions.Skipped(), p.leftOut))
	return p.request.Build(), nil
}

// passedOver is what the turn's record says of what was selected and is not in
// the request (P11).
func (r *Run) passedOver() []schema.Passed {
	p := r.planned
	if p == nil {
		return nil
	}
	var out []schema.Passed
	for _, d := range slices.Concat(p.decisions, p.leftOut) {
		if d.Applied == nil {
			out = append(out, schema.Passed{Name: r.redactor.Text(d.Name, nil), Origin: d.Origin, Placement: d.Placement, Reason: d.Reason})
		}
	}
	for _, d := range p.reminders.decisions {
		if !d.Applied() {
			out = append(out, schema.Passed{Name: r.redactor.Text(d.ID, nil), Origin: schema.OriginUser, Placement: schema.PlaceNotice, Reason: d.Reason})
		}
	}
	return out
}

var errNoRoom = errors.New("context.maxContextTokens leaves no room for a context block")

// roomBeside tells whether the model takes blocks of that many bytes in all
// beside what must not be left out (P17).
func (r *Run) roomBeside(layers []assemble.Layer, notices []provider.Message) func(bytes int) bool {
	protected := len(assemble.ComposeSystem(layers)) + provider.Size(r.input)
	for _, n := range notices {
		protected += len(schema.PlainText(n.Content))
	}
	return func(bytes int) bool { return r.session.fits(protected + bytes) }
}

// overBudget reports the blocks that are left out: an injector's once for all,
// each of the host under its title. None goes silently (P17).
func (r *Run) overBudget(dropped []assemble.Block) inject.Decisions {
	var out inject.Decisions
	said := map[string]bool{} // injectors
	for _, b := range dropped {
		if b.Source == assemble.BlockInjected && said[b.Injector] {
			continue
		}
		said[b.Injector] = true
		out = append(out, inject.Decision{Name: blockName(b), Placement: schema.PlaceContext, Reason: schema.ReasonOverBudget, Err: errNoRoom})
	}
	return out
}

// maxBlockName bounds what a block that has only a title is called in reports.
const maxBlockName = 128

// blockName is what a context block is called in reports: as its injector, or
// by its title, fit to be shown.
func blockName(b assemble.Block) string {
	if b.Source == assemble.BlockInjected {
		return b.Injector
	}
	return plain.Text(cmp.Or(b.Title, b.ID, "Context"), maxBlockName)
}

// seen is what injectors see of the turn (P9).
func (r *Run) seen(history provider.History) inject.Context {
	return inject.Context{
		SessionID: r.session.id, RunID: r.id, Turn: r.turn, Step: 1,
		Input: r.input, Metadata: r.Metadata, Trivial: r.trivial(), History: dialogue(history, history.Len()),
		Recent: func(most int) iter.Seq[schema.Message] { return dialogue(history, most) },
	}
}

// dialogue is the end of the history, at most so many messages, without the
// notices among them: what was injected is nothing that was said (P9).
func dialogue(history provider.History, most int) iter.Seq[schema.Message] {
	return func(yield func(schema.Message) bool) {
		for i, m := range history.Messages(history.LastSaid(most), history.Len()) {
			if history.Source(i) == nil && !yield(m) {
				return
			}
		}
	}
}

// layers are the parts of the system text (P13). `instructions: false` leaves
// the base and the injectors alone.
func (r *Run) layers(base string, applied []inject.Applied) []assemble.Layer {
	layers := []assemble.Layer{{Source: assemble.SourceBase, Mode: schema.LayerAppend, Text: base}}
	if !r.Instructions.Off {
		layers = append(layers, r.session.manager.cfg.Layers...)
		layers = append(layers, assemble.Layer{Source: assemble.SourceRun, Mode: r.Instructions.Mode, Text: r.Instructions.Text})
	}
	for i := range layers {
		layers[i].Text = r.redactor.Text(layers[i].Text, r.tally.at(whereInstructions))
	}
	return append(layers, assemble.InjectedLayers(applied)...)
}

func (r *Run) layout() schema.Layout {
	if r.Options.Layout != "" {
		return r.Options.Layout
	}
	return r.session.manager.cfg.Layout
}

// logFailed writes what an injector that ends the turn said, which the turn's
// own error does not.
func (r *Run) logFailed(err error) {
	if failed, ok := errors.AsType[*inject.FailedError](err); ok {
		r.log(zap.WarnLevel, "injector failed", failed.Err, zap.String("injector", failed.Name))
	}
}

func (r *Run) reportInjected(injected []schema.Injected, skipped inject.Decisions) {
	for _, in := range injected {
		r.emit(&schema.InjectedEvent{EventHeader: r.header(schema.EventInjected, r.turn), Injected: in})
	}
	for _, sk := range skipped {
		r.log(zap.WarnLevel, "injector skipped", sk.Err, skippedName(sk), zap.String("reason", string(sk.Reason)))
		r.emit(&schema.InjectorSkipped{EventHeader: r.header(schema.EventInjectorSkipped, r.turn), Name: sk.Name, Reason: string(sk.Reason)})
	}
}

// skippedName is an injector's name for the log, and nothing of a block that
// came with a request: its title is the client's text.
func skippedName(d inject.Decision) zap.Field {
	if d.Origin == "" {
		return zap.Skip()
	}
	return zap.String("injector", d.Name)
}
