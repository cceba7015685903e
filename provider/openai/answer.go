package openai

import (
	"bytes"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/provider/internal/upstream"
	"github.com/prism-rpc/prism-rpc/schema"
)

// A chunk is one event's object. Members that servers fill in odd ways are
// kept raw, so that one of them can't spoil an answer.
type chunk struct {
	Choices []choice       `json:"choices"`
	Usage   jsontext.Value `json:"usage"`
	Error   jsontext.Value `json:"error"`

	// Of errors that some servers report without an error member.
	Object  jsontext.Value `json:"object"`
	Type    jsontext.Value `json:"type"`
	Message jsontext.Value `json:"message"`
	Detail  jsontext.Value `json:"detail"`
}

// isError tells whether c reports an error.
func (c *chunk) isError() bool {
	return present(c.Error) || string(c.Error) == "{}" || string(c.Object) == `"error"` || string(c.Type) == `"error"` ||
		len(c.Choices) == 0 && (present(c.Message) || present(c.Detail))
}

type choice struct {
	Index        int            `json:"index"`
	Delta        delta          `json:"delta"`
	FinishReason string         `json:"finish_reason"`
	Message      jsontext.Value `json:"message"` // of an answer that is not streamed
	Text         jsontext.Value `json:"text"`    // of the older API
}

type delta struct {
	Content          jsontext.Value `json:"content"`
	Refusal          jsontext.Value `json:"refusal"`
	ReasoningContent jsontext.Value `json:"reasoning_content"` // DeepSeek, vLLM, llama.cpp
	Reasoning        jsontext.Value `json:"reasoning"`         // OpenRouter, Ollama
	ToolCalls        []toolDelta    `json:"tool_calls"`
	FunctionCall     jsontext.Value `json:"function_call"` // of the older API
	Audio            jsontext.Value `json:"audio"`
	Images           jsontext.Value `json:"images"` // OpenRouter
}

type toolDelta struct {
	Index    int    `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// lenient reads what servers write: keys twice, bytes that are no UTF-8.
var lenient = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// An answer is one response as it comes in.
type answer struct {
	emit func(provider.Event) error

	started  bool // something was emitted
	spoke    bool // text was emitted
	foreign  bool // content came that is of no known kind
	size     int  // bytes of text, reasoning and tool calls
	text     upstream.Text
	thinking upstream.Text
	tools    []provider.ToolCall
	refused  bool
	finish   string // the finish reason; empty: not seen
	usage    schema.Usage
	room     []choice // of the last chunk, for the next one
}

// read reads events to the end of the answer. A finish reason completes it,
// and so does [DONE] after some text: not every server sends both. What comes
// after the finish reason can add the usage, but not take the answer back.
func (a *answer) read(events *upstream.Events) (*provider.Result, error) {
	for {
		e, err := events.Next()
		if err != nil {
			if a.finish == "" {
				return nil, upstream.Broken(err)
			}
			return a.result()
		}
		switch data := bytes.TrimSpace(e.Data); {
		case string(data) == "[DONE]":
			return a.done()
		case e.Name == "error" && a.finish == "":
			return nil, upstream.FrameError(data)
		case len(data) > 0:
			if err := a.chunk(data); err != nil {
				return nil, err
			}
			if a.finish != "" {
				events.Complete()
			}
		}
	}
}

func (a *answer) done() (*provider.Result, error) {
	if a.finish == "" && !a.spoke && len(a.tools) == 0 {
		return nil, upstream.Broken(io.EOF)
	}
	return a.result()
}

func (a *answer) chunk(data []byte) error {
	c := chunk{Choices: a.room[:0]}
	err := json.Unmarshal(data, &c, lenient)
	a.room = c.Choices
	if err != nil {
		if a.finish != "" {
			return nil
		}
		return &provider.Error{Class: provider.ClassInterrupted, Message: "the server sent a malformed part", Err: err}
	}
	if c.isError() {
		if a.finish != "" {
			return nil
		}
		return upstream.FrameError(data)
	}
	a.usage = mergeUsage(a.usage, c.Usage)
	for i := range c.Choices {
		if c.Choices[i].Index != 0 {
			continue // only one was asked for
		}
		if err := a.choice(&c.Choices[i]); err != nil {
			return err
		}
	}
	return nil
}

func (a *answer) choice(c *choice) error {
	thinking := c.Delta.ReasoningContent
	if !isText(thinking) {
		thinking = c.Delta.Reasoning
	}
	if err := a.say(provider.EventThinking, &a.thinking, thinking); err != nil {
		return err
	}
	if err := a.content(c.Delta.Content); err != nil {
		return err
	}
	if err := a.refusal(c.Delta.Refusal); err != nil {
		return err
	}
	a.foreign = a.foreign || c.holdsForeign()
	if err := a.call(c.Delta.ToolCalls); err != nil {
		return err
	}
	if a.finish != "" || c.FinishReason == "" || c.FinishReason == "null" {
		return nil
	}
	a.finish = c.FinishReason
	return finishError(c.FinishReason)
}

// isText tells whether v is a string that says something.
func isText(v jsontext.Value) bool { return v.Kind() == jsontext.KindString && len(v) > len(`""`) }

// say emits what a string's bytes add to a text.
func (a *answer) say(kind provider.EventKind, to *upstream.Text, raw jsontext.Value) error {
	if !isText(raw) {
		return nil
	}
	text := to.Add(raw)
	if err := a.grow(len(text)); err != nil {
		return err
	}
	return a.tell(kind, text)
}

func (a *answer) tell(kind provider.EventKind, text string) error {
	if text == "" {
		return nil
	}
	a.started = true
	a.spoke = a.spoke || kind == provider.EventText
	return a.emit(provider.Event{Kind: kind, Text: text})
}

// flush emits what the texts hold back of a cut character.
func (a *answer) flush() error {
	if err := a.tell(provider.EventThinking, a.thinking.Flush()); err != nil {
		return err
	}
	return a.tell(provider.EventText, a.text.Flush())
}

func (a *answer) grow(n int) error {
	a.size += n
	if a.size > upstream.MaxAnswer {
		return &provider.Error{Class: provider.ClassTooLarge, Message: "the answer is larger than 16 MiB"}
	}
	return nil
}
