package inject

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"slices"

	"github.com/prism-rpc/prism-rpc/internal/plain"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
)

// Applied is what one injector gives to the turn, redacted, its own copy.
// Stable tells that it is the same on every turn of the session: a static
// injector of every_turn that the session's base list names (P15).
type Applied struct {
	Name          string
	Origin        schema.Origin
	When          schema.When
	Instructions  string                // for the system text
	Notice        string                // instructions placed behind the input
	Title         string                // of the notice
	Kind          string                // of the notice
	Keep          bool                  // the notice stays in the dialogue (R1)
	ContextBlocks []schema.ContextBlock // those that say something, instructions placed as context first
	Position      schema.Position       // of the blocks, where the injector says it
	Stable        bool
	Fixed         bool     // the same on every turn on which it applies
	Ignored       []string // fields that changed nothing, fit to be shown
}

func newApplied(r Resolved, c Contribution, frame Framer, red *redact.Redactor, tally *redact.Tally) Applied {
	inj, set := settingsOf(r.Injector)
	a := Applied{Name: r.Name, Origin: r.Origin, When: cmp.Or(c.When, schema.WhenEveryTurn), Position: set.Position}
	blocks := c.ContextBlocks
	switch {
	case blank(c.Instructions):
	case set.Placement == schema.PlaceContext:
		own := schema.ContextBlock{Title: set.Title, Content: schema.Input{schema.TextBlock(c.Instructions)}}
		blocks = slices.Concat([]schema.ContextBlock{own}, blocks)
	case set.Placement == schema.PlaceNotice:
		a.Notice, a.Title = red.Text(c.Instructions, tally), red.Text(set.Title, tally)
		a.Kind, a.Keep = red.Text(NoticeKind(set.Producer), nil), set.Retention == schema.RetainKeep
	default:
		a.Instructions = red.Text(c.Instructions, tally)
	}
	for _, b := range RedactBlocks(blocks, red, tally) {
		if Render(b) != "" {
			a.ContextBlocks = append(a.ContextBlocks, b)
		}
	}
	a.Ignored = shownFields(c.Ignored, red)
	a.frame(frame, set.Trust)
	_, a.Fixed = inj.(*static)
	a.Stable = a.Fixed && r.Base && a.When == schema.WhenEveryTurn
	return a
}

// frame marks text of the workspace as such where it stands among the
// dialogue; in the system text it stands as it is (P28).
func (a *Applied) frame(f Framer, trust schema.Trust) {
	whole := trust == schema.TrustWorkspace
	for i, b := range a.ContextBlocks {
		if whole {
			a.ContextBlocks[i] = f.block(b)
		} else {
			f.Resources(b.Content)
		}
	}
	if whole && a.Notice != "" {
		a.Notice = f.Text(a.Notice)
	}
}

// Empty tells whether a puts nothing into a request.
func (a Applied) Empty() bool {
	return a.Instructions == "" && a.Notice == "" && len(a.ContextBlocks) == 0
}

// Injected reports a, one entry for each placement that got something: its
// size and hash are of the text that stands in the request; several context
// blocks count one after another, as rendered.
func (a Applied) Injected() []schema.Injected {
	var out []schema.Injected
	if a.Instructions != "" {
		out = append(out, a.entry(schema.PlaceSystem, a.Instructions))
	}
	if len(a.ContextBlocks) > 0 {
		out = append(out, a.entry(schema.PlaceContext, a.rendered()...))
	}
	if a.Notice != "" {
		notice := a.entry(schema.PlaceNotice, a.Notice)
		notice.Kind, notice.Form, notice.Summary = a.Kind, NoticeForm, a.Summary()
		out = append(out, notice)
	}
	return out
}

// Summary is what can be shown in the notice's place (R7).
func (a Applied) Summary() string { return Summary(a.Title, a.Name) }

func (a Applied) entry(place schema.Placement, texts ...string) schema.Injected {
	size, hash := measure(texts...)
	return schema.Injected{Name: a.Name, Origin: a.Origin, Placement: place, When: a.When, Bytes: size, SHA256: hash, Ignored: a.Ignored}
}

// shownFields are names of fields, which came from outside, fit to be shown.
func shownFields(names []string, red *redact.Redactor) []string {
	var out []string
	for _, name := range names[:min(len(names), maxIgnored)] {
		out = append(out, plain.Text(red.Text(name, nil), maxIgnoredBytes))
	}
	return out
}

func (a Applied) rendered() []string {
	out := make([]string, len(a.ContextBlocks))
	for i, b := range a.ContextBlocks {
		out[i] = Render(b)
	}
	return out
}

func measure(texts ...string) (size int, hash string) {
	h := sha256.New()
	for _, t := range texts {
		size += len(t)
		_, _ = io.WriteString(h, t) // a hash takes all it is given
	}
	return size, hex.EncodeToString(h.Sum(nil))
}
