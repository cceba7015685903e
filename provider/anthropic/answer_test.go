package anthropic

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/provider/internal/hostile"
	"github.com/prism-rpc/prism-rpc/schema"
)

func TestAnswersEndWell(t *testing.T) {
	const (
		think  = `{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`
		signed = `{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQB"}}`
		call   = `{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"c1","name":"ls","input":{}}}`
		input  = `{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"`
	)
	for name, row := range map[string]struct {
		events []string
		want   hostile.Said
		stop   schema.StopReason
	}{
		"as the API sends it":               {[]string{begin, block, ping, text("a"), text("b"), end, finish("end_turn"), stop}, hostile.Said{Text: "ab"}, schema.StopEndTurn},
		"a text that the block begins with": {[]string{begin, `{"type":"content_block_start","content_block":{"type":"text","text":"a"}}`, text("b"), finish("end_turn"), stop}, hostile.Said{Text: "ab"}, schema.StopEndTurn},
		"an empty answer":                   {[]string{begin, finish("end_turn"), stop}, hostile.Said{}, schema.StopEndTurn},
		"max_tokens":                        {[]string{text("a"), finish("max_tokens"), stop}, hostile.Said{Text: "a"}, schema.StopMaxTokens},
		"a full context window":             {[]string{text("a"), finish("model_context_window_exceeded"), stop}, hostile.Said{Text: "a"}, schema.StopMaxTokens},
		"another API's length":              {[]string{text("a"), finish("length"), stop}, hostile.Said{Text: "a"}, schema.StopMaxTokens},
		"another API's filter":              {[]string{text("a"), finish("content_filter"), stop}, hostile.Said{Text: "a"}, schema.StopRefusal},
		"a stop text":                       {[]string{text("a"), finish("stop_sequence"), stop}, hostile.Said{Text: "a"}, schema.StopEndTurn},
		"a refusal":                         {[]string{text("a"), finish("refusal"), stop}, hostile.Said{Text: "a"}, schema.StopRefusal},
		"a refusal without words":           {[]string{finish("refusal"), stop}, hostile.Said{}, schema.StopRefusal},
		"a reason nobody knows":             {[]string{text("a"), finish("tired"), stop}, hostile.Said{Text: "a"}, schema.StopEndTurn},
		"no reason":                         {[]string{text("a"), stop}, hostile.Said{Text: "a"}, schema.StopEndTurn},
		"a reason that is null at first":    {[]string{text("a"), `{"type":"message_delta","delta":{"stop_reason":null}}`, finish("max_tokens"), stop}, hostile.Said{Text: "a"}, schema.StopMaxTokens},
		"thinking, signed":                  {[]string{think, thought("h"), thought("m"), signed, end, block, text("a"), finish("end_turn"), stop}, hostile.Said{Text: "a", Thinking: "hm"}, schema.StopEndTurn},
		"thinking that is not told":         {[]string{`{"type":"content_block_start","content_block":{"type":"redacted_thinking","data":"x"}}`, text("a"), finish("end_turn"), stop}, hostile.Said{Text: "a"}, schema.StopEndTurn},
		"two texts":                         {[]string{block, text("a"), end, block, text("b"), end, finish("end_turn"), stop}, hostile.Said{Text: "ab"}, schema.StopEndTurn},
		"citations":                         {[]string{text("a"), `{"type":"content_block_delta","delta":{"type":"citations_delta","citation":{}}}`, finish("end_turn"), stop}, hostile.Said{Text: "a"}, schema.StopEndTurn},
		"what will be invented":             {[]string{text("a"), `{"type":"news","delta":{"type":"x"}}`, `{"type":"content_block_delta","delta":{"type":"x"}}`, finish("end_turn"), stop}, hostile.Said{Text: "a"}, schema.StopEndTurn},
		"characters of two halves (T5)":     {[]string{text(`\ud83d`), text(`\ude00`), text("\xe2"), text("\x82\xac"), finish("end_turn"), stop}, hostile.Said{Text: "😀€"}, schema.StopEndTurn},
		"types in the events' names":        {[]string{text("a"), "{}\n\nevent: message_delta\ndata: {\"delta\":{\"stop_reason\":\"max_tokens\"}}\n\nevent: message_stop\ndata: {}"}, hostile.Said{Text: "a"}, schema.StopMaxTokens},
		"tool calls": {
			[]string{block, text("a"), end, call, input + `{\"a\""}}`, input + `:1}"}}`, `{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"c2","name":"pwd"}}`, finish("tool_use"), stop},
			hostile.Said{Text: "a"}, schema.StopEndTurn,
		},
		"a tool call in one part": {[]string{`{"type":"content_block_start","content_block":{"type":"tool_use","id":"c1","name":"ls","input":{"a":1}}}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"c2","name":"pwd"}}`, finish("tool_use"), stop}, hostile.Said{}, schema.StopEndTurn},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got, res, err := hostile.Ask(t.Context(), serve(t, hostile.Stream(row.events...)), hostile.Asking("hi"))
				require.NoError(t, err)
				assert.Equal(t, row.want, got)
				assert.Equal(t, row.stop, res.StopReason)
				if strings.Contains(name, "tool call") {
					assert.Equal(t, []provider.ToolCall{{ID: "c1", Name: "ls", Input: []byte(`{"a":1}`)}, {ID: "c2", Name: "pwd", Input: []byte(`{}`)}}, res.ToolCalls)
				}
			})
		})
	}
}

func TestUsage(t *testing.T) {
	count := func(n int64) *int64 { return &n }
	start := func(usage string) string { return `{"type":"message_start","message":{"usage":` + usage + `}}` }
	later := func(usage string) string { return `{"type":"message_delta","delta":{},"usage":` + usage + `}` }
	for name, row := range map[string]struct {
		events []string
		want   schema.Usage
	}{
		"none": {nil, schema.Usage{}},
		"the input is all that was read": {
			[]string{start(`{"input_tokens":10,"cache_read_input_tokens":80,"cache_creation_input_tokens":9,"output_tokens":1}`), later(`{"output_tokens":5,"output_tokens_details":{"thinking_tokens":2}}`)},
			schema.Usage{InputTokens: count(99), OutputTokens: count(5), CacheReadTokens: count(80), CacheWriteTokens: count(9), ReasoningTokens: count(2)},
		},
		"a later report overrides": {
			[]string{start(`{"input_tokens":10,"output_tokens":1}`), later(`{"input_tokens":12,"cache_read_input_tokens":1}`), later(`null`), later(`{"output_tokens":7}`)},
			schema.Usage{InputTokens: count(13), OutputTokens: count(7), CacheReadTokens: count(1)},
		},
		"what makes no sense is unknown": {
			[]string{start(`[]`), start(`{"input_tokens":-1,"output_tokens":1.5,"cache_read_input_tokens":null}`), `{"type":"message_start","message":7}`, later(`{"output_tokens":"5","output_tokens_details":[]}`)},
			schema.Usage{},
		},
		"sums stay whole numbers": {[]string{start(`{"input_tokens":9007199254740992,"cache_read_input_tokens":9007199254740992}`)}, schema.Usage{InputTokens: count(1 << 53), CacheReadTokens: count(1 << 53)}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				events := append(row.events, text("a"), stop)
				_, res, err := hostile.Ask(t.Context(), serve(t, hostile.Stream(events...)), hostile.Asking("hi"))
				require.NoError(t, err)
				assert.Equal(t, row.want, res.Usage)
			})
		})
	}
}

// Whatever a server sends: no panic, valid text, and either a result after a
// terminal event or an error of a class.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		"", "data: " + begin + "\n\ndata: " + block + "\n\ndata: " + text("a") + "\n\ndata: " + finish("end_turn") + "\n\nevent: message_stop\ndata: " + stop + "\n\n",
		"event: message_stop\ndata: {}\n\n", "data: " + text(`\ud83d`) + "\n\ndata: " + stop + "\n\n", "data: " + text("\xe2\x82") + "\n\n",
		"data: {\"type\":\"error\",\"error\":{\"error\":[{\"code\":\"429\"}]}}\n\n", "event: error\ndata: \xff\n\n", "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":1e400}}}\n\n",
		"data: {\"type\":\"content_block_start\",\"index\":-1,\"content_block\":{\"type\":\"tool_use\",\"input\":{\"a\":1}}}\n\ndata: " + stop + "\n\n", "data: null\n\ndata: 1\n\n", "data: " + thought("x") + "\r\rdata: " + stop,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		p, err := New(Options{Transport: hostile.Canned(in), MaxRetries: -1})
		require.NoError(t, err)
		res, err := p.Stream(t.Context(), hostile.Asking("hi"), func(e provider.Event) error {
			assert.True(t, utf8.ValidString(e.Text))
			assert.NotEmpty(t, e.Text)
			return nil
		})
		if err != nil {
			var failed *provider.Error
			require.True(t, errors.As(err, &failed))
			assert.True(t, failed.Class.Valid())
			assert.Nil(t, res)
			return
		}
		assert.True(t, strings.Contains(in, "message_stop") || strings.Contains(in, `\u`))
	})
}

// 2,000 deltas of 20 bytes.
func BenchmarkRelay(b *testing.B) {
	stream := strings.Repeat("event: content_block_delta\ndata: "+text("twenty bytes of text")+"\n\n", 2000) + "data: " + finish("end_turn") + "\n\ndata: " + stop + "\n\n"
	hostile.BenchmarkRelay(b, stream, open)
	b.Run("loopback", func(b *testing.B) { hostile.BenchmarkLoopback(b, stream, open) })
}
