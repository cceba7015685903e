package inject_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/schema"
)

var framed = regexp.MustCompile(`(?s)^<(context-[0-9a-f]{16})>\n(.*)\n</(context-[0-9a-f]{16})>$`)

// inside is the text within a frame.
func inside(t *testing.T, text string) string {
	t.Helper()
	m := framed.FindStringSubmatch(text)
	require.NotNil(t, m, text)
	assert.Equal(t, m[1], m[3])
	return m[2]
}

func TestP28_a_frame_is_the_same_every_turn_and_another_in_another_session(t *testing.T) {
	mine, other := inject.Framer{Key: []byte("mine")}, inject.Framer{Key: []byte("other")}
	assert.Equal(t, mine.Text("rules"), mine.Text("rules"))
	assert.NotEqual(t, mine.Text("rules"), other.Text("rules"))
	assert.NotEqual(t, mine.Text("rules"), mine.Text("rules "))
	assert.Equal(t, "rules", inside(t, mine.Text("rules")))
	assert.Equal(t, "rules", inject.Framer{}.Text("rules"))
}

func TestI8_what_looks_like_a_frame_inside_is_defused(t *testing.T) {
	for _, tag := range []string{
		"</context>", "<context>", "</ CONTEXT >", "< / c o n t e x t-0123456789abcdef>", "<\u200b/con\u200dtext>",
		"\uff1c/context\uff1e", "</\uff43\uff4f\uff4e\uff54\uff45\uff58\uff54>", "<\n/context>", "<\u00ad/Context", "<\U000e0063context>", "<c\u0301ontext>",
		`<\/context>`, "<\u2800/context>",
	} {
		got := inside(t, inject.Framer{Key: []byte("k")}.Text("a "+tag+" b"))
		_, size := firstRune(tag)
		assert.Equal(t, "a &lt;"+tag[size:]+" b", got, "%q", tag)
	}
	for _, plain := range []string{"a < b", "<p>context</p>", "1 <2 context", "con<text", "context", "&lt;context>", "<cont>", "<"} {
		assert.Equal(t, plain, inside(t, inject.Framer{Key: []byte("k")}.Text(plain)))
	}
}

func firstRune(text string) (rune, int) {
	for i, r := range text {
		if i == 0 {
			return r, len(string(r))
		}
	}
	return 0, 0
}

func FuzzFrame(f *testing.F) {
	for _, seed := range []string{"", "</context>", "<<<<context", strings.Repeat("< ", 1000), "<\xff/context>", "\u200b<c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := inside(t, inject.Framer{Key: []byte("k")}.Text(text))
		assert.Equal(t, got, inside(t, inject.Framer{Key: []byte("k")}.Text(got)), "defusing twice changes nothing")
	})
}

func TestP28_workspace_text_is_framed_among_the_dialogue_and_not_in_the_system_text(t *testing.T) {
	spec := schema.InjectorSpec{Name: "x", When: "every_turn", Title: "Rules", Instructions: "Tabs.", Trust: "workspace",
		ContextBlocks: []schema.ContextBlock{{Title: "Repo", Content: schema.Input{schema.TextBlock("A monorepo.")}}}}
	for placement, rendered := range map[schema.Placement][]string{
		"":        {"Repo:\nA monorepo."},
		"context": {"Rules:\nTabs.", "Repo:\nA monorepo."},
		"notice":  {"Repo:\nA monorepo."},
	} {
		spec.Placement = placement
		decisions, err := inject.Apply(t.Context(), chosen(fromSpec(t, spec)), inject.Context{}, nil, nil, inject.Options{Frame: inject.Framer{Key: []byte("k")}})
		require.NoError(t, err)
		a := decisions.Applied()[0]
		var got []string
		for _, b := range a.ContextBlocks {
			text, found := strings.CutPrefix(inject.Render(b), "Context:\n")
			assert.True(t, found)
			got = append(got, inside(t, text))
		}
		assert.Equal(t, rendered, got)
		if placement == "notice" {
			assert.Equal(t, "Tabs.", inside(t, a.Notice))
		}
		if placement == "" {
			assert.Equal(t, "Tabs.", a.Instructions)
		}
	}
}

func TestP28_a_document_in_a_host_s_block_is_framed(t *testing.T) {
	doc := schema.ContentBlock{Type: schema.BlockResource, Resource: &schema.Resource{URI: "file:///a.md", Text: "# A"}}
	spec := schema.InjectorSpec{Name: "x", When: "every_turn", ContextBlocks: []schema.ContextBlock{
		{Content: schema.Input{schema.TextBlock("See:"), doc}}}}
	decisions, err := inject.Apply(t.Context(), chosen(fromSpec(t, spec)), inject.Context{}, nil, nil, inject.Options{Frame: inject.Framer{Key: []byte("k")}})
	require.NoError(t, err)
	text, found := strings.CutPrefix(inject.Render(decisions.Applied()[0].ContextBlocks[0]), "Context:\nSee:\n")
	assert.True(t, found)
	assert.Equal(t, "<file:///a.md>\n# A", inside(t, text))
	assert.Equal(t, schema.BlockResource, spec.ContextBlocks[0].Content[1].Type, "what was registered stays as it was")
}
