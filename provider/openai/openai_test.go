package openai

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/provider/internal/hostile"
	"github.com/prism-rpc/prism-rpc/schema"
)

func TestAnswersEndWell(t *testing.T) {
	const done = "[DONE]"
	call := `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"a\""}}]}}]}`
	rest := `{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}}]}`
	for name, row := range map[string]struct {
		events []string
		want   hostile.Said
		stop   schema.StopReason
	}{
		"finish reason and DONE":            {[]string{text("a"), text("b"), finish("stop"), done}, hostile.Said{Text: "ab"}, schema.StopEndTurn},
		"a finish reason alone":             {[]string{text("a"), finish("stop")}, hostile.Said{Text: "a"}, schema.StopEndTurn},
		"DONE alone, after some text":       {[]string{text("a"), done}, hostile.Said{Text: "a"}, schema.StopEndTurn},
		"an empty answer":                   {[]string{finish("stop"), done}, hostile.Said{}, schema.StopEndTurn},
		"junk after the finish reason":      {[]string{text("a"), finish("stop"), `{"cho`}, hostile.Said{Text: "a"}, schema.StopEndTurn},
		"length":                            {[]string{text("a"), finish("length"), done}, hostile.Said{Text: "a"}, schema.StopMaxTokens},
		"content_filter":                    {[]string{text("a"), finish("content_filter"), done}, hostile.Said{Text: "a"}, schema.StopRefusal},
		"a refusal in its own field":        {[]string{`{"choices":[{"delta":{"content":null,"refusal":"No."}}]}`, finish("stop")}, hostile.Said{Text: "No."}, schema.StopRefusal},
		"tool calls":                        {[]string{call, rest, finish("tool_calls"), done}, hostile.Said{}, schema.StopEndTurn},
		"length in another case":            {[]string{text("a"), finish("MAX_TOKENS"), done}, hostile.Said{Text: "a"}, schema.StopMaxTokens},
		"a reason that is not one yet":      {[]string{`{"choices":[{"delta":{"content":"a"},"finish_reason":"null"}]}`, text("b"), finish("stop"), done}, hostile.Said{Text: "ab"}, schema.StopEndTurn},
		"an error after the finish reason":  {[]string{text("a"), finish("stop"), `{"error":{"code":500}}`, done}, hostile.Said{Text: "a"}, schema.StopEndTurn},
		"two finish reasons":                {[]string{text("a"), finish("stop"), finish("error"), done}, hostile.Said{Text: "a"}, schema.StopEndTurn},
		"an error that is none":             {[]string{`{"choices":[],"error":""}`, text("a"), finish("stop"), done}, hostile.Said{Text: "a"}, schema.StopEndTurn},
		"a reason nobody knows":             {[]string{text("a"), finish("eos"), done}, hostile.Said{Text: "a"}, schema.StopEndTurn},
		"reasoning_content":                 {[]string{`{"choices":[{"delta":{"reasoning_content":"hm"}}]}`, text("a"), finish("stop")}, hostile.Said{Text: "a", Thinking: "hm"}, schema.StopEndTurn},
		"reasoning":                         {[]string{`{"choices":[{"delta":{"reasoning":"hm","content":""}}]}`, text("a"), finish("stop")}, hostile.Said{Text: "a", Thinking: "hm"}, schema.StopEndTurn},
		"both names of the same reasoning":  {[]string{`{"choices":[{"delta":{"reasoning":"hm","reasoning_content":"hm"}}]}`, finish("stop")}, hostile.Said{Thinking: "hm"}, schema.StopEndTurn},
		"nulls wherever they can stand":     {[]string{`{"choices":null,"usage":null,"error":null}`, `{"choices":[{"index":null,"delta":null,"finish_reason":null}]}`, `{"choices":[{"delta":{"content":null,"tool_calls":null}}]}`, text("a"), finish("stop")}, hostile.Said{Text: "a"}, schema.StopEndTurn},
		"other choices are not this answer": {[]string{`{"choices":[{"index":1,"delta":{"content":"b"},"finish_reason":"stop"},{"index":0,"delta":{"content":"a"}}]}`, finish("stop")}, hostile.Said{Text: "a"}, schema.StopEndTurn},
		"keys twice and unknown ones":       {[]string{`{"id":1,"id":2,"choices":[{"delta":{"content":"a","x":[]},"logprobs":{}}]}`, finish("stop")}, hostile.Said{Text: "a"}, schema.StopEndTurn},
		"keys in another case are unknown":  {[]string{`{"Choices":[{"delta":{"content":"b"}}]}`, text("a"), finish("stop")}, hostile.Said{Text: "a"}, schema.StopEndTurn},
		"an event of 3 MB":                  {[]string{text(strings.Repeat("x", 3<<20)), finish("stop")}, hostile.Said{Text: strings.Repeat("x", 3<<20)}, schema.StopEndTurn},
		"characters of two halves (T5)":     {[]string{`{"choices":[{"delta":{"content":"\ud83d"}}]}`, `{"choices":[{"delta":{"content":"\ude00"}}]}`, text("\xe2"), text("\x82\xac"), finish("stop")}, hostile.Said{Text: "😀€"}, schema.StopEndTurn},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got, res, err := hostile.Ask(t.Context(), serve(t, hostile.Stream(row.events...)), hostile.Asking("hi"))
				require.NoError(t, err)
				assert.Equal(t, row.want, got)
				assert.Equal(t, row.stop, res.StopReason)
				if name == "tool calls" {
					assert.Equal(t, []provider.ToolCall{{ID: "c1", Name: "ls", Input: []byte(`{"a":1}`)}}, res.ToolCalls)
				}
			})
		})
	}
}

func TestAnAnswerIsWholeOnceItsFinishReasonCame(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"then the connection breaks": hostile.Abort(hostile.Stream(text("a"), finish("stop"))),
		"then nothing for ever":      hostile.Stall(hostile.Stream(text("a"), finish("stop"))),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				got, res, err := hostile.Ask(t.Context(), serve(t, h), hostile.Asking("hi"))
				require.NoError(t, err)
				assert.Equal(t, "a", got.Text)
				assert.Equal(t, schema.StopEndTurn, res.StopReason)
				assert.LessOrEqual(t, time.Since(start), 2*time.Second)
			})
		})
	}
}

func TestUsage(t *testing.T) {
	count := func(n int64) *int64 { return &n }
	for name, row := range map[string]struct {
		reports []string
		want    schema.Usage
	}{
		"none": {nil, schema.Usage{}},
		"all of it": {
			[]string{`{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12,"prompt_tokens_details":{"cached_tokens":8},"completion_tokens_details":{"reasoning_tokens":1}}`},
			schema.Usage{InputTokens: count(10), OutputTokens: count(2), TotalTokens: count(12), CacheReadTokens: count(8), ReasoningTokens: count(1)},
		},
		"a later report overrides": {
			[]string{`{"prompt_tokens":10,"completion_tokens":1}`, `{"completion_tokens":2}`, `null`},
			schema.Usage{InputTokens: count(10), OutputTokens: count(2)},
		},
		"odd details spoil no counts": {
			[]string{`{"prompt_tokens":5,"prompt_tokens_details":[],"completion_tokens_details":{"reasoning_tokens":1,"x":{}}}`},
			schema.Usage{InputTokens: count(5), ReasoningTokens: count(1)},
		},
		"what makes no sense is unknown": {
			[]string{`{"prompt_tokens":-1,"completion_tokens":1.5,"total_tokens":9007199254740993e3,"prompt_tokens_details":null}`, `[]`, `{"completion_tokens_details":7}`},
			schema.Usage{},
		},
		"2^53 and a whole number written as a fraction": {
			[]string{`{"prompt_tokens":9007199254740992,"completion_tokens":2.0}`},
			schema.Usage{InputTokens: count(1 << 53), OutputTokens: count(2)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				events := []string{text("a"), finish("stop")}
				for _, r := range row.reports {
					events = append(events, `{"choices":[],"usage":`+r+`}`)
				}
				_, res, err := hostile.Ask(t.Context(), serve(t, hostile.Stream(events...)), hostile.Asking("hi"))
				require.NoError(t, err)
				assert.Equal(t, row.want, res.Usage)
			})
		})
	}
}
