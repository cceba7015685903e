package assemble_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/assemble"
	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
)

// provide is a ContextProvider.
type provide func(context.Context, inject.Context) ([]schema.ContextBlock, error)

func (p provide) Blocks(ctx context.Context, c inject.Context) ([]schema.ContextBlock, error) {
	return p(ctx, c)
}

func giving(titles ...string) provide {
	return func(context.Context, inject.Context) ([]schema.ContextBlock, error) { return titled(titles...), nil }
}

func textBlock(title, text string) schema.ContextBlock {
	return schema.ContextBlock{Title: title, Content: schema.Input{schema.TextBlock(text)}}
}

func titled(titles ...string) []schema.ContextBlock {
	var out []schema.ContextBlock
	for _, title := range titles {
		out = append(out, textBlock(title, "text of "+title))
	}
	return out
}

func titles(blocks []assemble.Block) []string {
	var out []string
	for _, b := range blocks {
		out = append(out, b.Title)
	}
	return out
}

func collect(t *testing.T, s assemble.Sources) []assemble.Block {
	t.Helper()
	blocks, err := s.Collect(t.Context(), inject.Context{}, nil, nil)
	require.NoError(t, err)
	return blocks
}

func TestP14_host_then_skill_then_injected(t *testing.T) {
	blocks := collect(t, assemble.Sources{
		Applied:    []inject.Applied{{Name: "x", ContextBlocks: titled("i1", "i2"), Stable: true}, {Name: "y", ContextBlocks: titled("i3")}},
		Skills:     []assemble.ContextProvider{giving("s1"), giving(), giving("s2", "s3")},
		Host:       []assemble.ContextProvider{giving("h3"), giving("h4")},
		Turn:       titled("h2"),
		Configured: titled("h1"),
	})
	assert.Equal(t, []string{"h1", "h2", "h3", "h4", "s1", "s2", "s3", "i1", "i2", "i3"}, titles(blocks))
	for i, want := range map[int]assemble.Block{
		0: {Source: "host", Stable: true}, 1: {Source: "host"}, 2: {Source: "host"}, 4: {Source: "skill"},
		7: {Source: "injected", Injector: "x", Stable: true}, 9: {Source: "injected", Injector: "y"},
	} {
		want.ContextBlock = blocks[i].ContextBlock
		assert.Equal(t, want, blocks[i])
	}
}

func TestP14_blocks_that_say_nothing_are_dropped(t *testing.T) {
	nothing := []schema.ContextBlock{textBlock("a", ""), {Title: "b"}, textBlock("c", "\n")}
	assert.Empty(t, collect(t, assemble.Sources{
		Configured: nothing, Turn: nothing,
		Host: []assemble.ContextProvider{provide(func(context.Context, inject.Context) ([]schema.ContextBlock, error) { return nothing, nil })},
		Middleware: []assemble.Middleware{func(context.Context, []assemble.Block) ([]assemble.Block, error) {
			return []assemble.Block{{ContextBlock: nothing[0]}}, nil
		}},
	}))
}

func TestP14_middleware_may_drop_and_change_blocks(t *testing.T) {
	var seen []string
	drop := func(_ context.Context, blocks []assemble.Block) ([]assemble.Block, error) {
		seen = titles(blocks)
		return append(blocks[:1], blocks[2:]...), nil
	}
	rename := func(_ context.Context, blocks []assemble.Block) ([]assemble.Block, error) {
		blocks[1].Title += "!"
		blocks[1].Content[0].Text = "new"
		return blocks, nil
	}
	given := titled("a", "b", "c")
	blocks := collect(t, assemble.Sources{Turn: given, Middleware: []assemble.Middleware{drop, rename}})
	assert.Equal(t, []string{"a", "b", "c"}, seen)
	assert.Equal(t, []string{"a", "c!"}, titles(blocks))
	assert.Equal(t, "new", blocks[1].Content[0].Text)
	assert.Equal(t, titled("a", "b", "c"), given, "what was given stays")
}

func TestP14_what_is_reported_is_what_middleware_left(t *testing.T) {
	applied := []inject.Applied{
		{Name: "both", When: "every_turn", Instructions: "text", ContextBlocks: titled("a")},
		{Name: "dropped", When: "every_turn", ContextBlocks: titled("b")},
		{Name: "changed", When: "every_turn", ContextBlocks: titled("c")},
	}
	blocks := collect(t, assemble.Sources{Applied: applied, Turn: titled("h"), Middleware: []assemble.Middleware{
		func(_ context.Context, blocks []assemble.Block) ([]assemble.Block, error) {
			blocks[3].Content = schema.Input{schema.TextBlock("new")}
			return append(blocks[:2], blocks[3]), nil
		}}})
	changed := inject.Applied{Name: "changed", When: "every_turn", ContextBlocks: []schema.ContextBlock{textBlock("c", "new")}}
	want := append(applied[0].Injected(), changed.Injected()...)
	assert.Equal(t, want, assemble.Report(applied, blocks))
	assert.Equal(t, []schema.Injected{}, assemble.Report(nil, nil), "an empty list, never null")
}

func TestP14_two_injectors_of_one_name_are_reported_once_each_block(t *testing.T) {
	applied := []inject.Applied{{Name: "x", ContextBlocks: titled("a")}, {Name: "x", ContextBlocks: titled("b")}}
	report := assemble.Report(applied, collect(t, assemble.Sources{Applied: applied}))
	assert.Equal(t, inject.Applied{Name: "x", ContextBlocks: titled("a", "b")}.Injected(), report)
}

func TestP26_all_blocks_are_redacted(t *testing.T) {
	const canary = "canary-0123456789"
	red, err := redact.New(redact.Value{Secret: redact.NewSecret(canary)})
	require.NoError(t, err)
	secret := []schema.ContextBlock{textBlock(canary, "use "+canary)}
	give := provide(func(context.Context, inject.Context) ([]schema.ContextBlock, error) { return secret, nil })
	sawSecret := false
	s := assemble.Sources{
		Configured: secret, Turn: secret, Host: []assemble.ContextProvider{give}, Skills: []assemble.ContextProvider{give},
		Middleware: []assemble.Middleware{func(_ context.Context, blocks []assemble.Block) ([]assemble.Block, error) {
			for _, b := range blocks {
				sawSecret = sawSecret || red.Contains(inject.Render(b.ContextBlock))
			}
			return append(blocks, assemble.Block{Source: assemble.BlockHost, ContextBlock: secret[0]}), nil
		}},
	}
	var tally redact.Tally
	blocks, err := s.Collect(t.Context(), inject.Context{}, red, &tally)
	require.NoError(t, err)
	require.Len(t, blocks, 5)
	for _, b := range blocks {
		assert.NotContains(t, inject.Render(b.ContextBlock), canary)
	}
	assert.False(t, sawSecret)
	assert.Equal(t, []redact.Count{{Count: 10}}, tally.Counts(), "each is counted once")
}

func TestP9_a_provider_gets_a_copy_of_its_own(t *testing.T) {
	c := inject.Context{Turn: 3, Input: []schema.ContentBlock{schema.TextBlock("hi")}}
	var seen []string
	spoil := provide(func(_ context.Context, c inject.Context) ([]schema.ContextBlock, error) {
		seen = append(seen, c.Input[0].Text)
		c.Input[0].Text = "spoiled"
		return nil, nil
	})
	s := assemble.Sources{Host: []assemble.ContextProvider{spoil, spoil}, Skills: []assemble.ContextProvider{spoil}}
	_, err := s.Collect(t.Context(), c, nil, nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"hi", "hi", "hi"}, seen)
	assert.Equal(t, "hi", c.Input[0].Text)
}

func TestP14_a_fault_of_the_hosts_code_is_its_error(t *testing.T) {
	errOwn := errors.New("out of order")
	bad := []schema.ContextBlock{{Content: schema.Input{{Type: "resource"}}}}
	tests := map[string]struct {
		sources assemble.Sources
		want    error // nil: any
	}{
		"a provider's error": {assemble.Sources{Host: []assemble.ContextProvider{
			provide(func(context.Context, inject.Context) ([]schema.ContextBlock, error) { return nil, errOwn })}}, errOwn},
		"a skill provider's bad block": {assemble.Sources{Skills: []assemble.ContextProvider{
			provide(func(context.Context, inject.Context) ([]schema.ContextBlock, error) { return bad, nil })}}, nil},
		"a middleware's error": {assemble.Sources{Middleware: []assemble.Middleware{
			func(context.Context, []assemble.Block) ([]assemble.Block, error) { return nil, errOwn }}}, errOwn},
		"a middleware's bad block": {assemble.Sources{Middleware: []assemble.Middleware{
			func(context.Context, []assemble.Block) ([]assemble.Block, error) {
				return []assemble.Block{{ContextBlock: bad[0]}}, nil
			}}}, nil},
		"a configured block without its part": {assemble.Sources{Configured: bad}, nil},
		"text that no request can hold":       {assemble.Sources{Turn: []schema.ContextBlock{textBlock("a", "\xff")}}, inject.ErrNotUTF8},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			blocks, err := tt.sources.Collect(t.Context(), inject.Context{}, nil, nil)
			require.Error(t, err)
			assert.Empty(t, blocks)
			if tt.want != nil {
				assert.ErrorIs(t, err, tt.want)
			}
		})
	}
}

func TestP9_cancelling_the_turn_is_told_as_its_cause(t *testing.T) {
	errAbort := errors.New("aborted")
	ctx, cancel := context.WithCancelCause(t.Context())
	s := assemble.Sources{Host: []assemble.ContextProvider{
		provide(func(ctx context.Context, _ inject.Context) ([]schema.ContextBlock, error) {
			cancel(errAbort)
			return nil, ctx.Err()
		})}}
	_, err := s.Collect(ctx, inject.Context{}, nil, nil)
	assert.ErrorIs(t, err, errAbort)
}
