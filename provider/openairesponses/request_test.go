package openairesponses

import (
	"encoding/base64"
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

func bodyOf(t testing.TB, opts Options, req *provider.Request) string {
	p, err := New(opts)
	require.NoError(t, err)
	b, err := p.body(req)
	require.NoError(t, err)
	whole, err := io.ReadAll(b.Open())
	require.NoError(t, err)
	require.EqualValues(t, len(whole), b.Len())
	require.True(t, jsontext.Value(whole).IsValid(), string(whole))
	return string(whole)
}

func history(t testing.TB, messages ...schema.Message) provider.Segment {
	s := provider.Segment{Kind: provider.SegmentHistory}
	for _, m := range messages {
		encoded, err := provider.AppendMessage(nil, m)
		require.NoError(t, err)
		s.History.Append(encoded)
	}
	return s
}

func saying(role schema.Role, blocks ...schema.ContentBlock) schema.Message {
	return schema.Message{Role: role, Content: blocks}
}

func input(blocks ...schema.ContentBlock) provider.Segment {
	return provider.Segment{Kind: provider.SegmentInput, Messages: []provider.Message{{Role: schema.RoleUser, Content: blocks}}}
}

var (
	link    = schema.ContentBlock{Type: schema.BlockResourceLink, Name: "a.go", URI: "file:///a.go"}
	a, b    = schema.TextBlock("a"), schema.TextBlock("b")
	system  = provider.Segment{Kind: provider.SegmentSystem, Messages: []provider.Message{provider.Text(schema.RoleSystem, "S")}}
	answers = schema.AssistantText("ok")
)

const rest = `],"stream":true,"store":false`

func TestBodyOfARequest(t *testing.T) {
	temperature, most := 0.5, 100
	noted := schema.ContentBlock{Type: schema.BlockText, Text: "b", Annotations: jsontext.Value(`{"x":1}`)}
	for claim, row := range map[string]struct {
		req  provider.Request
		want string
	}{
		"each segment in its place": {
			provider.Request{Segments: []provider.Segment{
				system, {Kind: provider.SegmentStable, Messages: []provider.Message{provider.Text(schema.RoleUser, "B")}}, history(t, saying(schema.RoleUser, a), answers), input(schema.TextBlock("I<&\u2028")),
				{Kind: provider.SegmentNotices, Messages: []provider.Message{{Role: schema.RoleUser, Content: []schema.ContentBlock{b}, Source: &provider.Source{Kind: "plugin:x", Summary: "hidden"}}}},
			}},
			`{"role":"system","content":"S"},{"role":"user","content":"B"},{"role":"user","content":"a"},{"role":"assistant","content":"ok"},{"role":"user","content":"I<&` + "\u2028" + `"},{"role":"user","content":"b"}` + rest,
		},
		"system text amid the dialogue has its place": {
			provider.Request{Segments: []provider.Segment{{Kind: provider.SegmentBlocks, Messages: []provider.Message{provider.Text(schema.RoleUser, "B")}}, system, input(a)}},
			`{"role":"user","content":"B"},{"role":"system","content":"S"},{"role":"user","content":"a"}` + rest,
		},
		"several texts are parts, of the user alone": {
			provider.Request{Segments: []provider.Segment{history(t, saying(schema.RoleUser, a, b), saying(schema.RoleAssistant, a, b), saying(schema.RoleUser, a), saying(schema.RoleAssistant, a)), input(a, schema.TextBlock(""), b)}},
			`{"role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_text","text":"b"}]},{"role":"assistant","content":"a\nb"},{"role":"user","content":"a"},{"role":"assistant","content":"a"},` +
				`{"role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_text","text":"b"}]}` + rest,
		},
		"links become text, annotations stay here": {
			provider.Request{Segments: []provider.Segment{history(t, saying(schema.RoleUser, link), answers), input(a, link, noted)}},
			`{"role":"user","content":"a.go <file:///a.go>"},{"role":"assistant","content":"ok"},` +
				`{"role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_text","text":"a.go <file:///a.go>"},{"type":"input_text","text":"b"}]}` + rest,
		},
		"nothing at all": {provider.Request{Segments: []provider.Segment{input(), input(schema.TextBlock(""), schema.TextBlock(""))}}, `{"role":"user","content":""},{"role":"user","content":[{"type":"input_text","text":""}]}` + rest},
		"options":        {provider.Request{Options: schema.RunOptions{Temperature: &temperature, MaxOutputTokens: &most}}, rest + `,"temperature":0.5,"max_output_tokens":100`},
		"a session":      {provider.Request{SessionID: "s"}, rest + `,"prompt_cache_key":"` + upstream.CacheKey("s") + `"`},
		"tools, calls and results": {
			provider.Request{Tools: []provider.Tool{{Name: "ls", Description: "Lists.", Schema: []byte(`{"type":"object"}`)}, {Name: "f"}}, Segments: []provider.Segment{
				{Kind: provider.SegmentTools, Messages: []provider.Message{
					{Role: schema.RoleAssistant, Content: []schema.ContentBlock{a}, ToolCalls: []provider.ToolCall{{ID: "c", Name: "ls", Input: []byte(`{}`)}}},
					{Role: schema.RoleTool, ToolCallID: "c", Content: []schema.ContentBlock{b}},
					{Role: schema.RoleAssistant, ToolCalls: []provider.ToolCall{{ID: "d", Name: "f", Input: []byte(`{}`)}}},
				}}}},
			`{"role":"assistant","content":"a"},{"type":"function_call","call_id":"c","name":"ls","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"b"},{"type":"function_call","call_id":"d","name":"f","arguments":"{}"}` +
				rest + `,"tools":[{"type":"function","name":"ls","description":"Lists.","parameters":{"type":"object"},"strict":false},{"type":"function","name":"f","parameters":{"type":"object","properties":{}},"strict":false}]`,
		},
	} {
		t.Run(claim, func(t *testing.T) {
			row.req.Model = `m"`
			assert.Equal(t, `{"model":"m\"","input":[`+row.want+`}`, bodyOf(t, Options{}, &row.req))
		})
	}
	no := false
	assert.NotContains(t, bodyOf(t, Options{CacheKey: &no}, &provider.Request{Model: "m", SessionID: "s"}), "cache")
}

// The API has no stop texts. To leave them out would give an answer that was
// not asked for.
func TestStopTextsAreRefused(t *testing.T) {
	p, err := New(Options{Transport: hostile.Canned("")})
	require.NoError(t, err)
	_, _, err = hostile.Ask(t.Context(), p, &provider.Request{Model: "m", Options: schema.RunOptions{Stop: []string{"x"}}})
	assert.Equal(t, provider.ClassBadRequest, hostile.Failure(err).Class)
	assert.Contains(t, hostile.Failure(err).Message, "options.stop")
}

const png = "\x89PNG\r\n\x1a\n and more \x00\xff"

func TestAnImageIsAPartOfAUsersMessage(t *testing.T) {
	image := func(name string) schema.ContentBlock {
		return schema.ContentBlock{Type: schema.BlockImage, MimeType: "image/gif", SHA256: name, Bytes: len(png)}
	}
	part := `{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,` + base64.StdEncoding.EncodeToString([]byte(png)) + `"}`
	const standIn = "[image image/gif, 20 bytes]"
	body := bodyOf(t, Options{}, &provider.Request{Model: "m",
		Segments: []provider.Segment{history(t, saying(schema.RoleUser, a, image("here"), image("gone")), saying(schema.RoleAssistant, image("here"))), input(image("here"))},
		Attachment: func(name string) []byte {
			if name == "here" {
				return []byte(png)
			}
			return nil
		},
	})
	assert.Contains(t, body, `"input":[{"role":"user","content":[{"type":"input_text","text":"a"},`+part+`,{"type":"input_text","text":"`+standIn+`"}]},`+
		`{"role":"assistant","content":"`+standIn+`"},{"role":"user","content":[`+part+`]}]`)
}

// A turn's items, system to input, are the beginning of the next turn's.
func TestOneTurnsItemsAreAPrefixOfTheNextTurns(t *testing.T) {
	said := provider.Segment{Kind: provider.SegmentHistory}
	last := ""
	for _, in := range [][]schema.ContentBlock{{schema.TextBlock("one \" \\ \u2028 😀")}, {a, b}, {link}, {schema.TextBlock("")}, {a, link}, {a}} {
		body := bodyOf(t, Options{}, &provider.Request{Model: "m", Segments: []provider.Segment{system, said, input(in...)}})
		require.True(t, strings.HasPrefix(body, last), body)
		last = strings.TrimSuffix(body, rest+"}")
		for _, m := range []schema.Message{saying(schema.RoleUser, in...), answers} {
			encoded, err := provider.AppendMessage(nil, m)
			require.NoError(t, err)
			said.History.Append(encoded)
		}
	}
}

// The floor is the same request with a history of 10 messages.
func BenchmarkRequest(b *testing.B) {
	p, err := New(Options{})
	require.NoError(b, err)
	for _, n := range []int{10, 10_000} {
		b.Run(fmt.Sprintf("history=%d", n), func(b *testing.B) {
			var said []schema.Message
			for i := range n {
				said = append(said, saying([]schema.Role{schema.RoleUser, schema.RoleAssistant}[i%2], schema.TextBlock(fmt.Sprintf("message %d", i))))
			}
			req := &provider.Request{Model: "m", Segments: []provider.Segment{system, history(b, said...), input(schema.TextBlock("hi"))}}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.body(req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
