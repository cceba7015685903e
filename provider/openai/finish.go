package openai

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/provider/internal/upstream"
	"github.com/prism-rpc/prism-rpc/schema"
)

func (a *answer) result() (*provider.Result, error) {
	stop, known := stopReason(a.finish)
	return a.Ended(stop, a.finish, known, a.usage)
}

// stopReason sorts a finish reason. One that nobody knows ends a turn like any
// other, if there is an answer.
func stopReason(finish string) (stop schema.StopReason, known bool) {
	switch strings.ToLower(finish) {
	case "length", "max_tokens", "model_length":
		return schema.StopMaxTokens, true
	case "content_filter", "refusal", "sensitive", "safety", "recitation", "prohibited_content", "blocklist", "spii":
		return schema.StopRefusal, true
	case "", "stop", "eos", "eos_token", "end_turn", "stop_sequence", "tool_calls", "function_call", "tool_use", "complete":
		return schema.StopEndTurn, true
	}
	return schema.StopEndTurn, false
}

// finishError is the error that some servers report as a finish reason.
func finishError(finish string) error {
	class := provider.ClassInterrupted
	switch finish {
	case "insufficient_system_resource": // DeepSeek
		class = provider.ClassOverloaded
	case "error", "network_error", "abort", "cancelled", "canceled": // OpenRouter, GLM, vLLM
	default:
		return nil
	}
	return &provider.Error{Class: class, Message: "the server gave up on the answer: " + finish}
}

// call adds to the tool calls, whose parts come by index.
func (a *answer) call(parts []toolDelta) error {
	for i := range parts {
		d := &parts[i]
		if err := a.Call(d.Index, d.ID, d.Function.Name, d.Function.Arguments); err != nil {
			return err
		}
	}
	return nil
}

type usage struct {
	Prompt     jsontext.Value `json:"prompt_tokens"`
	Completion jsontext.Value `json:"completion_tokens"`
	Total      jsontext.Value `json:"total_tokens"`
	PromptOf   jsontext.Value `json:"prompt_tokens_details"`
	OutputOf   jsontext.Value `json:"completion_tokens_details"`
}

// mergeUsage takes over what a later report says. A report or a count that
// makes no sense counts as not said.
func mergeUsage(have schema.Usage, raw jsontext.Value) schema.Usage {
	if raw.Kind() != jsontext.KindBeginObject {
		return have
	}
	var u usage
	if err := json.Unmarshal(raw, &u, upstream.Lenient); err != nil {
		return have
	}
	upstream.Counts(map[**int64]jsontext.Value{
		&have.InputTokens:     u.Prompt,
		&have.OutputTokens:    u.Completion,
		&have.TotalTokens:     u.Total,
		&have.CacheReadTokens: upstream.UsageDetailsOf(u.PromptOf).Cached,
		&have.ReasoningTokens: upstream.UsageDetailsOf(u.OutputOf).Reasoning,
	})
	return have
}
