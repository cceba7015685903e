package anthropic

import (
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/provider"
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

func saying(role schema.Role, texts ...string) schema.Message {
	m := schema.Message{Role: role}
	for _, text := range texts {
		m.Content = append(m.Content, schema.TextBlock(text))
	}
	return m
}

func part(kind provider.SegmentKind, role schema.Role, texts ...string) provider.Segment {
	s := provider.Segment{Kind: kind}
	for _, text := range texts {
		s.Messages = append(s.Messages, provider.Text(role, text))
	}
	return s
}

var link = schema.ContentBlock{Type: schema.BlockResourceLink, Name: "a.go", URI: "file:///a.go"}

// What a body is made of, for short: b is a text, c one that is marked.
var spelt = strings.NewReplacer(
	`b(`, `{"type":"text","text":"`, `)b`, `"}`, `)c`, `","cache_control":{"type":"ephemeral"}}`,
	`user[`, `{"role":"user","content":[`, `assistant[`, `{"role":"assistant","content":[`, `]end`, `]}`,
)

func TestBodyOfARequest(t *testing.T) {
	const user, model = schema.RoleUser, schema.RoleAssistant
	system, input := part(provider.SegmentSystem, schema.RoleSystem, "S"), part(provider.SegmentInput, user, "I")
	stable, blocks := part(provider.SegmentStable, user, "B"), part(provider.SegmentBlocks, user, "V")
	notices := provider.Segment{Kind: provider.SegmentNotices, Messages: []provider.Message{{Role: user, Content: []schema.ContentBlock{schema.TextBlock("N")},
		Source: &provider.Source{Kind: "plugin:x", Form: "notice", Summary: "hidden"}}}}
	said := history(t, saying(user, "q1"), saying(model, "a1"), saying(user, "q2"), saying(model, "a2"))
	const head = `"system":[b(S)c],"messages":[`
	for claim, row := range map[string]struct {
		segments []provider.Segment
		want     string
	}{
		"P15 each block is a part of the next user message": {
			[]provider.Segment{system, stable, said, blocks, input, notices},
			head + `user[b(B)b,b(q1)b]end,{"role":"assistant","content":"a1"},{"role":"user","content":"q2"},assistant[b(a2)c]end,user[b(V)b,b(I)b,b(N)b]end]`,
		},
		"the input is marked when nothing of this turn alone stands before it": {
			[]provider.Segment{system, stable, said, input, notices},
			head + `user[b(B)b,b(q1)b]end,{"role":"assistant","content":"a1"},{"role":"user","content":"q2"},assistant[b(a2)c]end,user[b(I)c,b(N)b]end]`,
		},
		"a first turn":             {[]provider.Segment{system, input}, head + `user[b(I)c]end]`},
		"a first turn with blocks": {[]provider.Segment{system, blocks, input}, head + `user[b(V)b,b(I)b]end]`},
		"the system text leads in the legacy layout too": {
			[]provider.Segment{blocks, system, history(t, saying(user, "q"), saying(model, "a")), input},
			head + `user[b(V)b,b(q)b]end,assistant[b(a)c]end,user[b(I)b]end]`,
		},
		"no system text":    {[]provider.Segment{input}, `"messages":[user[b(I)c]end]`},
		"blank system text": {[]provider.Segment{part(provider.SegmentSystem, schema.RoleSystem, " \n"), input}, `"messages":[user[b(I)c]end]`},
		"no messages":       {[]provider.Segment{system}, head + `]`},
		"system text amid the dialogue has its place": {[]provider.Segment{system, part(provider.SegmentBlocks, schema.RoleSystem, "M"), input}, head + `user[b(System:\nM)b,b(I)b]end]`},
		"questions in a row are one":                  {[]provider.Segment{history(t, saying(user, "a"), saying(user, "b"), saying(model, "c")), input}, `"messages":[user[b(a)b,b(b)b]end,assistant[b(c)c]end,user[b(I)c]end]`},
		"an unanswered question joins the next one":   {[]provider.Segment{history(t, saying(user, "a")), input}, `"messages":[user[b(a)c,b(I)c]end]`},
		"an empty answer is left out":                 {[]provider.Segment{history(t, saying(user, "a"), saying(model, ""), saying(user, "b"), saying(model, "c")), input}, `"messages":[user[b(a)b,b(b)b]end,assistant[b(c)c]end,user[b(I)c]end]`},
		"an empty answer at the end":                  {[]provider.Segment{history(t, saying(user, "a"), saying(model, " ")), input}, `"messages":[user[b(a)c,b(I)c]end]`},
		"a dialogue that the model begins":            {[]provider.Segment{history(t, saying(model, "a")), input}, `"messages":[user[b((The dialogue goes on.))b]end,assistant[b(a)c]end,user[b(I)c]end]`},
		"texts of one message":                        {[]provider.Segment{history(t, saying(user, "a", "", "b"), saying(model, "c")), input}, `"messages":[user[b(a)b,b(b)b]end,assistant[b(c)c]end,user[b(I)c]end]`},
		"letters as they are":                         {[]provider.Segment{part(provider.SegmentInput, user, "I<&\u2028")}, `"messages":[user[b(I<&` + "\u2028" + `)c]end]`},
		"links become text": {
			[]provider.Segment{history(t, schema.Message{Role: user, Content: []schema.ContentBlock{schema.TextBlock("see"), link}}, saying(model, "a")), {Kind: provider.SegmentInput, Messages: []provider.Message{{Role: user, Content: []schema.ContentBlock{link}}}}},
			`"messages":[user[b(see)b,b(a.go <file:///a.go>)b]end,assistant[b(a)c]end,user[b(a.go <file:///a.go>)c]end]`,
		},
		"tool calls and their results": {
			[]provider.Segment{input, {Kind: provider.SegmentTools, Messages: []provider.Message{
				{Role: model, Content: saying(model, "see").Content, ToolCalls: []provider.ToolCall{{ID: "c", Name: "ls", Input: []byte(`{"a":1}`)}, {ID: "d", Name: "ls"}}},
				{Role: schema.RoleTool, ToolCallID: "c", Content: saying(user, "a.go").Content}, {Role: schema.RoleTool, ToolCallID: "d"},
			}}},
			`"messages":[user[b(I)c]end,assistant[b(see)b,{"type":"tool_use","id":"c","name":"ls","input":{"a":1}},{"type":"tool_use","id":"d","name":"ls","input":{}}]end,` +
				`user[{"type":"tool_result","tool_use_id":"c","content":"a.go"},{"type":"tool_result","tool_use_id":"d","content":""}]end]`,
		},
	} {
		t.Run(claim, func(t *testing.T) {
			want := `{"model":"m","max_tokens":16384,"stream":true,` + spelt.Replace(row.want) + `}`
			assert.Equal(t, want, bodyOf(t, Options{}, &provider.Request{Model: "m", Segments: row.segments}))
		})
	}
}

func TestSettingsOfARequest(t *testing.T) {
	temperature, most := 0.5, 100
	ask := func(opts Options, req provider.Request) string {
		req.Model = strings.TrimSpace(req.Model + " m")
		return strings.TrimSuffix(bodyOf(t, opts, &req), `,"messages":[]}`)
	}
	assert.Equal(t, `{"model":"m","max_tokens":100,"stream":true,"temperature":0.5,"stop_sequences":["x"]`,
		ask(Options{MaxTokens: 7}, provider.Request{Options: schema.RunOptions{Temperature: &temperature, MaxOutputTokens: &most, Stop: []string{"x"}}}))
	assert.Equal(t, `{"model":"m","max_tokens":7,"stream":true`, ask(Options{MaxTokens: 7}, provider.Request{}))
	assert.Equal(t, `{"model":"claude-3-opus m","max_tokens":4096,"stream":true`, ask(Options{}, provider.Request{Model: "claude-3-opus"}))
	assert.Equal(t, `{"model":"m","max_tokens":16384,"stream":true,"tools":[{"name":"ls","description":"Lists.","input_schema":{"type":"object","x":1}},{"name":"f","input_schema":{"type":"object"}}]`,
		ask(Options{}, provider.Request{Tools: []provider.Tool{{Name: "ls", Description: "Lists.", Schema: []byte(`{"type":"object","x":1}`)}, {Name: "f"}}}))
}

func TestHowLongTheBeginningIsKept(t *testing.T) {
	req := &provider.Request{Model: "m", Segments: []provider.Segment{
		part(provider.SegmentSystem, schema.RoleSystem, "S"), history(t, saying(schema.RoleUser, "q"), saying(schema.RoleAssistant, "a")), part(provider.SegmentInput, schema.RoleUser, "I"),
	}}
	for ttl, mark := range map[CacheTTL]string{"": `{"type":"ephemeral"}`, CacheFiveMinutes: `{"type":"ephemeral"}`, CacheOneHour: `{"type":"ephemeral","ttl":"1h"}`} {
		assert.Equal(t, 3, strings.Count(bodyOf(t, Options{Cache: ttl}, req), `"cache_control":`+mark+`}`), ttl)
	}
	assert.NotContains(t, bodyOf(t, Options{Cache: CacheOff}, req), "cache")
}

const png = "\x89PNG\r\n\x1a\n and more \x00\xff"

func TestAnImageIsABlockOfAUsersMessage(t *testing.T) {
	image := func(name string) schema.ContentBlock {
		return schema.ContentBlock{Type: schema.BlockImage, MimeType: `text/html","x":"`, SHA256: name, Bytes: len(png)}
	}
	block := `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + base64.StdEncoding.EncodeToString([]byte(png)) + `"}`
	const standIn = `{"type":"text","text":"[image text/html\",\"x\":\", 20 bytes]"}`
	content := []schema.ContentBlock{schema.TextBlock("see"), image("here"), image("gone")}
	said := history(t, schema.Message{Role: schema.RoleUser, Content: content}, schema.Message{Role: schema.RoleAssistant, Content: content[1:2]})
	body := bodyOf(t, Options{Cache: CacheOff}, &provider.Request{
		Model: "m", Segments: []provider.Segment{said, {Kind: provider.SegmentInput, Messages: []provider.Message{{Role: schema.RoleUser, Content: content[1:2]}}}},
		Attachment: func(name string) []byte {
			if name == "here" {
				return []byte(png)
			}
			return nil
		},
	})
	assert.Contains(t, body, `"messages":[`+spelt.Replace(`user[b(see)b,`+block+`},`+standIn+`]end,assistant[`+standIn+`]end,user[`+block+`}]end]`))
}

// Whatever a dialogue is like, the API gets what it demands, and all that was
// said, in order.
func TestRolesAlternateAndNothingSaidIsLost(t *testing.T) {
	roles := []schema.Role{schema.RoleUser, schema.RoleAssistant}
	texts := []string{"", " ", "\n\u00a0", "x", "é \"\\"}
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		var want []string
		some := func(role schema.Role) schema.Message {
			m := schema.Message{Role: role}
			for range r.IntN(3) {
				text := texts[r.IntN(len(texts))]
				if strings.TrimSpace(text) != "" {
					text += fmt.Sprint(len(want))
					want = append(want, string(role)+text)
				}
				b := schema.TextBlock(text)
				if r.IntN(8) == 0 {
					b.Annotations = jsontext.Value(`{"x":1}`)
				}
				m.Content = append(m.Content, b)
			}
			return m
		}
		var said []schema.Message
		for i := range r.IntN(9) {
			role := roles[i%2]
			if r.IntN(6) == 0 {
				role = roles[r.IntN(2)]
			}
			said = append(said, some(role))
		}
		segments := []provider.Segment{history(t, said...)}
		for _, kind := range []provider.SegmentKind{provider.SegmentBlocks, provider.SegmentInput, provider.SegmentNotices} {
			m := some(schema.RoleUser)
			segments = append(segments, provider.Segment{Kind: kind, Messages: []provider.Message{{Role: m.Role, Content: m.Content}}})
		}
		body := bodyOf(t, Options{Cache: []CacheTTL{CacheOff, CacheOneHour}[r.IntN(2)]}, &provider.Request{Model: "m", Segments: segments})
		require.Equal(t, want, heard(t, body), "seed %d", seed)
	}
}

// heard is all that the messages of a body say, after a look at their form.
func heard(t *testing.T, body string) []string {
	var sent struct {
		Messages []struct {
			Role    string         `json:"role"`
			Content jsontext.Value `json:"content"`
		} `json:"messages"`
	}
	require.NoError(t, json.Unmarshal([]byte(body), &sent))
	var out []string
	for i, m := range sent.Messages {
		require.Equal(t, []string{"user", "assistant"}[i%2], m.Role, body)
		blocks := []textBlock{{Type: "text"}}
		if m.Content.Kind() == jsontext.KindString {
			require.NoError(t, json.Unmarshal(m.Content, &blocks[0].Text))
		} else {
			require.NoError(t, json.Unmarshal(m.Content, &blocks))
		}
		require.NotEmpty(t, blocks)
		for _, b := range blocks {
			require.NotEmpty(t, strings.TrimSpace(b.Text), body)
			if b.Text != "(The dialogue goes on.)" {
				out = append(out, m.Role+b.Text)
			}
		}
	}
	return out
}

// The floor is the same request with a history of 10 messages.
func BenchmarkRequest(b *testing.B) {
	p, err := New(Options{})
	require.NoError(b, err)
	for _, n := range []int{10, 10_000} {
		b.Run(fmt.Sprintf("history=%d", n), func(b *testing.B) {
			var said []schema.Message
			for i := range n {
				said = append(said, saying([]schema.Role{schema.RoleUser, schema.RoleAssistant}[i%2], fmt.Sprintf("message %d", i)))
			}
			req := &provider.Request{Model: "m", Segments: []provider.Segment{
				part(provider.SegmentSystem, schema.RoleSystem, "Be brief."), history(b, said...), part(provider.SegmentInput, schema.RoleUser, "hi"),
			}}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.body(req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
