package schema

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// SessionParams name one session; absent is the connection's default one.
type SessionParams struct {
	SessionID *string `json:"sessionId,omitempty" validate:"omitempty,sessionid"`
	Meta
}

// NewSessionParams are the params of newSession.
type NewSessionParams struct {
	SessionID            *string        `json:"sessionId,omitempty" validate:"omitempty,sessionid"` // absent: one is made
	Instructions         *string        `json:"instructions,omitempty"`                             // the base layer
	InstructionInjectors []string       `json:"instructionInjectors,omitzero"`                      // the base list; absent: the configured one
	Model                string         `json:"model,omitempty" validate:"omitempty,max=256"`
	Metadata             jsontext.Value `json:"metadata,omitempty"`
	CWD                  string         `json:"cwd,omitempty" validate:"max=4096"`
	Redact               []SecretValue  `json:"redact,omitempty" validate:"omitempty,max=256,dive"`
	ContextInjections    *bool          `json:"contextInjections,omitempty"` // its turns carry ambient blocks; absent: as configured
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
	SessionID *string `json:"sessionId,omitempty" validate:"omitempty,sessionid"`
	Model     *string `json:"model" validate:"omitempty,max=256"`
	Meta
}

// UpdateSessionParams are the params of updateSession: the given fields change,
// null restores what the configuration says.
type UpdateSessionParams struct {
	SessionID            *string               `json:"sessionId,omitempty" validate:"omitempty,sessionid"`
	Title                Patch[string]         `json:"title,omitzero"`
	Instructions         Patch[string]         `json:"instructions,omitzero"`
	InstructionInjectors Patch[[]string]       `json:"instructionInjectors,omitzero"`
	Model                Patch[string]         `json:"model,omitzero"`
	Metadata             Patch[jsontext.Value] `json:"metadata,omitzero"`
	ContextInjections    Patch[bool]           `json:"contextInjections,omitzero"`
	Meta
}

func (p *UpdateSessionParams) check() *ParamsError {
	switch {
	case len(p.Title.Value) > MaxTitleBytes:
		return PastLimit("title", MaxTitleBytes, "bytes")
	case len(p.Instructions.Value) > MaxInjectorBytes:
		return PastLimit("instructions", MaxInjectorBytes, "bytes")
	case len(p.Model.Value) > MaxModelBytes:
		return PastLimit("model", MaxModelBytes, "bytes")
	}
	if err := CheckNames("instructionInjectors", p.InstructionInjectors.Value); err != nil {
		return err
	}
	return checkMetadata(p.Metadata.Value)
}

// A Patch is a field that is absent, null or has a value.
type Patch[T any] struct {
	Given bool
	Null  bool
	Value T
}

// UnmarshalJSONFrom reads null or a value.
func (p *Patch[T]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	p.Given, p.Null = true, dec.PeekKind() == jsontext.KindNull
	if p.Null {
		return dec.SkipValue()
	}
	return json.UnmarshalDecode(dec, &p.Value)
}

// MarshalJSONTo writes what UnmarshalJSONFrom reads.
func (p Patch[T]) MarshalJSONTo(enc *jsontext.Encoder) error {
	if !p.Given || p.Null {
		return enc.WriteToken(jsontext.Null)
	}
	return json.MarshalEncode(enc, p.Value)
}

// NamedSessionParams name a session that must be named.
type NamedSessionParams struct {
	SessionID string `json:"sessionId" validate:"required,sessionid"`
	Meta
}

// ForkSessionParams are the params of forkSession.
type ForkSessionParams struct {
	SessionID    string  `json:"sessionId" validate:"required,sessionid"`
	Turn         *int    `json:"turn,omitempty" validate:"omitempty,min=0"` // the last turn to copy; absent: all
	NewSessionID *string `json:"newSessionId,omitempty" validate:"omitempty,sessionid"`
	Meta
}

// CompactParams are the params of compact.
type CompactParams struct {
	SessionID    *string `json:"sessionId,omitempty" validate:"omitempty,sessionid"`
	Instructions string  `json:"instructions,omitempty"` // what the summary must heed
	Meta
}

func (p *CompactParams) check() *ParamsError {
	if len(p.Instructions) > MaxInjectorBytes {
		return PastLimit("instructions", MaxInjectorBytes, "bytes")
	}
	return nil
}

// CompactResult answers compact: how many turns a summary now stands for in
// what is sent, and the size of the dialogue that is sent, as an estimate.
type CompactResult struct {
	Generation    int   `json:"generation"`
	TurnsReplaced int   `json:"turnsReplaced"` // 0: there was nothing to summarise
	TokensBefore  int64 `json:"tokensBefore"`
	TokensAfter   int64 `json:"tokensAfter"`
}

// ListSessionsParams are the params of listSessions.
type ListSessionsParams struct {
	Cursor string `json:"cursor,omitempty" validate:"max=512"`      // nextCursor of the page before
	Limit  int    `json:"limit,omitzero" validate:"min=0,max=1000"` // 0 is 100
	CWD    string `json:"cwd,omitempty" validate:"max=4096"`        // only those
	Meta
}

// ListSessionsResult answers listSessions, the newest first.
type ListSessionsResult struct {
	Sessions   []SessionInfo `json:"sessions"`
	NextCursor string        `json:"nextCursor,omitempty"`
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
	ContextInjections    bool          `json:"contextInjections"` // its turns carry ambient blocks
	Generation           int           `json:"generation"`        // compactions, so far
	Usage                Usage         `json:"usage"`             // summed over the session
	Context              ContextUse    `json:"context"`
	Interrupted          *Interrupted  `json:"interrupted,omitempty"`
	Cut                  []string      `json:"cut,omitempty"` // members that are shortened, the whole being too large for a message
}

// SessionInfo is one session in a list of them.
type SessionInfo struct {
	SessionID string `json:"sessionId"`
	Turn      int    `json:"turn"` // the last committed; 0 at first
	UpdatedAt string `json:"updatedAt"`
	Title     string `json:"title,omitempty"`
	CWD       string `json:"cwd,omitempty"`
}

// SessionStatus tells whether a session has work.
type SessionStatus string

// The statuses.
const (
	StatusIdle       SessionStatus = "idle"
	StatusRunning    SessionStatus = "running"
	StatusCompacting SessionStatus = "compacting"
)

// ContextUse tells how much of a model's context the dialogue takes.
type ContextUse struct {
	Tokens    int64 `json:"tokens"`       // of the last turn's request and answer
	Max       int64 `json:"max,omitzero"` // what the model takes, where that is configured
	Estimated bool  `json:"estimated"`    // the provider has not counted them
}

// RunningTurn is the turn under way.
type RunningTurn struct {
	RunID     string         `json:"runId"`
	RequestID jsontext.Value `json:"requestId,omitempty"`
	Turn      int            `json:"turn,omitzero"` // absent: a compaction that was asked for
	StartedAt string         `json:"startedAt"`
	Text      string         `json:"text"`               // the answer so far
	TextBytes int            `json:"textBytes,omitzero"` // its size, where only its beginning fits
	Seq       uint64         `json:"seq"`                // of the last event written to this connection
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
	Turn       int    `json:"turn"`
	RunID      string `json:"runId"`
	RequestKey string `json:"requestKey,omitempty"` // the same one runs the turn again
	Input      Input  `json:"input"`
	Partial    string `json:"partial"`
	At         string `json:"at"`
	Reason     string `json:"reason"` // crash
}

// MessagesParams are the params of messages: for a page of turns, those after
// AfterTurn; for a piece of one turn's text, Turn and what follows it; for the
// bytes of an image, Attachment, and Offset for a piece that is not the first.
type MessagesParams struct {
	SessionID *string `json:"sessionId,omitempty" validate:"omitempty,sessionid"`
	AfterTurn int     `json:"afterTurn,omitzero" validate:"min=0"`
	Limit     int     `json:"limit,omitzero" validate:"min=0,max=1000"` // turns; 0 is 100
	Notices   bool    `json:"notices,omitzero"`                         // with a row for each notice, behind the input that it came with
	Text      bool    `json:"text,omitzero"`                            // with the notices' texts

	Turn   *int   `json:"turn,omitempty" validate:"omitempty,min=1"`
	Offset *int   `json:"offset,omitempty" validate:"omitempty,min=0"`              // bytes of the text or of the attachment; absent is 0
	Role   string `json:"role,omitempty" validate:"omitempty,oneof=user assistant"` // whose text; absent is assistant

	Attachment string `json:"attachment,omitempty"` // the sha256 of an image that the session holds
	Meta
}

func (p *MessagesParams) check() *ParamsError {
	if p.Attachment != "" {
		return p.checkAttachment()
	}
	switch {
	case p.Turn != nil && p.AfterTurn != 0:
		return BadField("afterTurn", "excluded", "belongs to a page; turn asks for one turn's text")
	case p.Turn != nil && p.Limit != 0:
		return BadField("limit", "excluded", "belongs to a page; turn asks for one turn's text")
	case p.Turn != nil && (p.Notices || p.Text):
		return BadField("notices", "excluded", "belongs to a page; turn asks for one turn's text")
	case p.Text && !p.Notices:
		return BadField("text", "excluded", "is that of notices: ask for notices too")
	case p.Turn == nil && p.Offset != nil:
		return BadField("turn", "required", "is missing; offset stands in a turn's text, or in an attachment")
	case p.Turn == nil && p.Role != "":
		return BadField("turn", "required", "is missing; role says whose text of a turn")
	}
	return nil
}

func (p *MessagesParams) checkAttachment() *ParamsError {
	switch {
	case !ValidSHA256(p.Attachment):
		return BadField("attachment", "sha256", "must be 64 hex digits in lower case, as content names them")
	case p.Turn != nil:
		return BadField("turn", "excluded", "asks for text; attachment asks for an image")
	case p.Role != "":
		return BadField("role", "excluded", "asks for text; attachment asks for an image")
	case p.AfterTurn != 0:
		return BadField("afterTurn", "excluded", "belongs to a page; attachment asks for an image")
	case p.Limit != 0:
		return BadField("limit", "excluded", "belongs to a page; attachment asks for an image")
	case p.Notices || p.Text:
		return BadField("notices", "excluded", "belongs to a page; attachment asks for an image")
	}
	return nil
}

// MessagesResult answers messages: with a page of Messages, with a piece of
// Text, or with an Attachment. NextAfterTurn and NextOffset are there when more
// follow.
type MessagesResult struct {
	Messages      []HistoryMessage `json:"messages,omitzero"`
	NextAfterTurn *int             `json:"nextAfterTurn,omitempty"`

	Text       *string `json:"text,omitempty"`
	NextOffset *int    `json:"nextOffset,omitempty"` // bytes of the text or of the attachment, to ask for the next piece

	Attachment *Attachment `json:"attachment,omitempty"`

	Cut []string `json:"cut,omitempty"` // messages: rows of notices are left out, one turn's being too large for a message
}

// An Attachment is an image that a session keeps, or a piece of one. The Data
// of all pieces, one behind the other, is the whole image's.
type Attachment struct {
	MimeType string `json:"mimeType"`
	SHA256   string `json:"sha256"` // of the whole
	Bytes    int    `json:"bytes"`  // of the whole
	Data     string `json:"data"`   // base64
}

// HistoryMessage is one committed message, or the row of a notice, which has a
// source, and no content unless its text was asked for.
type HistoryMessage struct {
	Turn         int            `json:"turn"`
	Role         Role           `json:"role"`
	Source       *Source        `json:"source,omitempty"`
	Content      []ContentBlock `json:"content,omitzero"`      // absent: it is too large for a message; read its text in pieces
	MessageBytes int            `json:"messageBytes,omitzero"` // the text's size, where there is no content
	At           string         `json:"at"`
	Cancelled    bool           `json:"cancelled,omitzero"`
}

// AbortParams are the params of abort.
type AbortParams struct {
	SessionID *string `json:"sessionId,omitempty" validate:"omitempty,sessionid"`
	RunID     *string `json:"runId,omitempty" validate:"omitempty,min=1,max=64"` // only this run
	Queue     string  `json:"queue,omitempty" validate:"omitempty,oneof=keep clear"`
	Meta
}

// AbortResult answers abort.
type AbortResult struct {
	Aborted bool `json:"aborted"`
}
