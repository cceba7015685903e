package session

import (
	"slices"

	"github.com/prism-rpc/prism-rpc/assemble"
	"github.com/prism-rpc/prism-rpc/inject/ambient"
	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/schema"
)

// sourceAmbient is a preview row's source.
const sourceAmbient = "ambient"

// ambientRows are those of the ambient blocks. While they are off, what is kept
// for when they are on is disabled.
func (r *Run) ambientRows(p *plan) []schema.PreviewLayer {
	var out []schema.PreviewLayer
	for _, a := range p.request.Ambient {
		out = append(out, p.ambientRow(a, schema.ReasonApplied))
	}
	for _, a := range p.ambient.dropped {
		out = append(out, p.ambientRow(a, schema.ReasonOverBudget))
	}
	if p.ambient.on {
		return out
	}
	for _, b := range withSpliced(r.session.manager.cfg.Ambient.standing(ambient.Armed{}), p.ambient.spliced) {
		out = append(out, schema.PreviewLayer{
			Name: b.Name, Source: sourceAmbient, Origin: b.Origin, Placement: schema.PlaceSystem, When: schema.WhenEveryTurn, Reason: schema.ReasonDisabled,
		})
	}
	return out
}

func (p *plan) ambientRow(a assemble.Ambient, reason schema.Reason) schema.PreviewLayer {
	in := a.Injected()
	row := schema.PreviewLayer{
		Name: in.Name, Source: sourceAmbient, Origin: in.Origin, Placement: in.Placement, When: in.When, Reason: reason, Bytes: in.Bytes, SHA256: in.SHA256,
	}
	once := func(sp *splice) bool { return sp.id == a.ID && sp.lifetime == schema.LifetimeNext }
	if a.Origin == schema.OriginSplice && slices.ContainsFunc(p.ambient.spliced, once) {
		row.CacheRisk = "it stands before the dialogue on one turn alone, which costs a provider's cache of all behind it twice"
	}
	return row
}

// ambientAt names the ambient block that has that byte of the encoded system
// text; empty where none has.
func (p *plan) ambientAt(offset int) string {
	base := assemble.ComposeSystem(p.layers)
	for i, a := range p.request.Ambient {
		if offset < encodedSystem(assemble.AppendAmbient(base, p.request.Ambient[:i+1])) {
			return a.Name
		}
	}
	return ""
}

// encodedSystem is how many bytes of an encoded system message come before the
// end of its text.
func encodedSystem(text string) int {
	encoded, err := provider.AppendMessage(nil, schema.Message{Role: schema.RoleSystem, Content: []schema.ContentBlock{schema.TextBlock(text)}})
	if err != nil {
		return 0
	}
	return len(encoded) - len(`"}`)
}
