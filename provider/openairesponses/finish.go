package openairesponses

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/provider/internal/upstream"
	"github.com/prism-rpc/prism-rpc/schema"
)

// A response is what the terminal event says of all.
type response struct {
	Status     string         `json:"status"`
	Output     jsontext.Value `json:"output"`
	Usage      jsontext.Value `json:"usage"`
	Error      jsontext.Value `json:"error"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
}

// ended is what the answer comes to; how is what its terminal event is called,
// which the response's own status may correct.
func (a *answer) ended(how string, raw jsontext.Value) (*provider.Result, error) {
	var r response
	if raw.Kind() == jsontext.KindBeginObject {
		if err := json.Unmarshal(raw, &r, upstream.Lenient); err != nil {
			return nil, upstream.Malformed(err)
		}
	}
	if r.Status != "" && how == "completed" {
		how = r.Status
	}
	a.usage = usageOf(r.Usage)
	switch how {
	case "completed":
		if err := a.catchUp(r.Output); err != nil {
			return nil, err
		}
		return a.Ended(schema.StopEndTurn, how, r.Status != "", a.usage)
	case "incomplete":
		return a.incomplete(r.Incomplete.Reason)
	case "failed":
		return nil, upstream.FrameError(r.Error)
	}
	return nil, &provider.Error{Class: provider.ClassInterrupted, Message: "the server gave up on the answer: " + upstream.Raw(how)}
}

// incomplete tells what an answer that was not ended ends with: where no reason
// is given, with the room for it. Nobody can tell what a reason that nobody
// knows leaves out.
func (a *answer) incomplete(reason string) (*provider.Result, error) {
	switch reason {
	case "max_output_tokens", "max_tokens", "length", "":
		return a.Ended(schema.StopMaxTokens, reason, true, a.usage)
	case "content_filter":
		return a.Ended(schema.StopRefusal, reason, true, a.usage)
	}
	return nil, &provider.Error{Class: provider.ClassInterrupted, Message: strings.TrimSpace("the server left the answer incomplete: " + upstream.Raw(reason))}
}

// catchUp takes the text of a server that sent none of it in parts.
func (a *answer) catchUp(output jsontext.Value) error {
	if a.Spoke || a.Refused || a.Calls() {
		return nil
	}
	for _, it := range listOf[item](output) {
		if it.Type != "message" {
			continue
		}
		for _, c := range listOf[contentPart](it.Content) {
			if err := a.Text(c.Text); err != nil {
				return err
			}
			if err := a.Refusal(c.Refusal); err != nil {
				return err
			}
		}
	}
	return nil
}

type contentPart struct {
	Text    jsontext.Value `json:"text"`
	Refusal jsontext.Value `json:"refusal"`
}

// listOf reads a list; what is none is empty.
func listOf[T any](raw jsontext.Value) []T {
	var list []T
	if raw.Kind() != jsontext.KindBeginArray || json.Unmarshal(raw, &list, upstream.Lenient) != nil {
		return nil
	}
	return list
}

type usageReport struct {
	Input    jsontext.Value `json:"input_tokens"`
	Output   jsontext.Value `json:"output_tokens"`
	Total    jsontext.Value `json:"total_tokens"`
	InputOf  jsontext.Value `json:"input_tokens_details"`
	OutputOf jsontext.Value `json:"output_tokens_details"`
}

// usageOf reads the one report that there is. What makes no sense counts as
// not said.
func usageOf(raw jsontext.Value) (out schema.Usage) {
	var u usageReport
	if raw.Kind() != jsontext.KindBeginObject || json.Unmarshal(raw, &u, upstream.Lenient) != nil {
		return out
	}
	upstream.Counts(map[**int64]jsontext.Value{
		&out.InputTokens:     u.Input,
		&out.OutputTokens:    u.Output,
		&out.TotalTokens:     u.Total,
		&out.CacheReadTokens: upstream.UsageDetailsOf(u.InputOf).Cached,
		&out.ReasoningTokens: upstream.UsageDetailsOf(u.OutputOf).Reasoning,
	})
	return out
}
