package upstream

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/schema"
)

// Lenient reads what servers write: keys twice, bytes that are no UTF-8.
var Lenient = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// Malformed is the error of an event that can't be read.
func Malformed(err error) error {
	return &provider.Error{Class: provider.ClassInterrupted, Message: "the server sent a malformed part", Err: err}
}

// MaxToolCalls bounds the calls of one answer, whose indexes the server names.
const MaxToolCalls = 256

// An Answer is what one response says, as it comes in: its pieces are passed on
// to Emit, and it keeps its bounds.
type Answer struct {
	Emit func(provider.Event) error

	Started bool // something was emitted
	Spoke   bool // text was emitted
	Foreign bool // content came that is of no known kind
	Refused bool // it is a refusal, whatever its reason to stop

	size     int // bytes of text, reasoning and tool calls
	text     Text
	thinking Text
	tools    []provider.ToolCall
}

// IsText tells whether v is a string that says something.
func IsText(v jsontext.Value) bool { return v.Kind() == jsontext.KindString && len(v) > len(`""`) }

// Text emits what a string's bytes add to the text. What is no string, or an
// empty one, adds nothing.
func (a *Answer) Text(raw jsontext.Value) error { return a.say(provider.EventText, &a.text, raw) }

// Thinking is Text for the reasoning.
func (a *Answer) Thinking(raw jsontext.Value) error {
	return a.say(provider.EventThinking, &a.thinking, raw)
}

// Refusal adds the words of a refusal, which make the answer one.
func (a *Answer) Refusal(raw jsontext.Value) error {
	a.Refused = a.Refused || IsText(raw)
	return a.Text(raw)
}

func (a *Answer) say(kind provider.EventKind, to *Text, raw jsontext.Value) error {
	if !IsText(raw) {
		return nil
	}
	text := to.Add(raw)
	if err := a.grow(len(text)); err != nil {
		return err
	}
	return a.tell(kind, text)
}

func (a *Answer) tell(kind provider.EventKind, text string) error {
	if text == "" {
		return nil
	}
	a.Started = true
	a.Spoke = a.Spoke || kind == provider.EventText
	return a.Emit(provider.Event{Kind: kind, Text: text})
}

func (a *Answer) grow(n int) error {
	a.size += n
	if a.size > MaxAnswer {
		return &provider.Error{Class: provider.ClassTooLarge, Message: "the answer is larger than 16 MiB"}
	}
	return nil
}

// Call adds to the tool call at index: a new id stands for the old one, name
// and input grow.
func (a *Answer) Call(index int, id, name, input string) error {
	if index < 0 || index >= MaxToolCalls {
		return &provider.Error{Class: provider.ClassTooLarge, Message: "the answer makes more than 256 tool calls"}
	}
	for len(a.tools) <= index {
		a.tools = append(a.tools, provider.ToolCall{})
	}
	if err := a.grow(len(id) + len(name) + len(input)); err != nil {
		return err
	}
	t := &a.tools[index]
	if id != "" {
		t.ID = id
	}
	t.Name += name
	t.Input = append(t.Input, input...)
	return nil
}

// Calls tells whether the answer holds the part of a tool call.
func (a *Answer) Calls() bool { return len(a.tools) > 0 }

// Ended is what an answer that stopped for a reason comes to. An answer
// without a text is what the model meant only where nothing says otherwise:
// where the reason is known, and no content was passed over.
func (a *Answer) Ended(stop schema.StopReason, reason string, known bool, usage schema.Usage) (*provider.Result, error) {
	if err := a.flush(); err != nil {
		return nil, err
	}
	if a.Refused {
		stop = schema.StopRefusal
	}
	r := &provider.Result{StopReason: stop, Usage: usage}
	for _, t := range a.tools {
		if len(t.Input) == 0 {
			t.Input = []byte("{}") // of one that takes nothing
		}
		if t.Name != "" {
			r.ToolCalls = append(r.ToolCalls, t)
		}
	}
	switch {
	case a.Spoke, len(r.ToolCalls) > 0, stop == schema.StopRefusal:
		return r, nil
	case a.Foreign:
		return nil, &provider.Error{Class: provider.ClassBadRequest, Message: "the answer holds content, but no text"}
	case !known:
		return nil, &provider.Error{Class: provider.ClassInterrupted, Message: strings.TrimSpace("the answer ended without text: " + Raw(reason))}
	}
	return r, nil
}

// flush emits what the texts hold back of a cut character.
func (a *Answer) flush() error {
	if err := a.tell(provider.EventThinking, a.thinking.Flush()); err != nil {
		return err
	}
	return a.tell(provider.EventText, a.text.Flush())
}

// Counts takes over the counts of a usage report that make sense; the others
// count as not said.
func Counts(report map[**int64]jsontext.Value) {
	for to, raw := range report {
		if n, ok := Count(raw); ok {
			*to = &n
		}
	}
}
