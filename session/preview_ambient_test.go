package session_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject/ambient"
	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/memstore"
)

func ambientRows(result *schema.PreviewResult) []string {
	out := []string{}
	for _, l := range result.Layers {
		if l.Source == "ambient" {
			out = append(out, fmt.Sprint(l.Name, " ", l.Origin, " ", l.Reason))
		}
	}
	return out
}

func TestA2_preview_shows_the_blocks_that_a_turn_carries(t *testing.T) {
	p := says("ok")
	m := newManager(t, session.Config{Provider: p, Store: memstore.New(), Base: "base", Ambient: session.Ambient{
		On: true, Armed: arms(ambient.Armed{ProtectedPaths: []string{".git"}}), Blocks: []schema.AmbientBlock{{Name: "Conf", Content: "c"}},
	}})
	splice(t, m, "s", session.Splice{Name: "Kept", Content: "k"})
	splice(t, m, "s", session.Splice{Name: "Once", Content: "o", Lifetime: schema.LifetimeNext})
	for range 2 {
		shown := preview(t, m, "hi", session.RunOptions{})
		assert.Equal(t, []string{"Protected paths builtin applied", "Conf config applied", "Kept splice applied", "Once splice applied"}, ambientRows(shown), "nothing is used up")
	}
	shown := preview(t, m, "hi", session.RunOptions{})
	result := ask(t, m, "s", "hi", session.RunOptions{})
	assert.Equal(t, systemOf(p.asked()[0]), shown.Request.Segments[0].Messages[0].Content[0].Text)
	byName := map[string]schema.PreviewLayer{}
	for _, l := range shown.Layers {
		byName[l.Name] = l
	}
	for _, in := range result.Injected {
		assert.Equal(t, in.SHA256, byName[in.Name].SHA256)
		assert.Equal(t, in.Bytes, byName[in.Name].Bytes)
		assert.Equal(t, schema.PlaceSystem, byName[in.Name].Placement)
	}
	assert.NotEmpty(t, byName["Once"].CacheRisk)
	assert.Empty(t, byName["Kept"].CacheRisk)
}

func TestA6_preview_says_which_block_breaks_the_cache(t *testing.T) {
	m := newManager(t, session.Config{Provider: says("ok"), Store: memstore.New(), Base: "base", Ambient: on()})
	splice(t, m, "s", session.Splice{ID: "a", Name: "Same", Content: "s"})
	splice(t, m, "s", session.Splice{ID: "b", Name: "Changed", Content: "old"})
	ask(t, m, "s", "hi", session.RunOptions{})
	require.Nil(t, preview(t, m, "more", session.RunOptions{}).Shared.BrokenBy)
	splice(t, m, "s", session.Splice{ID: "b", Name: "Changed", Content: "new"})
	broken := preview(t, m, "more", session.RunOptions{}).Shared.BrokenBy
	require.NotNil(t, broken)
	assert.Equal(t, "Changed", broken.Name)
	assert.False(t, broken.Gone)
	unsplice(t, m, "s", "b")
	broken = preview(t, m, "more", session.RunOptions{}).Shared.BrokenBy
	require.NotNil(t, broken)
	assert.Equal(t, "Changed", broken.Name)
	assert.True(t, broken.Gone)
}

func TestA1_preview_shows_what_is_off_as_disabled(t *testing.T) {
	m := newManager(t, session.Config{Provider: says("ok"), Ambient: session.Ambient{
		Armed: arms(ambient.Armed{ProtectedPaths: []string{".git"}}), Blocks: []schema.AmbientBlock{{Name: "Conf", Content: "c"}},
	}})
	splice(t, m, "s", session.Splice{Name: "Mine", Content: "m"})
	assert.Equal(t, []string{"Conf config disabled", "Mine splice disabled"}, ambientRows(preview(t, m, "hi", session.RunOptions{})))
}

func TestP17_preview_shows_the_blocks_that_find_no_room(t *testing.T) {
	m := newManager(t, session.Config{Provider: says("ok"), MaxContextTokens: 100, CompactAt: 1, Ambient: on()})
	splice(t, m, "s", session.Splice{Name: "small", Content: "s"})
	splice(t, m, "s", session.Splice{Name: "large", Content: strings.Repeat("x", 1000)})
	assert.Equal(t, []string{"small splice applied", "large splice over_budget"}, ambientRows(preview(t, m, "hi", session.RunOptions{})))
}
