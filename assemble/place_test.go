package assemble_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/assemble"
	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/schema"
)

// Where an injector's text stands, in both layouts. sys, q, a and in are the
// base, the dialogue and the input.
func TestP15_P16_where_things_stand(t *testing.T) {
	const (
		sys  = `0 system "sys"`
		both = `0 system "sys\n\ntext"`
		qa   = `2 ` + dialogue
		in   = `4 user "in"`
		note = `5 user "text"`
	)
	stable, lead, tail := `1 user "T:\ntext"`, `3 user "T:\ntext"`, `3 user "T:\ntext"`
	tests := map[string]struct {
		placement  schema.Placement
		position   schema.Position
		base       bool
		cacheAware []string
		legacy     []string
	}{
		"system":               {"system", "", true, []string{both, qa, in}, []string{both, qa, in}},
		"system, head":         {"system", "head", true, []string{both, qa, in}, []string{both, qa, in}},
		"context, base list":   {"context", "", true, []string{sys, stable, qa, in}, []string{lead, sys, qa, in}},
		"context, turn's list": {"context", "", false, []string{sys, qa, tail, in}, []string{lead, sys, qa, in}},
		"context, head":        {"context", "head", false, []string{sys, stable, qa, in}, []string{lead, sys, qa, in}},
		"context, tail":        {"context", "tail", true, []string{sys, qa, tail, in}, []string{sys, qa, tail, in}},
		"notice":               {"notice", "", true, []string{sys, qa, in, note}, []string{sys, qa, in, note}},
		"notice, turn's list":  {"notice", "tail", false, []string{sys, qa, in, note}, []string{sys, qa, in, note}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			inj, err := inject.FromSpec(schema.InjectorSpec{
				Name: "x", When: "every_turn", Placement: tt.placement, Position: tt.position, Title: "T", Instructions: "text"})
			require.NoError(t, err)
			r := assemble.Request{Layers: []assemble.Layer{layer("base", "", "sys")}}
			said(t, &r.History, "q", "a")
			selected := []inject.Resolved{{Name: "x", Injector: inj, Base: tt.base}}
			for layout, want := range map[schema.Layout][]string{"cache_aware": tt.cacheAware, "legacy": tt.legacy} {
				r.Layout = layout
				req := evaluate(t, r, inject.Context{Input: input("in")}, selected)
				assert.Equal(t, want, lines(req), layout)
				require.Len(t, req.Injected, 1)
				assert.Equal(t, tt.placement, req.Injected[0].Placement)
			}
		})
	}
}

func TestP16_a_notice_says_where_it_comes_from(t *testing.T) {
	notices := assemble.InjectedNotices([]inject.Applied{
		{Name: "a", Instructions: "system"}, {Name: "b", Notice: "text", Title: "Look here"}, {Name: "c", Notice: "more"}})
	require.Len(t, notices, 2)
	assert.Equal(t, &provider.Source{Kind: "plugin:prism-rpc", Form: "notice", Summary: "Look here"}, notices[0].Source)
	assert.Equal(t, "c", notices[1].Source.Summary)
	assert.Empty(t, assemble.InjectedNotices(nil))
}
