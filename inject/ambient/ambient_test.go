package ambient_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject/ambient"
	"github.com/prism-rpc/prism-rpc/schema"
)

func all() ambient.Armed {
	return ambient.Armed{Modules: true, Todos: true, PlanMode: true, Background: true, ProtectedPaths: []string{".git", "secrets/"}}
}

func names(blocks []ambient.Block) []string {
	out := []string{}
	for _, b := range blocks {
		out = append(out, b.Name)
	}
	return out
}

func TestA3_a_built_in_block_appears_only_when_what_it_talks_about_is_armed(t *testing.T) {
	for claim, c := range map[string]struct {
		armed ambient.Armed
		want  []string
	}{
		"nothing armed: none":               {ambient.Armed{}, []string{}},
		"the switch alone":                  {ambient.Armed{Modules: true}, []string{}},
		"modules without the switch":        {ambient.Armed{Todos: true, PlanMode: true, Background: true}, []string{}},
		"all, in order":                     {all(), []string{"Task list", "Plan mode", "Protected paths", "Background work"}},
		"todos":                             {ambient.Armed{Modules: true, Todos: true}, []string{"Task list"}},
		"plan mode":                         {ambient.Armed{Modules: true, PlanMode: true}, []string{"Plan mode"}},
		"background":                        {ambient.Armed{Modules: true, Background: true}, []string{"Background work"}},
		"paths need no switch":              {ambient.Armed{ProtectedPaths: []string{".git"}}, []string{"Protected paths"}},
		"an empty list of paths is no list": {ambient.Armed{Modules: true, ProtectedPaths: []string{}}, []string{}},
	} {
		t.Run(claim, func(t *testing.T) {
			blocks := ambient.Builtins(c.armed)
			assert.Equal(t, c.want, names(blocks))
			for _, b := range blocks {
				assert.Equal(t, schema.OriginBuiltin, b.Origin)
				assert.Empty(t, b.ID)
			}
		})
	}
}

func TestA3_what_a_client_says_of_modules_replaces_that_part_alone(t *testing.T) {
	yes, no := true, false
	armed := all().With(schema.Modules{Todos: &no})
	assert.Equal(t, []string{"Plan mode", "Protected paths", "Background work"}, names(ambient.Builtins(armed)))
	assert.Equal(t, []string{"Protected paths"}, names(ambient.Builtins(all().With(schema.Modules{Enabled: &no}))))
	assert.Equal(t, all(), all().With(schema.Modules{}))
	assert.Equal(t, []string{"Plan mode"}, names(ambient.Builtins(ambient.Armed{}.With(schema.Modules{Enabled: &yes, PlanMode: &yes}))))
}

// Each row says, in the words of the requirement, what the block has to tell.
func TestA4_each_built_in_block_says_what_the_model_cant_know(t *testing.T) {
	says := map[string][][]string{
		"Task list": {
			{"persistent", "list"}, {"plan/todo tool"}, {"before multi-step work", "plan"}, {"mark", "step done"}, {"add the work that you find"},
			{"survives compaction"}, {"durable record"},
		},
		"Plan mode": {
			{"active"}, {"read-only"}, {"no edits"}, {"write no files"}, {"no command that changes state"}, {"investigate"}, {"present your plan"}, {"wait"},
		},
		"Protected paths": {
			{".git, secrets/"}, {"never approved automatically"}, {"stops until the user has decided"}, {"prefer another route"},
		},
		"Background work": {
			{"start them detached"}, {"keep working"}, {"read their output when it matters"}, {"never wait on a foreground command"},
		},
	}
	blocks := ambient.Builtins(all())
	require.Len(t, blocks, len(says))
	for _, b := range blocks {
		text := strings.ToLower(b.Content)
		for _, words := range says[b.Name] {
			for _, word := range words {
				assert.Contains(t, text, word, b.Name)
			}
		}
		assert.Equal(t, strings.TrimSpace(b.Content), b.Content)
	}
}

func TestA3_protected_paths_are_joined_in_their_order(t *testing.T) {
	blocks := ambient.Builtins(ambient.Armed{ProtectedPaths: []string{"z", "a b", "z"}})
	require.Len(t, blocks, 1)
	assert.Contains(t, blocks[0].Content, ": z, a b, z. ")
}

func TestA5_a_block_is_rendered_as_it_is(t *testing.T) {
	for claim, c := range map[string]struct {
		blocks []ambient.Block
		want   string
	}{
		"none is nothing":               {nil, ""},
		"one":                           {[]ambient.Block{{Name: "House rules", Content: "Tabs, not spaces."}}, "\n\n# House rules\nTabs, not spaces."},
		"several":                       {[]ambient.Block{{Name: "a", Content: "1"}, {Name: "b", Content: "2"}}, "\n\n# a\n1\n\n# b\n2"},
		"nothing is trimmed":            {[]ambient.Block{{Name: " a ", Content: "\n 1 \n\n"}}, "\n\n#  a \n\n 1 \n\n"},
		"nothing is escaped":            {[]ambient.Block{{Name: "# <b>", Content: "# x\n`$(y)` {{z}} &amp;"}}, "\n\n# # <b>\n# x\n`$(y)` {{z}} &amp;"},
		"an empty content has its line": {[]ambient.Block{{Name: "a"}}, "\n\n# a\n"},
	} {
		t.Run(claim, func(t *testing.T) { assert.Equal(t, c.want, ambient.Render(c.blocks...)) })
	}
}

func TestA2_configured_blocks_keep_their_order(t *testing.T) {
	blocks := ambient.Configured([]schema.AmbientBlock{{Name: "b", Content: "2"}, {Name: "a", Content: "1"}})
	assert.Equal(t, []ambient.Block{
		{Name: "b", Content: "2", Origin: schema.OriginConfig}, {Name: "a", Content: "1", Origin: schema.OriginConfig},
	}, blocks)
}
