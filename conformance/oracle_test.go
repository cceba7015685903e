package conformance

import (
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	anthropicsdk "github.com/anthropics/anthropic-sdk-go/v2"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	openaisdk "github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/provider/anthropic"
	"github.com/prism-rpc/prism-rpc/provider/openai"
	"github.com/prism-rpc/prism-rpc/provider/openairesponses"
	"github.com/prism-rpc/prism-rpc/schema"
)

// The vendors' own clients say what their APIs are: what we send decodes into
// their types, and what a server sends is to us what it is to them.

// An oracle is one of them.
type oracle struct {
	open func(base string) (provider.Provider, error)
	// params decodes a body into the vendor's type and encodes it again.
	params func(body []byte) (again []byte, err error)
	// ask has the vendor's client read a stream.
	ask func(t *testing.T, base string) (text, stop string, input, output, cached int64)
}

func again(v interface{ UnmarshalJSON([]byte) error }, body []byte) ([]byte, error) {
	if err := v.UnmarshalJSON(body); err != nil {
		return nil, err
	}
	return v.(interface{ MarshalJSON() ([]byte, error) }).MarshalJSON()
}

var yes = true

var oracles = map[string]oracle{
	"openai": {
		func(base string) (provider.Provider, error) {
			return openai.New(openai.Options{BaseURL: base + "/v1", CacheKey: &yes, MaxRetries: -1})
		},
		func(body []byte) ([]byte, error) { return again(&openaisdk.ChatCompletionNewParams{}, body) },
		askChat,
	},
	"openai-responses": {
		func(base string) (provider.Provider, error) {
			return openairesponses.New(openairesponses.Options{BaseURL: base + "/v1", MaxRetries: -1})
		},
		func(body []byte) ([]byte, error) { return again(&responses.ResponseNewParams{}, typed(body)) },
		askResponses,
	},
	"anthropic": {
		func(base string) (provider.Provider, error) {
			return anthropic.New(anthropic.Options{BaseURL: base, Cache: anthropic.CacheOneHour, MaxRetries: -1})
		},
		func(body []byte) ([]byte, error) { return again(&anthropicsdk.MessageNewParams{}, body) },
		askMessages,
	},
}

func askChat(t *testing.T, base string) (text, stop string, input, output, cached int64) {
	c := openaisdk.NewClient(openaioption.WithBaseURL(base+"/v1"), openaioption.WithAPIKey("k"))
	stream := c.Chat.Completions.NewStreaming(t.Context(), openaisdk.ChatCompletionNewParams{Model: "m"})
	acc := openaisdk.ChatCompletionAccumulator{}
	for stream.Next() {
		require.True(t, acc.AddChunk(stream.Current()))
	}
	require.NoError(t, stream.Err())
	return acc.Choices[0].Message.Content, acc.Choices[0].FinishReason, acc.Usage.PromptTokens, acc.Usage.CompletionTokens, acc.Usage.PromptTokensDetails.CachedTokens
}

func askResponses(t *testing.T, base string) (text, stop string, input, output, cached int64) {
	c := openaisdk.NewClient(openaioption.WithBaseURL(base+"/v1"), openaioption.WithAPIKey("k"))
	stream := c.Responses.NewStreaming(t.Context(), responses.ResponseNewParams{Model: "m"})
	var last responses.Response
	for stream.Next() {
		switch e := stream.Current().AsAny().(type) {
		case responses.ResponseTextDeltaEvent:
			text += e.Delta
		case responses.ResponseCompletedEvent:
			last = e.Response
		case responses.ResponseIncompleteEvent:
			last = e.Response
		}
	}
	require.NoError(t, stream.Err())
	stop = string(last.Status)
	if last.IncompleteDetails.Reason != "" {
		stop = string(last.IncompleteDetails.Reason)
	}
	return text, stop, last.Usage.InputTokens, last.Usage.OutputTokens, last.Usage.InputTokensDetails.CachedTokens
}

func askMessages(t *testing.T, base string) (text, stop string, input, output, cached int64) {
	c := anthropicsdk.NewClient(anthropicoption.WithBaseURL(base), anthropicoption.WithAPIKey("k"))
	stream := c.Messages.NewStreaming(t.Context(), anthropicsdk.MessageNewParams{Model: "m", MaxTokens: 9})
	var acc anthropicsdk.Message
	for stream.Next() {
		require.NoError(t, acc.Accumulate(stream.Current()))
	}
	require.NoError(t, stream.Err())
	for _, b := range acc.Content {
		text += b.Text
	}
	u := acc.Usage
	return text, string(acc.StopReason), u.InputTokens + u.CacheReadInputTokens + u.CacheCreationInputTokens, u.OutputTokens, u.CacheReadInputTokens
}

// requests are all that a request may hold.
func requests(t *testing.T) map[string]*provider.Request {
	text := schema.TextBlock
	png := []byte("\x89PNG\r\n\x1a\n and more")
	image := schema.ContentBlock{Type: schema.BlockImage, MimeType: "image/png", SHA256: "here", Bytes: len(png)}
	link := schema.ContentBlock{Type: schema.BlockResourceLink, Name: "a.go", URI: "file:///a.go"}
	resource := schema.ContentBlock{Type: schema.BlockResource, Resource: &schema.Resource{URI: "file:///b.go", Text: "package b"}}
	var said provider.History
	for i, content := range [][]schema.ContentBlock{{text("q1")}, {text("a1")}, {text("q2"), image, link, resource}, {text("a2")}, {text("q3"), text("more")}, {text("a3")}, {text("q4")}, {text("a4")}} {
		encoded, err := provider.AppendMessage(nil, schema.Message{Role: []schema.Role{schema.RoleUser, schema.RoleAssistant}[i%2], Content: content})
		require.NoError(t, err)
		said.Append(encoded)
	}
	temperature, most := 0.5, 100
	part := func(kind provider.SegmentKind, messages ...provider.Message) provider.Segment {
		return provider.Segment{Kind: kind, Messages: messages}
	}
	user, system := func(s string) provider.Message { return provider.Text(schema.RoleUser, s) }, provider.Text(schema.RoleSystem, "Be brief.")
	return map[string]*provider.Request{
		"a first turn": {Model: "m", Segments: []provider.Segment{part(provider.SegmentSystem, system), part(provider.SegmentInput, user("hi"))}},
		"all at once": {
			Model: "m", SessionID: "s", Options: schema.RunOptions{Temperature: &temperature, MaxOutputTokens: &most},
			Segments: []provider.Segment{
				part(provider.SegmentSystem, system), part(provider.SegmentStable, user("Repo:\nA monorepo.")), {Kind: provider.SegmentHistory, History: said},
				part(provider.SegmentBlocks, user("Now:\nToday.")), part(provider.SegmentInput, provider.Message{Role: schema.RoleUser, Content: []schema.ContentBlock{text("see \u2028 \"<"), image}}), part(provider.SegmentNotices, user("Heed the wiki.")),
				part(provider.SegmentTools, provider.Message{Role: schema.RoleAssistant, Content: []schema.ContentBlock{text("I look.")}, ToolCalls: []provider.ToolCall{{ID: "c1", Name: "ls", Input: []byte(`{"dir":"/"}`)}}},
					provider.Message{Role: schema.RoleTool, ToolCallID: "c1", Content: []schema.ContentBlock{text("a.go")}}),
			},
			Tools:      []provider.Tool{{Name: "ls", Description: "Lists.", Schema: []byte(`{"type":"object","properties":{"dir":{"type":"string"}}}`)}},
			Attachment: func(string) []byte { return png },
		},
		"the legacy layout": {Model: "m", Segments: []provider.Segment{part(provider.SegmentBlocks, user("B")), part(provider.SegmentSystem, system), {Kind: provider.SegmentHistory, History: said}, part(provider.SegmentInput, user("hi"))}},
	}
}

func TestTheVendorsTypesTakeWhatIsSent(t *testing.T) {
	for name, o := range oracles {
		for claim, req := range requests(t) {
			t.Run(name+", "+claim, func(t *testing.T) {
				var body []byte
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					var err error
					body, err = io.ReadAll(r.Body)
					assert.NoError(t, err)
					w.WriteHeader(http.StatusTeapot)
				}))
				defer server.Close()
				p, err := o.open(server.URL)
				require.NoError(t, err)
				_, err = p.Stream(t.Context(), req, func(provider.Event) error { return nil })
				require.Error(t, err)
				back, err := o.params(body)
				require.NoError(t, err)
				sent := members(t, typed(body))
				if name == "anthropic" {
					sent = inBlocks(sent).(map[string]any)
					delete(sent, "temperature") // which this client no longer knows, since newer models take none
				}
				assert.Equal(t, sent, members(t, back), "nothing is lost or gets another meaning on the way")
			})
		}
	}
}

// members is a body without stream, which the clients add by themselves.
func members(t *testing.T, body []byte) map[string]any {
	var m map[string]any
	require.NoError(t, json.Unmarshal(body, &m), string(body))
	delete(m, "stream")
	return m
}

// typed is a body with the type of the items of input that leave it out, as they
// may: the client looks for the right kind by that member.
func typed(body []byte) []byte {
	var sent map[string]any
	if json.Unmarshal(body, &sent) != nil {
		return body
	}
	items, _ := sent["input"].([]any)
	for _, item := range items {
		if m, is := item.(map[string]any); is && m["type"] == nil {
			m["type"] = "message"
		}
	}
	named, err := json.Marshal(sent)
	if err != nil {
		return body
	}
	return named
}

// inBlocks spells a content that is a string, which is short for one block.
func inBlocks(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, member := range v {
			if text, is := member.(string); is && k == "content" {
				member = []any{map[string]any{"type": "text", "text": text}}
			}
			v[k] = inBlocks(member)
		}
	case []any:
		for i := range v {
			v[i] = inBlocks(v[i])
		}
	}
	return v
}

// streams are answers as the vendors document them.
var streams = map[string]struct {
	api  string
	data []string
	stop map[string]schema.StopReason // what the vendor calls it, and we
}{
	"a chat's chunks": {"openai", []string{
		`{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}],"usage":null}`,
		`{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Grüße \u2028"},"finish_reason":null}],"usage":null}`,
		`{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":" 😀"},"finish_reason":null}],"usage":null}`,
		`{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"length"}],"usage":null}`,
		`{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":19,"completion_tokens":10,"total_tokens":29,"prompt_tokens_details":{"cached_tokens":7,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":3}}}`,
		`[DONE]`,
	}, map[string]schema.StopReason{"length": schema.StopMaxTokens}},
	"a response's events": {"openai-responses", []string{
		`{"type":"response.created","sequence_number":0,"response":{"id":"r","object":"response","status":"in_progress","output":[],"usage":null}}`,
		`{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"rs","type":"reasoning","summary":[]}}`,
		`{"type":"response.output_item.done","sequence_number":2,"output_index":0,"item":{"id":"rs","type":"reasoning","summary":[]}}`,
		`{"type":"response.output_item.added","sequence_number":3,"output_index":1,"item":{"id":"m","type":"message","status":"in_progress","role":"assistant","content":[]}}`,
		`{"type":"response.content_part.added","sequence_number":4,"item_id":"m","output_index":1,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}}`,
		`{"type":"response.output_text.delta","sequence_number":5,"item_id":"m","output_index":1,"content_index":0,"delta":"Grüße \u2028","logprobs":[]}`,
		`{"type":"response.output_text.delta","sequence_number":6,"item_id":"m","output_index":1,"content_index":0,"delta":" 😀","logprobs":[]}`,
		`{"type":"response.incomplete","sequence_number":7,"response":{"id":"r","object":"response","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[{"id":"m","type":"message","status":"incomplete","role":"assistant","content":[{"type":"output_text","text":"Grüße \u2028 😀","annotations":[]}]}],"usage":{"input_tokens":19,"input_tokens_details":{"cached_tokens":7},"output_tokens":10,"output_tokens_details":{"reasoning_tokens":3},"total_tokens":29}}}`,
	}, map[string]schema.StopReason{"max_output_tokens": schema.StopMaxTokens}},
	"a message's events": {"anthropic", []string{
		`{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"model":"m","stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":8,"cache_creation_input_tokens":4,"cache_read_input_tokens":7,"output_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm."}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQB"}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}`,
		`{"type":"ping"}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Grüße \u2028"}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":" 😀"}}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"message_delta","delta":{"stop_reason":"max_tokens","stop_sequence":null},"usage":{"input_tokens":8,"cache_creation_input_tokens":4,"cache_read_input_tokens":7,"output_tokens":10}}`,
		`{"type":"message_stop"}`,
	}, map[string]schema.StopReason{"max_tokens": schema.StopMaxTokens}},
}

func TestAStreamIsToUsWhatItIsToTheVendor(t *testing.T) {
	for name, row := range streams {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				for _, data := range row.data {
					var e struct {
						Type string `json:"type"`
					}
					if jsontext.Value(data).Kind() == jsontext.KindBeginObject && json.Unmarshal([]byte(data), &e) == nil && e.Type != "" {
						_, _ = io.WriteString(w, "event: "+e.Type+"\n")
					}
					_, _ = io.WriteString(w, "data: "+data+"\n\n")
				}
			}))
			defer server.Close()
			o := oracles[row.api]
			text, stop, input, output, cached := o.ask(t, server.URL)
			assert.Equal(t, "Grüße \u2028 😀", text)

			p, err := o.open(server.URL)
			require.NoError(t, err)
			ours, _, res, err := call(t.Context(), p, "hi")
			require.NoError(t, err)
			assert.Equal(t, text, ours)
			assert.Equal(t, row.stop[stop], res.StopReason)
			assert.Equal(t, [3]int64{input, output, cached}, [3]int64{*res.Usage.InputTokens, *res.Usage.OutputTokens, *res.Usage.CacheReadTokens})
		})
	}
}

// vendorStreams are the recorded streams that the vendor's module brings with
// its own tests.
func vendorStreams(t *testing.T) []string {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/anthropics/anthropic-sdk-go/v2").Output()
	require.NoError(t, err)
	var files []string
	require.NoError(t, filepath.WalkDir(strings.TrimSpace(string(dir)), func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".sse") {
			files = append(files, path)
		}
		return err
	}))
	require.NotEmpty(t, files)
	return files
}

func TestTheVendorsRecordedStreamsAreReadAsTheVendorDoes(t *testing.T) {
	stops := map[string]schema.StopReason{"end_turn": schema.StopEndTurn, "tool_use": schema.StopEndTurn, "refusal": schema.StopRefusal, "max_tokens": schema.StopMaxTokens}
	for _, file := range vendorStreams(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			recorded, err := os.ReadFile(file)
			require.NoError(t, err)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = w.Write(recorded)
			}))
			defer server.Close()
			o := oracles["anthropic"]
			text, stop, _, output, _ := o.ask(t, server.URL)
			p, err := o.open(server.URL)
			require.NoError(t, err)
			ours, _, res, err := call(t.Context(), p, "hi")
			require.NoError(t, err)
			assert.Equal(t, text, ours)
			assert.Equal(t, stops[stop], res.StopReason, stop)
			assert.Equal(t, output, *res.Usage.OutputTokens)
		})
	}
}
