package anthropic

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/provider/internal/upstream"
	"github.com/prism-rpc/prism-rpc/schema"
)

// An event is one object of the stream. Members that are not always looked at
// are kept raw, so that one of them can't spoil an answer.
type event struct {
	Type    string         `json:"type"`
	Index   int            `json:"index"`
	Message jsontext.Value `json:"message"`       // of message_start
	Block   contentBlock   `json:"content_block"` // of content_block_start
	Delta   delta          `json:"delta"`         // of content_block_delta, message_delta
	Usage   jsontext.Value `json:"usage"`         // of message_delta
	Error   jsontext.Value `json:"error"`
}

type contentBlock struct {
	Type     string         `json:"type"`
	Text     jsontext.Value `json:"text"`
	Thinking jsontext.Value `json:"thinking"`
	ID       string         `json:"id"`
	Name     string         `json:"name"`
	Input    jsontext.Value `json:"input"`
}

type delta struct {
	Type        string         `json:"type"`
	Text        jsontext.Value `json:"text"`
	Thinking    jsontext.Value `json:"thinking"`
	PartialJSON string         `json:"partial_json"`
	StopReason  string         `json:"stop_reason"`
}

// An answer is one response as it comes in.
type answer struct {
	upstream.Answer
	calls map[int]int // the numbers of tool calls, by the index of their block
	stop  string      // the reason to stop; empty: not seen
	usage usage
}

// read reads events to message_stop: what ends before that is cut, even when
// the reason to stop was told.
func (a *answer) read(events *upstream.Events) (*provider.Result, error) {
	for {
		e, err := events.Next()
		if err != nil {
			return nil, upstream.Broken(err)
		}
		data := bytes.TrimSpace(e.Data)
		switch {
		case e.Name == "error":
			return nil, upstream.FrameError(data)
		case len(data) == 0:
			continue
		}
		ended, err := a.event(e.Name, data)
		switch {
		case err != nil:
			return nil, err
		case ended:
			return a.result()
		}
	}
}

func (a *answer) event(name string, data []byte) (ended bool, err error) {
	var e event
	if err := json.Unmarshal(data, &e, upstream.Lenient); err != nil {
		return false, upstream.Malformed(err)
	}
	if e.Type == "" {
		e.Type = name
	}
	switch {
	case e.Type == "error", len(e.Error) > 0 && e.Error.Kind() != jsontext.KindNull:
		return false, upstream.FrameError(data)
	case e.Type == "message_stop":
		return true, nil
	case e.Type == "message_start":
		a.usage.merge(usageOf(e.Message))
	case e.Type == "content_block_start":
		return false, a.start(e.Index, &e.Block)
	case e.Type == "content_block_delta":
		return false, a.delta(e.Index, &e.Delta)
	case e.Type == "message_delta":
		a.usage.merge(e.Usage)
		if a.stop == "" {
			a.stop = e.Delta.StopReason
		}
	}
	return false, nil // a ping, the end of a block, and what will be invented
}

// start begins a block, which may bring a first part of what it holds.
func (a *answer) start(index int, b *contentBlock) error {
	switch b.Type {
	case "text":
		return a.Text(b.Text)
	case "thinking":
		return a.Thinking(b.Thinking)
	case "redacted_thinking":
		return nil
	case "tool_use":
		input := ""
		if b.Input.Kind() == jsontext.KindBeginObject && len(b.Input) > len("{}") {
			input = string(b.Input) // of servers that don't send it in parts
		}
		return a.Call(a.call(index), b.ID, b.Name, input)
	}
	a.Foreign = true
	return nil
}

func (a *answer) delta(index int, d *delta) error {
	switch d.Type {
	case "text_delta":
		return a.Text(d.Text)
	case "thinking_delta":
		return a.Thinking(d.Thinking)
	case "input_json_delta":
		if _, begun := a.calls[index]; begun {
			return a.Call(a.call(index), "", "", d.PartialJSON)
		}
	}
	return nil // the signature of reasoning, citations
}

// call is the number of the tool call whose block has an index. Call refuses
// one too many, before there are more.
func (a *answer) call(index int) int {
	n, known := a.calls[index]
	if !known {
		if a.calls == nil {
			a.calls = map[int]int{}
		}
		n = len(a.calls)
		a.calls[index] = n
	}
	return n
}

func (a *answer) result() (*provider.Result, error) {
	stop, known := stopReason(a.stop)
	return a.Ended(stop, a.stop, known, a.usage.total())
}

// stopReason sorts a reason to stop; length and content_filter are what servers
// say that pass on the answers of another API. One that nobody knows ends a turn
// like any other, if there is an answer.
func stopReason(reason string) (stop schema.StopReason, known bool) {
	switch reason {
	case "max_tokens", "model_context_window_exceeded", "length":
		return schema.StopMaxTokens, true
	case "refusal", "content_filter":
		return schema.StopRefusal, true
	case "end_turn", "stop_sequence", "tool_use":
		return schema.StopEndTurn, true
	}
	return schema.StopEndTurn, false // pause_turn too: no tool of the vendor's was asked for
}
