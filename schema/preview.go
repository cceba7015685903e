package schema

// PreviewParams are the params of preview: those of prompt, and what only a
// preview has.
type PreviewParams struct {
	PromptParams
	Turn    *int `json:"turn,omitempty" validate:"omitempty,min=1"` // as if it were that turn; absent: the session's next
	History bool `json:"history,omitzero"`                          // with the dialogue's messages
}

// PreviewResult answers preview: the request that prompt would send, and why
// it is as it is. Nothing was sent and no number was used.
type PreviewResult struct {
	SessionID string         `json:"sessionId"`
	Turn      int            `json:"turn"`
	Request   PreviewRequest `json:"request"`
	Layers    []PreviewLayer `json:"layers"` // all that was considered: layers of the system text, injectors, ambient blocks, the host's blocks, reminders
	Bytes     int            `json:"bytes"`  // of the request's messages, encoded
	Tokens    int64          `json:"tokens"` // estimated
	SHA256    string         `json:"sha256"` // of the request's messages, encoded
	Shared    PreviewShared  `json:"shared"`
	Compacts  bool           `json:"compacts,omitzero"` // it is so large that prompt would have older turns summarised first
	Redacted  []Redaction    `json:"redacted,omitempty"`
}

// PreviewRequest is a request for a model's provider, its parts in the order
// in which the model reads them.
type PreviewRequest struct {
	Model    string           `json:"model"`
	Options  RunOptions       `json:"options,omitzero"`
	Segments []PreviewSegment `json:"segments"`
}

// PreviewSegment is one part: messages, or a dialogue, which its size and hash
// stand for unless its messages were asked for.
type PreviewSegment struct {
	Kind     string           `json:"kind"` // system, stable, history, blocks, input, notices, tools
	Messages []PreviewMessage `json:"messages,omitzero"`
	History  *PreviewHistory  `json:"history,omitempty"`
}

// PreviewMessage is one message; source tells that nobody typed it.
type PreviewMessage struct {
	Role    Role           `json:"role"`
	Content []ContentBlock `json:"content"`
	Source  *Source        `json:"source,omitempty"`
}

// Source says where a message that nobody typed comes from (R1).
type Source struct {
	Kind    string `json:"kind"`
	Form    string `json:"form"`
	Summary string `json:"summary"`
}

// PreviewHistory stands for a dialogue's messages.
type PreviewHistory struct {
	Messages int    `json:"messages"`
	Bytes    int    `json:"bytes"`
	SHA256   string `json:"sha256"`
}

// PreviewLayer is one thing that was considered for the request, and what
// became of it.
type PreviewLayer struct {
	Name      string    `json:"name"`   // an injector's, a block's or a reminder's; of a layer of the system text its source
	Source    string    `json:"source"` // base, user, package, other, app, run, ambient: of the system text; host, skill, injected: of context; reminder
	Origin    Origin    `json:"origin,omitempty"`
	Placement Placement `json:"placement"`
	When      When      `json:"when,omitempty"`
	Reason    Reason    `json:"reason"`
	Bytes     int       `json:"bytes,omitzero"`
	Tokens    int64     `json:"tokens,omitzero"` // estimated
	SHA256    string    `json:"sha256,omitempty"`
	CacheRisk string    `json:"cacheRisk,omitempty"` // why it may cost the provider's cache of all behind it
	Kind      string    `json:"kind,omitempty"`      // of a notice
	Form      string    `json:"form,omitempty"`      // of a notice
	Summary   string    `json:"summary,omitempty"`   // of a notice
	Ignored   []string  `json:"ignored,omitempty"`
}

// PreviewShared says how much of the request the last one sent began with.
type PreviewShared struct {
	Known    bool          `json:"known"` // this process has sent a request of the session, and still knows it
	Bytes    int           `json:"bytes"`
	BrokenBy *PreviewBreak `json:"brokenBy,omitempty"` // absent: nothing but what is new at the end
}

// PreviewBreak is where a request is no longer what the last one was.
type PreviewBreak struct {
	Segment string `json:"segment"`        // its kind
	Name    string `json:"name,omitempty"` // the layer that stands there, or stood there
	Gone    bool   `json:"gone,omitzero"`  // it stood in the last one and does not in this one
	Offset  int    `json:"offset"`         // in the segment's message, in bytes
}
