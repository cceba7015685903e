package schema

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds on ambient blocks (protocol §10).
const (
	MaxSplices       = 64       // of one session
	MaxAmbientBlocks = 64       // configured
	MaxAmbientBytes  = 64 << 10 // of one block, name and content together
)

// An AmbientBlock is a text under a heading, at the end of the system text (A5).
type AmbientBlock struct {
	Name    string `json:"name"`
	Content string `json:"content"`
}

// Check tells what is wrong with a block, as a *ParamsError; nil when nothing
// is.
func (b AmbientBlock) Check() error {
	if err := b.check(); err != nil {
		return err
	}
	return nil
}

func (b *AmbientBlock) check() *ParamsError {
	switch {
	case b.Name == "":
		return BadField("name", "required", "is missing or empty")
	case len(b.Name) > MaxTitleBytes:
		return PastLimit("name", MaxTitleBytes, "bytes")
	case !oneLine(b.Name):
		return BadField("name", "line", "must be one line of text without control characters: it becomes a heading")
	case len(b.Name)+len(b.Content) > MaxAmbientBytes:
		return PastLimit("content", MaxAmbientBytes, "bytes, the name included")
	case !utf8.ValidString(b.Content):
		return BadField("content", "utf8", "must be UTF-8")
	}
	return nil
}

// oneLine tells whether text ends no line, by whatever reads it.
func oneLine(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsControl(r) || r == '\u2028' || r == '\u2029'
	})
}

// CheckAmbient holds the blocks of a field to their rules. The error is a
// *ParamsError or nil.
func CheckAmbient(field string, blocks []AmbientBlock) *ParamsError {
	if len(blocks) > MaxAmbientBlocks {
		return PastLimit(field, MaxAmbientBlocks, "blocks")
	}
	for i := range blocks {
		if err := blocks[i].check(); err != nil {
			return under(field+index(i), err)
		}
	}
	return nil
}

// Modules say which of the host's parts the built-in ambient blocks may talk
// about (A3): those that are given, while Enabled, the switch of them all, is.
type Modules struct {
	Enabled    *bool `json:"enabled,omitempty"`
	Todos      *bool `json:"todos,omitempty"`
	PlanMode   *bool `json:"planMode,omitempty"`
	Background *bool `json:"background,omitempty"`
}

// Lifetime says how long a spliced block stays (A6).
type Lifetime string

// The lifetimes.
const (
	LifetimeSession Lifetime = "session" // until it is unspliced; the default
	LifetimeNext    Lifetime = "next"    // until a turn that carried it commits
)

// SpliceContextParams are the params of spliceContext. An ID that is given
// replaces the session's earlier block of that id, in its place.
type SpliceContextParams struct {
	SessionID *string  `json:"sessionId,omitempty" validate:"omitempty,sessionid"`
	ID        *string  `json:"id,omitempty" validate:"omitempty,spliceid"` // absent: one is made
	Name      string   `json:"name" validate:"required"`                   // the heading
	Content   *string  `json:"content"`
	Lifetime  Lifetime `json:"lifetime,omitempty" validate:"omitempty,oneof=session next"` // default session
	Meta
}

func (p *SpliceContextParams) check() *ParamsError {
	if p.Content == nil {
		return BadField("content", "required", "is missing")
	}
	b := AmbientBlock{Name: p.Name, Content: *p.Content}
	return b.check()
}

// ValidSpliceID tells whether id can name a spliced block: 1 to 128 printable
// ASCII characters without blanks.
func ValidSpliceID(id string) bool {
	blank := func(r rune) bool { return r <= ' ' || r > '~' }
	return id != "" && len(id) <= MaxNameBytes && !strings.ContainsFunc(id, blank)
}

// SpliceContextResult answers spliceContext.
type SpliceContextResult struct {
	ID       string `json:"id"`
	Rendered bool   `json:"rendered"` // false: the session's contextInjections is off, and the block is kept for when it is on
}

// UnspliceContextParams are the params of unspliceContext.
type UnspliceContextParams struct {
	SessionID *string `json:"sessionId,omitempty" validate:"omitempty,sessionid"`
	ID        string  `json:"id" validate:"required,spliceid"`
	Meta
}

// ListContextParams are the params of listContext.
type ListContextParams struct {
	SessionID *string `json:"sessionId,omitempty" validate:"omitempty,sessionid"`
	Text      bool    `json:"text,omitzero"` // the blocks' contents too
	Meta
}

// ListContextResult answers listContext: the ambient blocks in their order,
// and whether the session's turns carry them.
type ListContextResult struct {
	Enabled bool          `json:"enabled"`
	Blocks  []AmbientInfo `json:"blocks"`
	Cut     []string      `json:"cut,omitempty"` // members that are shortened, the whole being too large for a message
}

// AmbientInfo describes one ambient block.
type AmbientInfo struct {
	ID       string   `json:"id,omitempty"` // of a spliced one
	Name     string   `json:"name"`
	Origin   Origin   `json:"origin"` // builtin, config or splice
	Bytes    int      `json:"bytes"`  // as it is sent, heading and all
	SHA256   string   `json:"sha256"` // of the same, redacted
	Lifetime Lifetime `json:"lifetime,omitempty"`
	Rendered bool     `json:"rendered"`
	Content  *string  `json:"content,omitempty"` // redacted; where the params ask for it
}
