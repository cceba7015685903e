package schema

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// PromptParams are the params of prompt and followUp (protocol §4).
type PromptParams struct {
	SessionID            *string         `json:"sessionId,omitempty" validate:"omitempty,sessionid"`
	Input                Input           `json:"input" validate:"-"`
	InstructionInjectors []string        `json:"instructionInjectors,omitzero"` // absent: the session's list; empty: none
	Instructions         RunInstructions `json:"instructions,omitzero"`
	ContextBlocks        []ContextBlock  `json:"contextBlocks,omitempty" validate:"omitempty,max=64"`
	Model                string          `json:"model,omitempty" validate:"omitempty,max=256"`
	Metadata             jsontext.Value  `json:"metadata,omitempty"` // an object
	Options              RunOptions      `json:"options,omitzero"`
	Redact               []SecretValue   `json:"redact,omitempty" validate:"omitempty,max=256,dive"`
	ExpectedTurn         *int            `json:"expectedTurn,omitempty" validate:"omitempty,min=1"`
	RequestKey           string          `json:"requestKey,omitempty" validate:"omitempty,max=256"` // a repeated request with it gets the first one's outcome
	Meta
}

func (p *PromptParams) check() *ParamsError {
	if err := p.Input.check(); err != nil {
		return err
	}
	if err := CheckNames("instructionInjectors", p.InstructionInjectors); err != nil {
		return err
	}
	if err := CheckBlocks("contextBlocks", p.ContextBlocks); err != nil {
		return err
	}
	if len(p.RequestKey) > MaxRequestKeyBytes {
		return PastLimit("requestKey", MaxRequestKeyBytes, "bytes")
	}
	return checkMetadata(p.Metadata)
}

// CheckNames refuses a list of injector names that repeats one or is too long.
// A name that nothing can have is not refused here: it resolves to nothing.
func CheckNames(field string, names []string) *ParamsError {
	if len(names) > MaxSelected {
		return PastLimit(field, MaxSelected, "names")
	}
	seen := make(map[string]bool, len(names))
	for i, name := range names {
		if name == "" {
			return BadField(field+index(i), "required", "is missing or empty")
		}
		if seen[name] {
			return BadField(field+index(i), "unique", "repeats the name "+name)
		}
		seen[name] = true
	}
	return nil
}

func checkMetadata(m jsontext.Value) *ParamsError {
	switch {
	case len(m) == 0 || m.Kind() == jsontext.KindNull:
		return nil
	case m.Kind() != jsontext.KindBeginObject:
		return BadField("metadata", "type", "must be an object")
	case len(m) > MaxMetadataBytes:
		return PastLimit("metadata", MaxMetadataBytes, "bytes")
	}
	return nil
}

// RunInstructions is the run layer of the system prompt for one turn: absent,
// a text with its mode, or Off (`false`: no user, other, app or run layer).
type RunInstructions struct {
	Text string
	Mode LayerMode
	Off  bool
}

// UnmarshalJSONFrom reads a string, {text, mode} or false.
func (r *RunInstructions) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	switch dec.PeekKind() {
	case jsontext.KindString:
		r.Mode = LayerAppend
		return json.UnmarshalDecode(dec, &r.Text)
	case jsontext.KindFalse:
		r.Off = true
		return dec.SkipValue()
	case jsontext.KindNull:
		return dec.SkipValue()
	case jsontext.KindBeginObject:
		var o struct {
			Text string    `json:"text"`
			Mode LayerMode `json:"mode"`
		}
		if err := json.UnmarshalDecode(dec, &o); err != nil {
			return err
		}
		if o.Mode == "" {
			o.Mode = LayerAppend
		}
		if !o.Mode.Valid() {
			return BadField("mode", "oneof", "must be one of: append, prepend, replace, disable")
		}
		r.Text, r.Mode = o.Text, o.Mode
		return nil
	}
	if err := dec.SkipValue(); err != nil {
		return err
	}
	return BadField("", "type", "must be a string, an object {text, mode} or false")
}

// MarshalJSONTo writes the form that UnmarshalJSONFrom reads back the same.
func (r RunInstructions) MarshalJSONTo(enc *jsontext.Encoder) error {
	if r.Off {
		return enc.WriteToken(jsontext.False)
	}
	return json.MarshalEncode(enc, struct {
		Text string    `json:"text"`
		Mode LayerMode `json:"mode,omitempty"`
	}{r.Text, r.Mode})
}

// LayerMode says how a layer joins those before it (P13).
type LayerMode string

// The modes of a layer.
const (
	LayerAppend  LayerMode = "append"  // at the end
	LayerPrepend LayerMode = "prepend" // before all so far
	LayerReplace LayerMode = "replace" // drops all so far
	LayerDisable LayerMode = "disable" // empties all so far and adds nothing
)

// Valid tells whether m is one of the four modes.
func (m LayerMode) Valid() bool {
	switch m {
	case LayerAppend, LayerPrepend, LayerReplace, LayerDisable:
		return true
	}
	return false
}

// ContextBlock is a titled piece of context (P7, P14). Of those that don't fit,
// the ones of the least priority are left out first. Metadata is an object, for
// a Go host's middleware; it is never sent.
type ContextBlock struct {
	ID       string         `json:"id,omitempty"`
	Title    string         `json:"title,omitempty"`
	Content  Input          `json:"content"`
	Priority int            `json:"priority,omitzero"`
	Metadata jsontext.Value `json:"metadata,omitempty"`
}

// CheckBlocks refuses context blocks that no request could carry.
func CheckBlocks(field string, blocks []ContextBlock) *ParamsError {
	total := 0
	for i, b := range blocks {
		for j, part := range b.Content {
			if err := part.check(field + index(i) + ".content" + index(j)); err != nil {
				return err
			}
			total += len(part.Plain()) + len(part.Data)
		}
		if b.Content == nil {
			return BadField(field+index(i)+".content", "required", "is missing")
		}
		if err := checkMetadata(b.Metadata); err != nil {
			return under(field+index(i), err)
		}
	}
	if total > MaxBlockBytes {
		return PastLimit(field, MaxBlockBytes, "bytes")
	}
	return nil
}

// RunOptions are the settings of one turn's model call; one that is absent is
// left to the provider.
type RunOptions struct {
	Temperature     *float64 `json:"temperature,omitempty" validate:"omitempty,min=0,max=2"`
	MaxOutputTokens *int     `json:"maxOutputTokens,omitempty" validate:"omitempty,min=1"`
	Stop            []string `json:"stop,omitempty" validate:"omitempty,max=16,dive,required"`
	Layout          Layout   `json:"layout,omitempty" validate:"omitempty,oneof=cache_aware legacy"`
}

// Layout is the order in which a request's parts stand (P15).
type Layout string

// The layouts.
const (
	LayoutCacheAware Layout = "cache_aware"
	LayoutLegacy     Layout = "legacy"
)

// SecretValue is a value to redact, told over the wire. It never travels back.
type SecretValue struct {
	Name  string `json:"name,omitempty" validate:"omitempty,max=64"`
	Value string `json:"value" validate:"required"`
}

// StopReason says why a turn ended well.
type StopReason string

// The stop reasons.
const (
	StopEndTurn         StopReason = "end_turn"
	StopMaxTokens       StopReason = "max_tokens"
	StopRefusal         StopReason = "refusal"
	StopMaxTurnRequests StopReason = "max_turn_requests"
	StopCancelled       StopReason = "cancelled"
)

// TurnResult answers prompt and followUp, after the turn is durable.
type TurnResult struct {
	SessionID  string      `json:"sessionId"`
	RunID      string      `json:"runId"`
	Turn       int         `json:"turn,omitzero"` // absent: cancelled while queued, so it had none
	Committed  bool        `json:"committed"`
	StopReason StopReason  `json:"stopReason"`
	Message    Message     `json:"message,omitzero"` // absent: it is too large for a message; read its text in pieces
	Usage      Usage       `json:"usage"`
	Injected   []Injected  `json:"injected"`
	Redacted   []Redaction `json:"redacted,omitempty"`
	Replayed   bool        `json:"replayed,omitzero"` // the outcome of an earlier request with the same requestKey

	MessageBytes int      `json:"messageBytes,omitzero"` // the text's size, where there is no message
	Cut          []string `json:"cut,omitempty"`         // members that are shortened, the whole being too large for a message
}

// Message is one side's words.
type Message struct {
	Role    Role           `json:"role"`
	Content []ContentBlock `json:"content"`
}

// Role says whose words a message holds.
type Role string

// The roles.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// AssistantText is an assistant's message of one text; no text, no block.
func AssistantText(text string) Message {
	m := Message{Role: RoleAssistant, Content: []ContentBlock{}}
	if text != "" {
		m.Content = append(m.Content, TextBlock(text))
	}
	return m
}

// Usage counts tokens; one that is absent is unknown.
type Usage struct {
	InputTokens      *int64 `json:"inputTokens,omitempty"`
	OutputTokens     *int64 `json:"outputTokens,omitempty"`
	CacheReadTokens  *int64 `json:"cacheReadTokens,omitempty"`
	CacheWriteTokens *int64 `json:"cacheWriteTokens,omitempty"`
	ReasoningTokens  *int64 `json:"reasoningTokens,omitempty"`
	TotalTokens      *int64 `json:"totalTokens,omitempty"`
}

// WithTotal fills in the total where only its parts are known.
func (u Usage) WithTotal() Usage {
	if u.TotalTokens == nil && u.InputTokens != nil && u.OutputTokens != nil {
		u.TotalTokens = addCount(u.InputTokens, u.OutputTokens)
	}
	return u
}

// Add sums two usages field by field; unknown and known make known.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		InputTokens:      addCount(u.InputTokens, v.InputTokens),
		OutputTokens:     addCount(u.OutputTokens, v.OutputTokens),
		CacheReadTokens:  addCount(u.CacheReadTokens, v.CacheReadTokens),
		CacheWriteTokens: addCount(u.CacheWriteTokens, v.CacheWriteTokens),
		ReasoningTokens:  addCount(u.ReasoningTokens, v.ReasoningTokens),
		TotalTokens:      addCount(u.TotalTokens, v.TotalTokens),
	}
}

func addCount(a, b *int64) *int64 {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	sum := *a + *b
	return &sum
}

// Injected says what one injection put into a request, never its text.
// SHA256 is of the redacted text, in hex.
type Injected struct {
	Name      string    `json:"name"`
	Origin    Origin    `json:"origin"`
	Placement Placement `json:"placement"`
	When      When      `json:"when"`
	Bytes     int       `json:"bytes"`
	SHA256    string    `json:"sha256"`
	Kind      string    `json:"kind,omitempty"`    // of a notice: who gave it
	Form      string    `json:"form,omitempty"`    // of a notice: notice
	Summary   string    `json:"summary,omitempty"` // of a notice: what can be shown in its place
	Ignored   []string  `json:"ignored,omitempty"`
}

// Redaction says how often a secret was removed where: input, instructions,
// context, injected, metadata or output. Name is empty for an unnamed value.
type Redaction struct {
	Where string `json:"where"`
	Name  string `json:"name,omitempty"`
	Count int    `json:"count"`
}
