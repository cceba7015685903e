// Package provider says what a language model back end is: it takes a Request,
// streams Events and returns a Result. Each back end is a folder below.
package provider

import (
	"context"
	"strconv"
	"time"

	"github.com/prism-rpc/prism-rpc/schema"
)

// A Provider makes one call to a model.
//
// Stream calls emit for each piece, in order, from one goroutine at a time, and
// returns when the provider's terminal event was seen. An error from emit ends
// the call and is returned as it is. Every other error is an *Error, also where
// the answer broke off after some pieces: no Result then. Stream returns soon
// after ctx ends, with an *Error that wraps ctx's cause. The request is shared
// and must not be changed.
type Provider interface {
	Name() string
	Stream(ctx context.Context, req *Request, emit func(Event) error) (*Result, error)
}

// A Request is one model call: its parts in the order in which the model reads
// them. Everything in it is redacted already.
type Request struct {
	Model    string
	Segments []Segment
	Options  schema.RunOptions
	Tools    []Tool

	// Attachment gives the bytes of an image that a block names by hash; nil
	// where they can't be had. An adapter asks Image instead.
	Attachment func(sha256 string) []byte

	// What follows is about the call and is never sent.
	SessionID string
	RunID     string
	Turn      int
	Step      int
	Injected  []schema.Injected
}

// SegmentKind names a part of a request.
type SegmentKind int

// The kinds of segment.
const (
	SegmentSystem  SegmentKind = iota // the composed system text: one message of role system
	SegmentStable                     // context blocks that stay the same from turn to turn
	SegmentHistory                    // the committed dialogue, encoded
	SegmentBlocks                     // context blocks of this turn
	SegmentInput                      // what the user says now
	SegmentNotices                    // reminders
	SegmentTools                      // tool calls and results of this turn so far
)

// A Segment is one part of a request: History for SegmentHistory, Messages for
// all others.
type Segment struct {
	Kind     SegmentKind
	Messages []Message
	History  History
}

// A Message is one entry of a request. Source is for people; adapters strip it.
type Message struct {
	Role       schema.Role
	Content    []schema.ContentBlock
	Source     *Source
	ToolCalls  []ToolCall // of an assistant
	ToolCallID string     // of a tool's result
}

// Tool, ToolCall: what a model may call, and a call it made.
type (
	Tool struct {
		Name, Description string
		Schema            []byte // a JSON Schema
	}
	ToolCall struct {
		ID, Name string
		Input    []byte // a JSON object
	}
)

// Text is a message of one text.
func Text(role schema.Role, text string) Message {
	return Message{Role: role, Content: []schema.ContentBlock{schema.TextBlock(text)}}
}

// EventKind names a kind of piece.
type EventKind int

// The kinds of piece.
const (
	EventText     EventKind = iota // of the answer
	EventThinking                  // of the model's reasoning
	EventRetry                     // no piece: the call failed, and is about to be made again
)

// An Event is one piece of a streamed answer, or word of a retry. Text is valid
// UTF-8, never cut inside a character. Retries come before all pieces.
type Event struct {
	Kind  EventKind
	Text  string
	Retry Retry // of EventRetry
}

// A Retry says that a try failed and when the next one is made.
type Retry struct {
	Attempt int           // the number of the try that failed, from 1
	Delay   time.Duration // until the next one
	Class   Class         // of the failure
}

// A Result says how a call ended well.
type Result struct {
	StopReason schema.StopReason // end_turn, max_tokens or refusal
	Usage      schema.Usage
	ToolCalls  []ToolCall
}

// Class sorts a provider's failures (protocol §4).
type Class string

// The classes.
const (
	ClassRateLimit       Class = "rate_limit"
	ClassQuota           Class = "quota"
	ClassOverloaded      Class = "overloaded"
	ClassAuth            Class = "auth"
	ClassContextOverflow Class = "context_overflow"
	ClassBadRequest      Class = "bad_request"
	ClassNetwork         Class = "network"
	ClassTimeout         Class = "timeout"
	ClassInterrupted     Class = "interrupted"
	ClassContentFilter   Class = "content_filter"
	ClassTooLarge        Class = "too_large"
)

// Valid tells whether c is one of the classes.
func (c Class) Valid() bool {
	switch c {
	case ClassRateLimit, ClassQuota, ClassOverloaded, ClassAuth, ClassContextOverflow, ClassBadRequest,
		ClassNetwork, ClassTimeout, ClassInterrupted, ClassContentFilter, ClassTooLarge:
		return true
	}
	return false
}

// Retryable tells whether the same call may succeed later.
func (c Class) Retryable() bool {
	switch c {
	case ClassRateLimit, ClassOverloaded, ClassNetwork, ClassTimeout, ClassInterrupted:
		return true
	}
	return false
}

// An Error is a failed call.
//
// Message is raw text from outside, not fit to be shown: it is valid UTF-8, with
// at most MaxMessage bytes of any one thing that it quotes, and else as it came,
// so that a secret in it can still be found. It may hold any secret, the
// provider's key too: redact it before it is changed, cut or shown. Error leaves
// it out.
type Error struct {
	Class      Class
	Status     int           // of HTTP; 0 when there was none
	RetryAfter time.Duration // as the provider asked, at most a day; 0 when it did not
	Message    string
	Err        error // the cause, as raw as Message; may be nil
}

// MaxMessage bounds what an Error's message quotes, which is left out when it is
// longer.
const MaxMessage = 64 << 10

// Error is the class and the status.
func (e *Error) Error() string {
	if e.Status == 0 {
		return "provider error: " + string(e.Class)
	}
	return "provider error: " + string(e.Class) + " (HTTP status " + strconv.Itoa(e.Status) + ")"
}

func (e *Error) Unwrap() error { return e.Err }
