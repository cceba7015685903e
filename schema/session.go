package schema

import "github.com/go-json-experiment/json/jsontext"

// SessionParams name one session; absent is the connection's default one.
type SessionParams struct {
	SessionID string `json:"sessionId,omitempty" validate:"omitempty,sessionid"`
	Meta
}

// NewSessionParams are the params of newSession.
type NewSessionParams struct {
	SessionID            string         `json:"sessionId,omitempty" validate:"omitempty,sessionid"` // absent: one is made
	Instructions         *string        `json:"instructions,omitempty"`                             // the base layer
	InstructionInjectors []string       `json:"instructionInjectors,omitzero"`                      // the base list; absent: the configured one
	Model                string         `json:"model,omitempty" validate:"omitempty,max=256"`
	Metadata             jsontext.Value `json:"metadata,omitempty"`
	CWD                  string         `json:"cwd,omitempty" validate:"max=4096"`
	Redact               []SecretValue  `json:"redact,omitempty" validate:"omitempty,max=256,dive"`
	Meta
}

func (p *NewSessionParams) check() *ParamsError {
	if p.Instructions != nil && len(*p.Instructions) > MaxInjectorBytes {
		return PastLimit("instructions", MaxInjectorBytes, "bytes")
	}
	if err := CheckNames("instructionInjectors", p.InstructionInjectors); err != nil {
		return err
	}
	return checkMetadata(p.Metadata)
}

// SetModelParams are the params of setModel; an empty model restores the
// configured one.
type SetModelParams struct {
	SessionID string  `json:"sessionId,omitempty" validate:"omitempty,sessionid"`
	Model     *string `json:"model" validate:"omitempty,max=256"`
	Meta
}

// SessionState answers state, newSession and setModel.
type SessionState struct {
	SessionID            string        `json:"sessionId"`
	Turn                 int           `json:"turn"` // the last committed; 0 at first
	Status               SessionStatus `json:"status"`
	Running              *RunningTurn  `json:"running,omitempty"`
	Queue                []QueuedTurn  `json:"queue"`
	Model                string        `json:"model"`
	Title                string        `json:"title,omitempty"`
	Instructions         string        `json:"instructions"`
	InstructionInjectors []string      `json:"instructionInjectors"`
	Generation           int           `json:"generation"`
	Usage                Usage         `json:"usage"` // summed over the session
	Interrupted          *Interrupted  `json:"interrupted,omitempty"`
}

// SessionStatus tells whether a session has work.
type SessionStatus string

// The statuses.
const (
	StatusIdle    SessionStatus = "idle"
	StatusRunning SessionStatus = "running"
)

// RunningTurn is the turn under way.
type RunningTurn struct {
	RunID     string         `json:"runId"`
	RequestID jsontext.Value `json:"requestId,omitempty"`
	Turn      int            `json:"turn"`
	StartedAt string         `json:"startedAt"`
	Text      string         `json:"text"` // the answer so far
	Seq       uint64         `json:"seq"`  // of the last event written to this connection
}

// QueuedTurn is a followUp that waits.
type QueuedTurn struct {
	RunID     string         `json:"runId"`
	RequestID jsontext.Value `json:"requestId,omitempty"`
	At        string         `json:"at"`
	Preview   string         `json:"preview"` // the input's beginning, redacted
}

// Interrupted is a turn that the end of an earlier process cut off.
type Interrupted struct {
	Turn    int    `json:"turn"`
	RunID   string `json:"runId"`
	Input   Input  `json:"input"`
	Partial string `json:"partial"`
	At      string `json:"at"`
	Reason  string `json:"reason"` // crash
}

// MessagesParams are the params of messages: a page of turns after AfterTurn.
type MessagesParams struct {
	SessionID string `json:"sessionId,omitempty" validate:"omitempty,sessionid"`
	AfterTurn int    `json:"afterTurn,omitzero" validate:"min=0"`
	Limit     int    `json:"limit,omitzero" validate:"min=0,max=1000"` // turns; 0 is 100
	Meta
}

// MessagesResult answers messages. NextAfterTurn is there when more follow.
type MessagesResult struct {
	Messages      []HistoryMessage `json:"messages"`
	NextAfterTurn *int             `json:"nextAfterTurn,omitempty"`
}

// HistoryMessage is one committed message.
type HistoryMessage struct {
	Turn      int            `json:"turn"`
	Role      Role           `json:"role"`
	Content   []ContentBlock `json:"content"`
	At        string         `json:"at"`
	Cancelled bool           `json:"cancelled,omitzero"`
}

// AbortParams are the params of abort.
type AbortParams struct {
	SessionID string `json:"sessionId,omitempty" validate:"omitempty,sessionid"`
	RunID     string `json:"runId,omitempty" validate:"max=64"` // only this run
	Queue     string `json:"queue,omitempty" validate:"omitempty,oneof=keep clear"`
	Meta
}

// AbortResult answers abort.
type AbortResult struct {
	Aborted bool `json:"aborted"`
}
