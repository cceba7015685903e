package openairesponses

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/provider/internal/upstream"
	"github.com/prism-rpc/prism-rpc/schema"
)

// An event is one object of the stream. Members that are not always looked at
// are kept raw, so that one of them can't spoil an answer.
type event struct {
	Type         string         `json:"type"`
	OutputIndex  int            `json:"output_index"`
	SummaryIndex int            `json:"summary_index"`
	Delta        jsontext.Value `json:"delta"`
	Item         jsontext.Value `json:"item"`     // of response.output_item.…
	Response     jsontext.Value `json:"response"` // of the terminal events
	Error        jsontext.Value `json:"error"`
}

// An item is one of the parts that an answer is made of.
type item struct {
	Type      string         `json:"type"`
	CallID    string         `json:"call_id"`
	Name      string         `json:"name"`
	Arguments string         `json:"arguments"`
	Content   jsontext.Value `json:"content"`
}

// An answer is one response as it comes in.
type answer struct {
	upstream.Answer
	calls map[int]*call // by the index of their item
	usage schema.Usage
}

// A call is a tool call of which the arguments may have begun to come.
type call struct {
	number int
	begun  bool
}

// read reads events to the one that ends the response.
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
		result, err := a.event(e.Name, data)
		if result != nil || err != nil {
			return result, err
		}
	}
}

// event takes one event; the result is there with the terminal one.
func (a *answer) event(name string, data []byte) (*provider.Result, error) {
	var e event
	if err := json.Unmarshal(data, &e, upstream.Lenient); err != nil {
		return nil, upstream.Malformed(err)
	}
	if e.Type == "" {
		e.Type = name
	}
	if e.Type == "error" || len(e.Error) > 0 && e.Error.Kind() != jsontext.KindNull {
		return nil, upstream.FrameError(data)
	}
	switch e.Type {
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled":
		return a.ended(strings.TrimPrefix(e.Type, "response."), e.Response)
	}
	return nil, a.piece(&e)
}

// piece takes an event that brings a part of the answer; all others, which
// tell of beginnings and ends, bring nothing.
func (a *answer) piece(e *event) error {
	switch e.Type {
	case "response.output_text.delta":
		return a.Text(e.Delta)
	case "response.refusal.delta":
		return a.Refusal(e.Delta)
	case "response.reasoning_text.delta", "response.reasoning_summary_text.delta":
		return a.Thinking(e.Delta)
	case "response.reasoning_summary_part.added":
		if e.SummaryIndex > 0 {
			return a.Thinking(jsontext.Value(`"\n\n"`))
		}
	case "response.output_item.added":
		return a.added(e.OutputIndex, e.Item)
	case "response.output_item.done":
		return a.done(e.OutputIndex, e.Item)
	case "response.function_call_arguments.delta":
		return a.arguments(e.OutputIndex, e.Delta)
	}
	return nil
}

func itemOf(raw jsontext.Value) (it item, err error) {
	if raw.Kind() != jsontext.KindBeginObject {
		return it, nil
	}
	if err = json.Unmarshal(raw, &it, upstream.Lenient); err != nil {
		return it, upstream.Malformed(err)
	}
	return it, nil
}

func (a *answer) added(index int, raw jsontext.Value) error {
	it, err := itemOf(raw)
	switch {
	case err != nil:
		return err
	case it.Type == "function_call":
		return a.Call(a.call(index).number, it.CallID, it.Name, "")
	}
	a.Foreign = a.Foreign || it.Type != "" && it.Type != "message" && it.Type != "reasoning"
	return nil
}

// done is the whole of an item, of which most has come before; but not every
// server sends a call's arguments in parts.
func (a *answer) done(index int, raw jsontext.Value) error {
	it, err := itemOf(raw)
	if err != nil || it.Type != "function_call" {
		return err
	}
	if _, known := a.calls[index]; !known {
		if err := a.added(index, raw); err != nil {
			return err
		}
	}
	c := a.call(index)
	if c.begun {
		return nil
	}
	return a.Call(c.number, "", "", it.Arguments)
}

func (a *answer) arguments(index int, delta jsontext.Value) error {
	var text string
	if delta.Kind() != jsontext.KindString || json.Unmarshal(delta, &text, upstream.Lenient) != nil {
		return nil
	}
	c := a.call(index)
	c.begun = true
	return a.Call(c.number, "", "", text)
}

// call is the tool call whose item has an index. Call refuses one too many,
// before there are more.
func (a *answer) call(index int) *call {
	c, known := a.calls[index]
	if !known {
		if a.calls == nil {
			a.calls = map[int]*call{}
		}
		c = &call{number: len(a.calls)}
		a.calls[index] = c
	}
	return c
}
