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

// An answer is one response as it comes in.
type answer struct {
	upstream.Answer
	finish string // the finish reason; empty: not seen
	usage  schema.Usage
	room   []choice // of the last chunk, for the next one
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
	if a.finish == "" && !a.Spoke && !a.Calls() {
		return nil, upstream.Broken(io.EOF)
	}
	return a.result()
}

func (a *answer) chunk(data []byte) error {
	c := chunk{Choices: a.room[:0]}
	err := json.Unmarshal(data, &c, upstream.Lenient)
	a.room = c.Choices
	if err != nil {
		if a.finish != "" {
			return nil
		}
		return upstream.Malformed(err)
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
	if !upstream.IsText(thinking) {
		thinking = c.Delta.Reasoning
	}
	if err := a.Thinking(thinking); err != nil {
		return err
	}
	if err := a.content(c.Delta.Content); err != nil {
		return err
	}
	if err := a.Refusal(c.Delta.Refusal); err != nil {
		return err
	}
	a.Foreign = a.Foreign || c.holdsForeign()
	if err := a.call(c.Delta.ToolCalls); err != nil {
		return err
	}
	if a.finish != "" || c.FinishReason == "" || c.FinishReason == "null" {
		return nil
	}
	a.finish = c.FinishReason
	return finishError(c.FinishReason)
}
