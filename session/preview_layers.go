package session

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/prism-rpc/prism-rpc/assemble"
	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/schema"
)

// rows say of all that was considered for the request what became of it (P11).
func (r *Run) rows(p *plan) []schema.PreviewLayer {
	out := []schema.PreviewLayer{}
	out = append(out, r.layerRows(p)...)
	for _, d := range p.decisions {
		out = append(out, r.decisionRows(p, d)...)
	}
	out = append(out, r.ambientRows(p)...)
	for _, b := range p.request.Blocks {
		if b.Source != assemble.BlockInjected {
			out = append(out, blockRow(b, schema.ReasonApplied))
		}
	}
	for _, b := range p.dropped {
		out = append(out, blockRow(b, schema.ReasonOverBudget))
	}
	out = append(out, p.reminders.rows(r.redactor)...)
	for i := range out {
		out[i].Name = r.redactor.Text(out[i].Name, nil)
		out[i].Tokens = r.session.tokensOf(out[i].Bytes)
	}
	return out
}

// layerRows are those of the system text, but for the injectors'. One that a
// later layer dropped, or that the turn does without, is disabled.
func (r *Run) layerRows(p *plan) []schema.PreviewLayer {
	standing := assemble.Standing(p.layers)
	var out []schema.PreviewLayer
	for _, l := range p.layers {
		if l.Name != "" || l.Text == "" {
			continue
		}
		reason := schema.ReasonDisabled
		if slices.Contains(standing, l) {
			reason = schema.ReasonApplied
		}
		out = append(out, layerRow(l, reason))
	}
	if r.Instructions.Off {
		for _, l := range r.session.manager.cfg.Layers {
			l.Text = r.redactor.Text(l.Text, nil)
			out = append(out, layerRow(l, schema.ReasonDisabled))
		}
	}
	return out
}

func layerRow(l assemble.Layer, reason schema.Reason) schema.PreviewLayer {
	return schema.PreviewLayer{
		Name: string(l.Source), Source: string(l.Source), Placement: schema.PlaceSystem, Reason: reason,
		Bytes: len(l.Text), SHA256: hashOf(l.Text),
	}
}

func blockRow(b assemble.Block, reason schema.Reason) schema.PreviewLayer {
	text := inject.Render(b.ContextBlock)
	return schema.PreviewLayer{
		Name: blockName(b), Source: string(b.Source), Placement: schema.PlaceContext, Reason: reason,
		Bytes: len(text), SHA256: hashOf(text),
	}
}

// decisionRows are an injector's: one for each placement of what stands in the
// request, or one that says why nothing does.
func (r *Run) decisionRows(p *plan, d inject.Decision) []schema.PreviewLayer {
	row := schema.PreviewLayer{
		Name: d.Name, Source: string(assemble.SourcePackage), Origin: d.Origin, Placement: d.Placement, When: d.When, Reason: d.Reason,
	}
	if d.Applied == nil {
		return []schema.PreviewLayer{row}
	}
	var out []schema.PreviewLayer
	for _, in := range r.injected([]inject.Applied{*d.Applied}, p.request.Blocks) {
		row.Placement, row.When, row.Bytes, row.SHA256, row.Ignored = in.Placement, in.When, in.Bytes, in.SHA256, in.Ignored
		row.Kind, row.Form, row.Summary = in.Kind, in.Form, in.Summary
		row.CacheRisk = cacheRisk(*d.Applied, in.Placement)
		out = append(out, row)
	}
	left := func(b assemble.Block) bool { return b.Injector == d.Name }
	if len(out) == 0 && !slices.ContainsFunc(p.dropped, left) {
		row.Reason = schema.ReasonSkipped // the middleware has left all of it out
		out = append(out, row)
	}
	return out
}

// cacheRisk says why what stands before the dialogue may differ from turn to
// turn, which costs a provider's cache of all behind it (P16).
func cacheRisk(a inject.Applied, place schema.Placement) string {
	head := place == schema.PlaceSystem || place == schema.PlaceContext && a.Position == schema.PositionHead
	switch {
	case !head:
		return ""
	case a.When != schema.WhenEveryTurn:
		return "it comes and goes before the dialogue; as a notice, or as context at the tail, it would leave the cache alone"
	case !a.Fixed:
		return "it is made anew for each turn and stands before the dialogue; as a notice, or as context at the tail, it would leave the cache alone"
	}
	return ""
}

// breaks names what makes a request differ from the last one where it begins
// to: an injector that is gone, else what stands there.
func (p *plan) breaks(req, last *provider.Request, at provider.Shared) (name string, gone bool) {
	place := map[provider.SegmentKind]schema.Placement{
		provider.SegmentSystem: schema.PlaceSystem, provider.SegmentStable: schema.PlaceContext, provider.SegmentBlocks: schema.PlaceContext,
	}[req.Segments[at.Segment].Kind]
	stays := func(old schema.Injected) bool {
		return slices.ContainsFunc(req.Injected, func(in schema.Injected) bool { return in.Name == old.Name && in.Placement == place })
	}
	for _, old := range last.Injected {
		if old.Placement == place && !stays(old) {
			return old.Name, true
		}
	}
	return p.standsAt(req, at), false
}

// standsAt names the layer in which a request begins to differ.
func (p *plan) standsAt(req *provider.Request, at provider.Shared) string {
	switch seg := &req.Segments[at.Segment]; seg.Kind {
	case provider.SegmentSystem:
		return p.layerAt(at.Offset)
	case provider.SegmentNotices:
		return seg.Messages[at.Message].Source.Summary
	case provider.SegmentStable, provider.SegmentBlocks:
		text := schema.PlainText(seg.Messages[at.Message].Content)
		for _, b := range p.request.Blocks {
			if inject.Render(b.ContextBlock) == text {
				return blockRow(b, "").Name
			}
		}
	}
	return ""
}

// layerAt names the layer that has that byte of the encoded system text.
func (p *plan) layerAt(offset int) string {
	standing := assemble.Standing(p.layers)
	for i, l := range standing {
		if offset < encodedSystem(assemble.ComposeSystem(standing[:i+1])) {
			return cmp.Or(l.Name, string(l.Source))
		}
	}
	return p.ambientAt(offset)
}

func hashOf(text string) string {
	hash := sha256.Sum256([]byte(text))
	return hex.EncodeToString(hash[:])
}
