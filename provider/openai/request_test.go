package openai

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/provider/internal/hostile"
	"github.com/prism-rpc/prism-rpc/provider/internal/upstream"
	"github.com/prism-rpc/prism-rpc/schema"
)

func newProvider(t testing.TB, base string) *Provider {
	p, err := New(Options{BaseURL: base})
	require.NoError(t, err)
	return p
}

func bodyOf(t testing.TB, p *Provider, req *provider.Request) string {
	b, err := p.body(req)
	require.NoError(t, err)
	whole, err := io.ReadAll(b.Open())
	require.NoError(t, err)
	require.EqualValues(t, len(whole), b.Len())
	require.True(t, jsontext.Value(whole).IsValid(), string(whole))
	return string(whole)
}

func history(t testing.TB, messages ...schema.Message) provider.History {
	var h provider.History
	for _, m := range messages {
		encoded, err := provider.AppendMessage(nil, m)
		require.NoError(t, err)
		h.Append(encoded)
	}
	return h
}

func saying(role schema.Role, blocks ...schema.ContentBlock) schema.Message {
	return schema.Message{Role: role, Content: blocks}
}

var link = schema.ContentBlock{Type: schema.BlockResourceLink, Name: "a.go", URI: "file:///a.go"}

func TestBodyOfARequest(t *testing.T) {
	temperature, most := 0.5, 100
	message := func(s provider.SegmentKind, role schema.Role, text string) provider.Segment {
		return provider.Segment{Kind: s, Messages: []provider.Message{provider.Text(role, text)}}
	}
	rest := `],"stream":true,"stream_options":{"include_usage":true}}`
	for name, row := range map[string]struct {
		req  provider.Request
		want string
	}{
		"no messages": {provider.Request{Model: `a"b`}, `{"model":"a\"b","messages":[` + rest},
		"each segment in its place": {
			provider.Request{Model: "m", Segments: []provider.Segment{
				message(provider.SegmentSystem, schema.RoleSystem, "S"), message(provider.SegmentStable, schema.RoleUser, "B"),
				{Kind: provider.SegmentHistory, History: history(t, saying(schema.RoleUser, schema.TextBlock("q")), schema.AssistantText("a"))},
				message(provider.SegmentInput, schema.RoleUser, "I<&\u2028"),
				{Kind: provider.SegmentNotices, Messages: []provider.Message{{Role: schema.RoleUser, Content: []schema.ContentBlock{schema.TextBlock("N")},
					Source: &provider.Source{Kind: "plugin:x", Form: "notice", Summary: "hidden"}}}},
			}},
			`{"model":"m","messages":[{"role":"system","content":"S"},{"role":"user","content":"B"},{"role":"user","content":"q"},{"role":"assistant","content":"a"},` +
				`{"role":"user","content":"I<&` + "\u2028" + `"},{"role":"user","content":"N"}` + rest,
		},
		"history first, in the legacy layout": {
			provider.Request{Model: "m", Segments: []provider.Segment{
				{Kind: provider.SegmentHistory, History: history(t, schema.AssistantText("a"))}, message(provider.SegmentInput, schema.RoleUser, "I"),
			}},
			`{"model":"m","messages":[{"role":"assistant","content":"a"},{"role":"user","content":"I"}` + rest,
		},
		"an empty history is nothing": {
			provider.Request{Model: "m", Segments: []provider.Segment{{Kind: provider.SegmentHistory}, message(provider.SegmentInput, schema.RoleUser, "I")}},
			`{"model":"m","messages":[{"role":"user","content":"I"}` + rest,
		},
		"links become text, in history and input": {
			provider.Request{Model: "m", Segments: []provider.Segment{
				{Kind: provider.SegmentHistory, History: history(t, saying(schema.RoleUser, schema.TextBlock("see"), link), schema.AssistantText("a"))},
				{Kind: provider.SegmentInput, Messages: []provider.Message{{Role: schema.RoleUser, Content: []schema.ContentBlock{schema.TextBlock("see"), link}}}},
			}},
			`{"model":"m","messages":[{"role":"user","content":"see\na.go <file:///a.go>"},{"role":"assistant","content":"a"},{"role":"user","content":"see\na.go <file:///a.go>"}` + rest,
		},
		"annotations are not for the server": {
			provider.Request{Model: "m", Segments: []provider.Segment{{Kind: provider.SegmentHistory, History: history(t,
				saying(schema.RoleUser, schema.TextBlock("a"), schema.ContentBlock{Type: schema.BlockText, Text: "b", Annotations: jsontext.Value(`{"x":1}`)}))}}},
			`{"model":"m","messages":[{"role":"user","content":"a\nb"}` + rest,
		},
		"options": {
			provider.Request{Model: "m", Options: schema.RunOptions{Temperature: &temperature, MaxOutputTokens: &most, Stop: []string{"x"}}},
			`{"model":"m","messages":[],"stream":true,"stream_options":{"include_usage":true},"temperature":0.5,"max_tokens":100,"stop":["x"]}`,
		},
		"tools, calls and results": {
			provider.Request{Model: "m", Tools: []provider.Tool{{Name: "ls", Description: "Lists.", Schema: []byte(`{"type":"object"}`)}}, Segments: []provider.Segment{
				{Kind: provider.SegmentTools, Messages: []provider.Message{
					{Role: schema.RoleAssistant, ToolCalls: []provider.ToolCall{{ID: "c", Name: "ls", Input: []byte(`{}`)}}},
					{Role: schema.RoleTool, ToolCallID: "c", Content: []schema.ContentBlock{schema.TextBlock("a.go")}},
				}}}},
			`{"model":"m","messages":[{"role":"assistant","content":"","tool_calls":[{"id":"c","type":"function","function":{"name":"ls","arguments":"{}"}}]},` +
				`{"role":"tool","content":"a.go","tool_call_id":"c"}],"stream":true,"stream_options":{"include_usage":true},` +
				`"tools":[{"type":"function","function":{"name":"ls","description":"Lists.","parameters":{"type":"object"}}}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, row.want, bodyOf(t, newProvider(t, "http://127.0.0.1/v1"), &row.req))
		})
	}
}

func TestTheBoundOfAnAnswerHasTheNameThatTheServerKnows(t *testing.T) {
	most := 7
	req := provider.Request{Options: schema.RunOptions{MaxOutputTokens: &most}}
	for base, want := range map[string]string{
		"":                                  `"max_completion_tokens":7`,
		"https://eu.api.openai.com/v1":      `"max_completion_tokens":7`,
		"https://x.openai.azure.com/openai": `"max_completion_tokens":7`,
		"https://notopenai.com/v1":          `"max_tokens":7`,
		"http://localhost:11434/v1":         `"max_tokens":7`,
	} {
		assert.Contains(t, bodyOf(t, newProvider(t, base), &req), want, base)
	}
}

func TestACacheKeyNamesTheSessionToThoseWhoKnowTheField(t *testing.T) {
	yes, no := true, false
	req := provider.Request{Model: "m", SessionID: "my-session"}
	for claim, row := range map[string]struct {
		opts Options
		want bool
	}{
		"OpenAI":                    {Options{}, true},
		"Azure":                     {Options{BaseURL: "https://x.openai.azure.com/openai"}, true},
		"nobody else by default":    {Options{BaseURL: "http://127.0.0.1:1/v1"}, false},
		"others, where it is asked": {Options{BaseURL: "http://127.0.0.1:1/v1", CacheKey: &yes}, true},
		"nobody":                    {Options{CacheKey: &no}, false},
	} {
		t.Run(claim, func(t *testing.T) {
			p, err := New(row.opts)
			require.NoError(t, err)
			body := bodyOf(t, p, &req)
			assert.Equal(t, row.want, strings.Contains(body, `"prompt_cache_key":"`+upstream.CacheKey("my-session")+`"`))
			assert.NotContains(t, body, "my-session")
			assert.NotContains(t, bodyOf(t, p, &provider.Request{Model: "m"}), "cache", "a call of no session")
		})
	}
	assert.Len(t, upstream.CacheKey("x"), 32)
	assert.NotEqual(t, upstream.CacheKey("x"), upstream.CacheKey("y"))
}

// A turn's messages, system to input, are the beginning of the next turn's.
func TestOneTurnsMessagesAreAPrefixOfTheNextTurns(t *testing.T) {
	p := newProvider(t, "http://127.0.0.1/v1")
	inputs := [][]schema.ContentBlock{
		{schema.TextBlock("one \" \\ \u2028 😀")}, {schema.TextBlock("a"), schema.TextBlock("b")}, {link}, {schema.TextBlock("")},
	}
	var h provider.History
	last := ""
	for _, in := range inputs {
		body := bodyOf(t, p, &provider.Request{Model: "m", Segments: []provider.Segment{
			{Kind: provider.SegmentSystem, Messages: []provider.Message{provider.Text(schema.RoleSystem, "S")}},
			{Kind: provider.SegmentHistory, History: h},
			{Kind: provider.SegmentInput, Messages: []provider.Message{{Role: schema.RoleUser, Content: in}}},
		}})
		assert.Equal(t, last, body[:len(last)])
		last = body[:len(body)-len(`],"stream":true,"stream_options":{"include_usage":true}}`)]
		for _, m := range []schema.Message{{Role: schema.RoleUser, Content: in}, schema.AssistantText("ok")} {
			encoded, err := provider.AppendMessage(nil, m)
			require.NoError(t, err)
			h.Append(encoded)
		}
	}
}

func longHistory(t testing.TB, n int) provider.History {
	var h provider.History
	for i := range n {
		encoded, err := provider.AppendMessage(nil, exchange(i))
		require.NoError(t, err)
		h.Append(encoded)
	}
	return h
}

func exchange(i int) schema.Message {
	if i%2 == 1 {
		return schema.AssistantText(fmt.Sprintf("answer %d", i))
	}
	return saying(schema.RoleUser, schema.TextBlock(fmt.Sprintf("question %d", i)))
}

// The floor is the same request with a history of 10 messages.
func BenchmarkRequest(b *testing.B) {
	p := newProvider(b, "http://127.0.0.1/v1")
	for _, n := range []int{10, 10_000} {
		b.Run(fmt.Sprintf("history=%d", n), func(b *testing.B) {
			req := hostile.Asking("hi")
			req.Segments = append(req.Segments, provider.Segment{Kind: provider.SegmentHistory, History: longHistory(b, n)})
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.body(req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
