package session_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/assemble"
	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/memstore"
)

func spec(t *testing.T, s schema.InjectorSpec) inject.Injector {
	t.Helper()
	inj, err := inject.FromSpec(s)
	require.NoError(t, err)
	return inj
}

func block(title, text string) schema.ContextBlock {
	return schema.ContextBlock{Title: title, Content: schema.Input{schema.TextBlock(text)}}
}

func preview(t *testing.T, m *session.Manager, text string, o session.RunOptions) *schema.PreviewResult {
	t.Helper()
	p, err := m.Preview(session.Start{SessionID: "s", Input: input(text), RunOptions: o}, 0, false)
	require.NoError(t, err)
	result, err := p.Result(t.Context())
	require.NoError(t, err)
	return result
}

// lively has injectors of every kind of placement and timing.
func lively(t *testing.T, p provider.Provider) session.Config {
	return session.Config{
		Provider: p, Base: "You are helpful.", Store: memstore.New(),
		Layers: []assemble.Layer{{Source: assemble.SourceUser, Text: "Short answers."}, {Source: assemble.SourceApp, Mode: schema.LayerPrepend, Text: "First."}},
		Blocks: []schema.ContextBlock{block("House", "Tabs.")},
		Registry: registry(t,
			spec(t, schema.InjectorSpec{Name: "always", When: "every_turn", Instructions: "Answer in JSON.", ContextBlocks: []schema.ContextBlock{block("Repo", "A monorepo.")}}),
			spec(t, schema.InjectorSpec{Name: "first", When: "first_turn", Instructions: "Say hello."}),
			spec(t, schema.InjectorSpec{Name: "even", When: "on_input", Predicate: "turn % 2 == 0", Placement: "context", Position: "head", Instructions: "Even."}),
			spec(t, schema.InjectorSpec{Name: "note", When: "every_turn", Placement: "notice", Title: "Note", Instructions: "Mind.", Trust: "workspace"}),
			inject.Func("code", func(_ context.Context, c inject.Context) (inject.Contribution, error) {
				return inject.Contribution{ContextBlocks: []schema.ContextBlock{block("", fmt.Sprint("turn ", c.Turn))}}, nil
			})),
		Names: []string{"always", "first", "even", "note", "code"},
	}
}

func TestPreviewIsWhatTheProviderGets(t *testing.T) {
	p := says("ok")
	m := newManager(t, lively(t, p))
	for turn, o := range []session.RunOptions{
		{}, {}, {Names: []string{"note", "always"}}, {Names: []string{}},
		{Options: schema.RunOptions{Layout: schema.LayoutLegacy}}, {Instructions: schema.RunInstructions{Off: true}},
		{Instructions: schema.RunInstructions{Text: "Now this.", Mode: schema.LayerReplace}, ContextBlocks: []schema.ContextBlock{block("Now", "that")}, Model: "other"},
	} {
		text := fmt.Sprint("question ", turn+1)
		shown := preview(t, m, text, o)
		assert.Equal(t, turn+1, shown.Turn)
		assert.Len(t, p.asked(), turn, "a preview calls no provider")
		if turn > 0 {
			assert.Equal(t, turn, state(t, m, "s").Turn, "and uses no turn")
		}
		ask(t, m, "s", text, o)
		sent := p.asked()[turn]
		size, hash, err := sent.Measure()
		require.NoError(t, err)
		assert.Equal(t, []any{size, hash, sent.Model}, []any{shown.Bytes, shown.SHA256, shown.Request.Model})
		require.Len(t, shown.Request.Segments, len(sent.Segments))
		for i, seg := range shown.Request.Segments {
			assert.Equal(t, sent.Segments[i].Kind.String(), seg.Kind)
			if seg.History != nil {
				assert.Equal(t, sent.Segments[i].History.Len(), seg.History.Messages)
				continue
			}
			for j, msg := range seg.Messages {
				want := sent.Segments[i].Messages[j]
				assert.Equal(t, []any{want.Role, want.Content, want.Source != nil}, []any{msg.Role, msg.Content, msg.Source != nil})
			}
		}
	}
}

func TestPreviewSaysWhy(t *testing.T) {
	m := newManager(t, lively(t, says("ok")))
	reasons := func(result *schema.PreviewResult) map[string]schema.Reason {
		out := map[string]schema.Reason{}
		for _, l := range result.Layers {
			out[l.Name+" "+string(l.Placement)] = l.Reason
		}
		return out
	}
	assert.Equal(t, map[string]schema.Reason{
		"base system": "applied", "user system": "applied", "app system": "applied", "House context": "applied",
		"always system": "applied", "always context": "applied", "first system": "applied",
		"even context": "predicate_false", "note notice": "applied", "code context": "applied",
	}, reasons(preview(t, m, "hi", session.RunOptions{})))
	ask(t, m, "s", "hi", session.RunOptions{})
	got := reasons(preview(t, m, "hi", session.RunOptions{Instructions: schema.RunInstructions{Text: "Only this.", Mode: schema.LayerReplace}}))
	for name, want := range map[string]schema.Reason{
		"base system": "disabled", "user system": "disabled", "app system": "disabled", "run system": "applied",
		"always context": "applied", "first system": "not_due", "even context": "applied",
	} {
		assert.Equal(t, want, got[name], name)
	}
	got = reasons(preview(t, m, "hi", session.RunOptions{Instructions: schema.RunInstructions{Off: true}}))
	assert.Equal(t, []schema.Reason{"applied", "disabled", "applied"}, []schema.Reason{got["base system"], got["user system"], got["always system"]})
}

// What a later layer drops is not told as injected (P13).
func TestP13InstructionsThatALaterLayerDropsAreNotInjected(t *testing.T) {
	m := newManager(t, lively(t, says("ok")))
	o := session.RunOptions{Names: []string{"always", "first"}, Instructions: schema.RunInstructions{Text: "Only this.", Mode: schema.LayerReplace}}
	result := ask(t, m, "s", "hi", o)
	require.Len(t, result.Injected, 1)
	assert.Equal(t, []any{"always", schema.PlaceContext}, []any{result.Injected[0].Name, result.Injected[0].Placement})
}

func TestPreviewNamesWhatBreaksThePrefix(t *testing.T) {
	m := newManager(t, lively(t, says("ok")))
	assert.Equal(t, schema.PreviewShared{}, preview(t, m, "hi", session.RunOptions{Names: []string{"always"}}).Shared, "nothing was sent yet")
	ask(t, m, "s", "hi", session.RunOptions{Names: []string{"always"}})
	got := preview(t, m, "go on", session.RunOptions{Names: []string{"always"}}).Shared
	assert.Equal(t, &schema.PreviewBreak{Segment: "history"}, withoutOffset(got.BrokenBy), "the turn's own block stood where the input stands now")

	got = preview(t, m, "go on", session.RunOptions{Names: []string{}}).Shared
	assert.Equal(t, &schema.PreviewBreak{Segment: "system", Name: "always", Gone: true}, withoutOffset(got.BrokenBy))

	ask(t, m, "s", "go on", session.RunOptions{Names: []string{}})
	for want, o := range map[string]session.RunOptions{
		"":              {Names: []string{}},
		"system run":    {Names: []string{}, Instructions: schema.RunInstructions{Text: "x"}},
		"system base":   {Names: []string{}, Instructions: schema.RunInstructions{Off: true}},
		"system always": {Names: []string{"always"}},
	} {
		got := preview(t, m, "more", o).Shared
		assert.True(t, got.Known)
		name := ""
		if got.BrokenBy != nil {
			name = got.BrokenBy.Segment + " " + got.BrokenBy.Name
		}
		assert.Equal(t, want, name)
	}
}

func withoutOffset(b *schema.PreviewBreak) *schema.PreviewBreak {
	if b == nil {
		return nil
	}
	return &schema.PreviewBreak{Segment: b.Segment, Name: b.Name, Gone: b.Gone}
}

func TestPreviewNamesTheCacheRisk(t *testing.T) {
	m := newManager(t, lively(t, says("ok")))
	ask(t, m, "s", "hi", session.RunOptions{})
	risky := map[string]bool{}
	for _, l := range preview(t, m, "hi", session.RunOptions{}).Layers {
		risky[l.Name] = l.CacheRisk != ""
	}
	assert.Equal(t, map[string]bool{"base": false, "user": false, "app": false, "House": false, "always": false, "first": false, "even": true, "note": false, "code": false}, risky)
}

func TestPreviewMakesNoSessionAndFailsAsPromptWould(t *testing.T) {
	cfg := lively(t, nil)
	cfg.MaxContextTokens = 30
	m := newManager(t, cfg)
	preview(t, m, "hi", session.RunOptions{Names: []string{}})
	_, err := m.View("s")
	require.ErrorIs(t, err, session.ErrNotFound)

	start := session.Start{SessionID: "s", Input: input("hi"), RunOptions: session.RunOptions{Names: []string{"nobody"}}}
	_, err = m.Preview(start, 0, false)
	var unknown *inject.UnknownError
	require.ErrorAs(t, err, &unknown)

	start.RunOptions = session.RunOptions{ExpectedTurn: 7}
	_, err = m.Preview(start, 0, false)
	var conflict *session.ConflictError
	require.ErrorAs(t, err, &conflict)

	start = session.Start{SessionID: "s", Input: input(strings.Repeat("long ", 1000))}
	p, err := m.Preview(start, 0, false)
	require.NoError(t, err)
	_, err = p.Result(t.Context())
	var failed *session.ProviderError
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, provider.ClassContextOverflow, failed.Failure.Class)
}

// With static injectors the system text and the dialogue of a turn are the
// beginning of the next turn's request, over 50 turns.
func TestI1StaticInjectorsLeaveTheEarlierRequestAsPrefix(t *testing.T) {
	p := says("ok")
	cfg := lively(t, p)
	cfg.Names = []string{"always", "note"}
	m := newManager(t, cfg)
	var before string
	for turn := range 50 {
		ask(t, m, "s", fmt.Sprint("question ", turn), session.RunOptions{})
		sent := p.asked()[turn]
		head := ""
		for piece, err := range sent.Pieces() {
			require.NoError(t, err)
			if k := sent.Segments[piece.Segment].Kind; k == provider.SegmentSystem || k == provider.SegmentStable || k == provider.SegmentHistory {
				head += string(piece.Bytes)
			}
		}
		require.True(t, strings.HasPrefix(head, before))
		before = head
	}
}

var frameTag = regexp.MustCompile(`<context-[0-9a-f]{16}>`)

func TestP28AFrameIsTheSameAfterARestartAndInAFork(t *testing.T) {
	p := says("ok")
	cfg := lively(t, p)
	cfg.Names = []string{"note"}
	tag := func() string {
		asked := p.asked()
		last := asked[len(asked)-1].Segments
		return frameTag.FindString(schema.PlainText(last[len(last)-1].Messages[0].Content))
	}
	m, err := session.NewManager(cfg)
	require.NoError(t, err)
	ask(t, m, "s", "one", session.RunOptions{})
	first := tag()
	require.NotEmpty(t, first)
	require.NoError(t, m.Close())

	m = newManager(t, cfg)
	ask(t, m, "s", "two", session.RunOptions{})
	assert.Equal(t, first, tag(), "after a restart")
	_, err = m.Fork("s", -1, "fork")
	require.NoError(t, err)
	ask(t, m, "fork", "three", session.RunOptions{})
	assert.Equal(t, first, tag(), "in a fork")
	ask(t, m, "other", "one", session.RunOptions{})
	assert.NotEqual(t, first, tag(), "in another session")
}

// What is asked behind a preview has no effect on it, however late it is made.
func TestPreviewIsOfTheMomentWhenItWasAskedFor(t *testing.T) {
	cfg := lively(t, says("ok"))
	cfg.Ambient.On = true
	m := newManager(t, cfg)
	ask(t, m, "s", "one", session.RunOptions{})
	s, err := m.Lookup("s")
	require.NoError(t, err)
	_, err = s.Splice(session.Splice{Name: "Once", Content: "x", Lifetime: schema.LifetimeNext})
	require.NoError(t, err)
	before := preview(t, m, "two", session.RunOptions{})
	late, err := m.Preview(session.Start{SessionID: "s", Input: input("two")}, 0, false)
	require.NoError(t, err)
	ask(t, m, "s", "two", session.RunOptions{})
	got, err := late.Result(t.Context())
	require.NoError(t, err)
	assert.Equal(t, before, got)
	assert.NotEqual(t, before.SHA256, preview(t, m, "two", session.RunOptions{}).SHA256)
}
