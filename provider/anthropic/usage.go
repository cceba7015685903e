package anthropic

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-rpc/prism-rpc/provider/internal/upstream"
	"github.com/prism-rpc/prism-rpc/schema"
)

// usage is what the API counts: input is what was neither read from the cache
// nor written to it.
type usage struct{ input, output, cacheRead, cacheWrite, thinking *int64 }

type usageReport struct {
	Input      jsontext.Value `json:"input_tokens"`
	Output     jsontext.Value `json:"output_tokens"`
	CacheRead  jsontext.Value `json:"cache_read_input_tokens"`
	CacheWrite jsontext.Value `json:"cache_creation_input_tokens"`
	OutputOf   jsontext.Value `json:"output_tokens_details"`
}

// usageOf is the report in a message.
func usageOf(message jsontext.Value) jsontext.Value {
	var m struct {
		Usage jsontext.Value `json:"usage"`
	}
	if message.Kind() != jsontext.KindBeginObject || json.Unmarshal(message, &m, upstream.Lenient) != nil {
		return nil
	}
	return m.Usage
}

// merge takes over what a later report says. A report or a count that makes no
// sense counts as not said.
func (u *usage) merge(raw jsontext.Value) {
	var r usageReport
	if raw.Kind() != jsontext.KindBeginObject || json.Unmarshal(raw, &r, upstream.Lenient) != nil {
		return
	}
	var of struct {
		Thinking jsontext.Value `json:"thinking_tokens"`
	}
	if r.OutputOf.Kind() != jsontext.KindBeginObject || json.Unmarshal(r.OutputOf, &of, upstream.Lenient) != nil {
		of.Thinking = nil
	}
	upstream.Counts(map[**int64]jsontext.Value{
		&u.input: r.Input, &u.output: r.Output, &u.cacheRead: r.CacheRead, &u.cacheWrite: r.CacheWrite, &u.thinking: of.Thinking,
	})
}

// total counts as the other adapters do: the input is all that the model read,
// of which some came from the cache.
func (u *usage) total() schema.Usage {
	out := schema.Usage{OutputTokens: u.output, CacheReadTokens: u.cacheRead, CacheWriteTokens: u.cacheWrite, ReasoningTokens: u.thinking}
	if u.input != nil {
		sum := *u.input
		for _, more := range []*int64{u.cacheRead, u.cacheWrite} {
			if more != nil {
				sum = min(sum+*more, upstream.MaxCount)
			}
		}
		out.InputTokens = &sum
	}
	return out
}
