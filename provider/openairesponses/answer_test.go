package openairesponses

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
	whole := func(members string) string {
		return `{"type":"response.completed","response":{"status":"completed",` + members + `}}`
	}
	call := func(event, members string) string {
		return `{"type":"response.output_item.` + event + `","output_index":1,"item":{"type":"function_call","call_id":"c1","name":"ls",` + members + `}}`
	}
	args := func(s string) string {
		return `{"type":"response.function_call_arguments.delta","output_index":1,"delta":"` + s + `"}`
	}
	for name, row := range map[string]struct {
		events []string
		want   hostile.Said
		stop   schema.StopReason
	}{
		"as the API sends it": {[]string{created, added, `{"type":"response.content_part.added","part":{"type":"output_text","text":""}}`, text("a"), text("b"),
			`{"type":"response.output_text.done","text":"ab"}`, complete}, hostile.Said{Text: "ab"}, schema.StopEndTurn},
		"an empty answer":                  {[]string{created, complete}, hostile.Said{}, schema.StopEndTurn},
		"max_output_tokens":                {[]string{text("a"), incomplete("max_output_tokens")}, hostile.Said{Text: "a"}, schema.StopMaxTokens},
		"completed, but incomplete":        {[]string{text("a"), `{"type":"response.completed","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}}`}, hostile.Said{Text: "a"}, schema.StopMaxTokens},
		"incomplete for no reason":         {[]string{text("a"), `{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":null}}`}, hostile.Said{Text: "a"}, schema.StopMaxTokens},
		"content_filter":                   {[]string{text("a"), incomplete("content_filter")}, hostile.Said{Text: "a"}, schema.StopRefusal},
		"a refusal":                        {[]string{`{"type":"response.refusal.delta","delta":"No."}`, complete}, hostile.Said{Text: "No."}, schema.StopRefusal},
		"a summary of the reasoning":       {[]string{`{"type":"response.reasoning_summary_part.added","summary_index":0}`, thought("h"), thought("m"), `{"type":"response.reasoning_summary_part.added","summary_index":1}`, thought("so"), text("a"), complete}, hostile.Said{Text: "a", Thinking: "hm\n\nso"}, schema.StopEndTurn},
		"the reasoning":                    {[]string{`{"type":"response.reasoning_text.delta","delta":"hm"}`, text("a"), complete}, hostile.Said{Text: "a", Thinking: "hm"}, schema.StopEndTurn},
		"a text at the end alone":          {[]string{created, whole(`"output":[{"type":"reasoning","content":7},{"type":"message","content":[{"type":"output_text","text":"a"},{"type":"output_text","text":"b"}]}]`)}, hostile.Said{Text: "ab"}, schema.StopEndTurn},
		"a refusal at the end alone":       {[]string{whole(`"output":[{"type":"message","content":[{"type":"refusal","refusal":"No."}]}]`)}, hostile.Said{Text: "No."}, schema.StopRefusal},
		"a text that is not said twice":    {[]string{text("a"), whole(`"output":[{"type":"message","content":[{"type":"output_text","text":"a"}]}]`)}, hostile.Said{Text: "a"}, schema.StopEndTurn},
		"an odd list of what was said":     {[]string{text("a"), whole(`"output":[{"type":7}]`)}, hostile.Said{Text: "a"}, schema.StopEndTurn},
		"what will be invented":            {[]string{text("a"), `{"type":"response.news","delta":{"x":1},"item":[]}`, "{}", complete}, hostile.Said{Text: "a"}, schema.StopEndTurn},
		"characters of two halves (T5)":    {[]string{text(`\ud83d`), text(`\ude00`), text("\xe2"), text("\x82\xac"), complete}, hostile.Said{Text: "😀€"}, schema.StopEndTurn},
		"types in the events' names":       {[]string{text("a"), "{}\n\nevent: response.completed\ndata: {\"response\":{\"status\":\"completed\"}}"}, hostile.Said{Text: "a"}, schema.StopEndTurn},
		"a tool call":                      {[]string{call("added", `"arguments":""`), args(`{\"a\"`), args(`:1}`), call("done", `"arguments":"{\"a\":1}"`), complete}, hostile.Said{}, schema.StopEndTurn},
		"a tool call in one part":          {[]string{call("added", `"arguments":""`), call("done", `"arguments":"{\"a\":1}"`), complete}, hostile.Said{}, schema.StopEndTurn},
		"a tool call that is done at once": {[]string{call("done", `"arguments":"{\"a\":1}"`), complete}, hostile.Said{}, schema.StopEndTurn},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got, res, err := hostile.Ask(t.Context(), serve(t, hostile.Stream(row.events...)), hostile.Asking("hi"))
				require.NoError(t, err)
				assert.Equal(t, row.want, got)
				assert.Equal(t, row.stop, res.StopReason)
				if strings.Contains(name, "tool call") {
					assert.Equal(t, []provider.ToolCall{{ID: "c1", Name: "ls", Input: []byte(`{"a":1}`)}}, res.ToolCalls)
				}
			})
		})
	}
}

func TestUsage(t *testing.T) {
	count := func(n int64) *int64 { return &n }
	for name, row := range map[string]struct {
		usage string
		want  schema.Usage
	}{
		"none": {`null`, schema.Usage{}},
		"all of it": {
			`{"input_tokens":10,"input_tokens_details":{"cached_tokens":8},"output_tokens":2,"output_tokens_details":{"reasoning_tokens":1},"total_tokens":12}`,
			schema.Usage{InputTokens: count(10), OutputTokens: count(2), TotalTokens: count(12), CacheReadTokens: count(8), ReasoningTokens: count(1)},
		},
		"odd details spoil no counts":    {`{"input_tokens":5,"input_tokens_details":[],"output_tokens_details":{"reasoning_tokens":1,"x":{}}}`, schema.Usage{InputTokens: count(5), ReasoningTokens: count(1)}},
		"what makes no sense is unknown": {`{"input_tokens":-1,"output_tokens":1.5,"total_tokens":9007199254740993e3}`, schema.Usage{}},
		"a list":                         {`[]`, schema.Usage{}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				end := `{"type":"response.completed","response":{"status":"completed","usage":` + row.usage + `}}`
				_, res, err := hostile.Ask(t.Context(), serve(t, hostile.Stream(text("a"), end)), hostile.Asking("hi"))
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
		"", "data: " + created + "\n\ndata: " + added + "\n\ndata: " + text("a") + "\n\ndata: " + complete + "\n\n", "data: " + text(`\ud83d`) + "\n\ndata: " + complete + "\n\n",
		"event: response.completed\ndata: {}\n\n", "data: " + text("\xe2\x82") + "\n\n", "event: error\ndata: \xff\n\n", "data: " + failed("429") + "\n\n",
		"data: {\"type\":\"response.output_item.done\",\"output_index\":-1,\"item\":{\"type\":\"function_call\",\"arguments\":\"x\"}}\n\ndata: " + complete + "\n\n",
		"data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"usage\":{\"input_tokens\":1e400},\"output\":[{\"type\":\"message\",\"content\":[{\"text\":\"a\"}]}]}}\n\n",
		"data: null\n\ndata: 1\n\n", "data: " + incomplete("content_filter") + "\r\r",
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
		assert.True(t, strings.Contains(in, "completed") || strings.Contains(in, "incomplete") || strings.Contains(in, `\u`))
	})
}

// 2,000 deltas of 20 bytes.
func BenchmarkRelay(b *testing.B) {
	stream := strings.Repeat("event: response.output_text.delta\ndata: "+text("twenty bytes of text")+"\n\n", 2000) + "data: " + complete + "\n\n"
	hostile.BenchmarkRelay(b, stream, open)
	b.Run("loopback", func(b *testing.B) { hostile.BenchmarkLoopback(b, stream, open) })
}
