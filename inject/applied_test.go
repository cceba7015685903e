package inject_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/schema"
)

// textBlock is a context block of one text.
func textBlock(title, text string) schema.ContextBlock {
	return schema.ContextBlock{Title: title, Content: schema.Input{schema.TextBlock(text)}}
}

// say is a contribution of instructions alone.
func say(text string) inject.Contribution { return inject.Contribution{Instructions: text} }

// chosen resolves injectors as a host's own values.
func chosen(injectors ...inject.Injector) []inject.Resolved {
	out := make([]inject.Resolved, len(injectors))
	for i, inj := range injectors {
		out[i] = inject.Resolved{Name: inj.Name(), Origin: schema.OriginHost, Injector: inj}
	}
	return out
}

// apply evaluates without a redactor and needs the turn to go on.
func apply(t *testing.T, c inject.Context, injectors ...inject.Injector) ([]inject.Applied, inject.Decisions) {
	t.Helper()
	applied, skipped, err := evaluate(t.Context(), chosen(injectors...), c, nil, nil, inject.Options{})
	require.NoError(t, err)
	return applied, skipped
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func fields(v any) []string {
	var out []string
	for f := range reflect.TypeOf(v).Fields() {
		out = append(out, f.Name+" "+f.Type.String())
	}
	return out
}

func TestP7_a_contribution_has_no_field_that_grants_anything(t *testing.T) {
	assert.Equal(t, []string{
		"Instructions string",
		"ContextBlocks []schema.ContextBlock",
		"When schema.When",
		"Predicate func(inject.Context) bool",
		"Ignored []string", // names alone
	}, fields(inject.Contribution{}))
	assert.Equal(t, []string{"ID string", "Title string", "Content schema.Input", "Priority int", "Metadata jsontext.Value"}, fields(schema.ContextBlock{}))
}

func TestP11_reports_one_entry_for_each_placement_that_got_something(t *testing.T) {
	blocks := []schema.ContextBlock{textBlock("Repo", "A monorepo."), textBlock("", "Go 1.26"), textBlock("Nothing", " \n")}
	both, _ := apply(t, inject.Context{}, inject.Static("x", inject.Contribution{Instructions: "Be brief.", ContextBlocks: blocks}))
	require.Len(t, both, 1)
	rendered := "Repo:\nA monorepo." + "Context:\nGo 1.26"
	assert.Equal(t, []schema.Injected{
		{Name: "x", Origin: "host", Placement: "system", When: "every_turn", Bytes: 9, SHA256: hash("Be brief.")},
		{Name: "x", Origin: "host", Placement: "context", When: "every_turn", Bytes: len(rendered), SHA256: hash(rendered)},
	}, both[0].Injected())

	text, _ := apply(t, inject.Context{}, inject.Static("x", say("Be brief.")))
	require.Len(t, text, 1)
	assert.Len(t, text[0].Injected(), 1)
}

func TestP14_a_block_is_rendered_under_its_title(t *testing.T) {
	link := schema.ContentBlock{Type: "resource_link", Name: "main.go", URI: "file:///main.go"}
	doc := schema.ContentBlock{Type: "resource", Resource: &schema.Resource{URI: "file:///a.md", Text: "# A"}}
	tests := map[string]struct {
		block schema.ContextBlock
		want  string
	}{
		"with a title":                       {textBlock("Repo", "A monorepo."), "Repo:\nA monorepo."},
		"without a title":                    {textBlock("", "A monorepo."), "Context:\nA monorepo."},
		"empty text says nothing":            {textBlock("Repo", ""), ""},
		"white space says nothing":           {textBlock("Repo", " \n\t"), ""},
		"no content says nothing":            {schema.ContextBlock{Title: "Repo"}, ""},
		"a link is named, never opened":      {schema.ContextBlock{Content: schema.Input{link}}, "Context:\nmain.go <file:///main.go>"},
		"a resource is its address and text": {schema.ContextBlock{Content: schema.Input{doc}}, "Context:\n<file:///a.md>\n# A"},
		"parts stand a line apart": {
			schema.ContextBlock{Content: schema.Input{schema.TextBlock("see"), link}}, "Context:\nsee\nmain.go <file:///main.go>"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tt.want, inject.Render(tt.block)) })
	}
}

func TestP15_only_a_static_every_turn_injector_of_the_base_list_is_stable(t *testing.T) {
	block := inject.Contribution{ContextBlocks: []schema.ContextBlock{textBlock("a", "b")}}
	once := block
	once.When = schema.WhenFirstTurn
	made := inject.Func("x", func(context.Context, inject.Context) (inject.Contribution, error) { return block, nil })
	tests := map[string]struct {
		injector inject.Injector
		base     bool
		want     bool
	}{
		"static, every turn, base list": {inject.Static("x", block), true, true},
		"named by the turn":             {inject.Static("x", block), false, false},
		"first turn alone":              {inject.Static("x", once), true, false},
		"made anew each turn":           {made, true, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			selected := []inject.Resolved{{Name: "x", Injector: tt.injector, Base: tt.base}}
			applied, _, err := evaluate(t.Context(), selected, inject.Context{}, nil, nil, inject.Options{})
			require.NoError(t, err)
			require.Len(t, applied, 1)
			assert.Equal(t, tt.want, applied[0].Stable)
		})
	}
}

func TestP28_text_arrives_as_written(t *testing.T) {
	for _, text := range []string{"{{x}}", "$(x)", "`x`", "${x} %s %d \\n <b>&amp;</b>", "trailing \n", "\r\n a", "日本語 👩‍👩‍👧"} {
		c := inject.Contribution{Instructions: text, ContextBlocks: []schema.ContextBlock{textBlock("{{t}}", text)}}
		spec, err := inject.FromSpec(schema.InjectorSpec{Name: "x", When: "every_turn", Instructions: text, ContextBlocks: c.ContextBlocks})
		require.NoError(t, err)
		for _, inj := range []inject.Injector{inject.Static("x", c), spec} {
			applied, _ := apply(t, inject.Context{}, inj)
			require.Len(t, applied, 1)
			assert.Equal(t, text, applied[0].Instructions)
			assert.Equal(t, "{{t}}:\n"+text, inject.Render(applied[0].ContextBlocks[0]))
		}
	}
}

func TestP12_what_was_applied_does_not_change_with_its_source(t *testing.T) {
	blocks := []schema.ContextBlock{textBlock("Repo", "A monorepo.")}
	made := inject.Func("made", func(context.Context, inject.Context) (inject.Contribution, error) {
		return inject.Contribution{ContextBlocks: blocks}, nil
	})
	fixed := inject.Static("fixed", inject.Contribution{ContextBlocks: blocks})
	applied, _ := apply(t, inject.Context{}, made, fixed)

	blocks[0].Content[0].Text = "changed"
	again, err := fixed.Apply(t.Context(), inject.Context{})
	require.NoError(t, err)
	again.ContextBlocks[0].Title = "changed"

	require.Len(t, applied, 2)
	for _, a := range applied {
		assert.Equal(t, "Repo:\nA monorepo.", inject.Render(a.ContextBlocks[0]))
	}
	later, _ := apply(t, inject.Context{}, fixed)
	assert.Equal(t, "Repo:\nA monorepo.", inject.Render(later[0].ContextBlocks[0]))
}
