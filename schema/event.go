package schema

import "github.com/go-json-experiment/json/jsontext"

// An Event reports one moment of a turn (protocol §5).
type Event interface{ Header() *EventHeader }

// EventHeader is what all events begin with. Seq is given by the connection
// that writes the event; Turn is 0 where the turn has no number yet.
type EventHeader struct {
	SessionID string    `json:"sessionId"`
	RunID     string    `json:"runId"`
	Turn      int       `json:"turn,omitzero"`
	Seq       uint64    `json:"seq"`
	Type      EventType `json:"type"`
}

// Header gives access to the event's header.
func (h *EventHeader) Header() *EventHeader { return h }

// EventType names a kind of event.
type EventType string

// The types of event.
const (
	EventPromptQueued      EventType = "prompt_queued"
	EventTurnStarted       EventType = "turn_started"
	EventInjected          EventType = "injected"
	EventInjectorSkipped   EventType = "injector_skipped"
	EventMessageDelta      EventType = "message_delta"
	EventThinkingDelta     EventType = "thinking_delta"
	EventRetry             EventType = "retry"
	EventWaiting           EventType = "waiting"
	EventUsage             EventType = "usage"
	EventCompactionStarted EventType = "compaction_started"
	EventCompacted         EventType = "compacted"
	EventCompactionFailed  EventType = "compaction_failed"
	EventTurnEnded         EventType = "turn_ended"
)

// PromptQueued says that a followUp waits for its turn.
type PromptQueued struct {
	EventHeader
	RequestID jsontext.Value `json:"requestId,omitzero"` // as sent
	Position  int            `json:"position"`           // 1 is next
	Reason    string         `json:"reason"`             // session
}

// TurnStarted says that a turn has its number and begins.
type TurnStarted struct {
	EventHeader
	RequestID jsontext.Value `json:"requestId,omitzero"` // as sent
}

// InjectedEvent says what one injection put into the request.
type InjectedEvent struct {
	EventHeader
	Injected
}

// InjectorSkipped says that a due injector gave nothing, or that a block found
// no room: an ambient one by its name, one of the host by its title.
type InjectorSkipped struct {
	EventHeader
	Name   string `json:"name"`
	Reason string `json:"reason"` // error, timeout, over_budget
}

// MessageDelta is the next piece of the answer.
type MessageDelta struct {
	EventHeader
	Text string `json:"text"`
}

// ThinkingDelta is the next piece of the model's reasoning.
type ThinkingDelta struct {
	EventHeader
	Text string `json:"text"`
}

// RetryEvent says that the provider failed before it answered anything, and is
// asked again.
type RetryEvent struct {
	EventHeader
	Attempt int    `json:"attempt"` // the try that failed; the first is 1
	DelayMs int64  `json:"delayMs"` // until the next one
	Class   string `json:"class"`   // of the failure, as in provider_error's data
}

// WaitingEvent says that the provider has been silent for a while; it comes
// again while that goes on.
type WaitingEvent struct {
	EventHeader
	OnMs int64 `json:"onMs"` // since it said something last, or was asked
}

// UsageEvent reports the turn's token counts.
type UsageEvent struct {
	EventHeader
	Usage
	Context ContextUse `json:"context"`
}

// CompactionStarted says that the older turns are being summarised: within a
// turn, or, without a turn's number, because a client asked for it.
type CompactionStarted struct {
	EventHeader
	Reason CompactionReason `json:"reason"`
}

// CompactionReason says why turns are summarised.
type CompactionReason string

// The reasons.
const (
	CompactManual    CompactionReason = "manual"
	CompactThreshold CompactionReason = "threshold" // the request is large
	CompactOverflow  CompactionReason = "overflow"  // the provider found it too large
)

// Compacted says that a summary stands for older turns from now on.
type Compacted struct {
	EventHeader
	CompactResult
}

// CompactionFailed says that all is as it was before.
type CompactionFailed struct {
	EventHeader
	Kind string `json:"kind"` // a class of provider_error, cancelled, store_error or error
}

// TurnEnded is the last event of a turn: a stop reason, or an error.
type TurnEnded struct {
	EventHeader
	StopReason StopReason  `json:"stopReason,omitempty"`
	Error      *EventError `json:"error,omitempty"` // instead of a stop reason
	Cause      error       `json:"-"`               // what the connection that writes the event makes Error from
	Committed  bool        `json:"committed"`
	Redacted   []Redaction `json:"redacted,omitempty"`
	Cut        []string    `json:"cut,omitempty"` // members that are shortened, the whole being too large for a message
}

// EventError is the error that the turn's request is answered with.
type EventError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

// EventTypes lists the types of event that are sent.
func EventTypes() []EventType {
	return []EventType{
		EventPromptQueued, EventTurnStarted, EventInjected, EventInjectorSkipped, EventMessageDelta,
		EventThinkingDelta, EventRetry, EventWaiting, EventUsage, EventCompactionStarted, EventCompacted, EventCompactionFailed,
		EventTurnEnded,
	}
}
