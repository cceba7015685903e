package assemble

import (
	"slices"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/schema"
)

// A Request holds the parts of one model call. Everything in it is redacted
// already; the fields that provider.Request has too mean the same there.
type Request struct {
	Model   string
	Layout  schema.Layout // default cache_aware
	Options schema.RunOptions

	Layers  []Layer // of the system text, injected ones among them
	Ambient []Ambient
	Blocks  []Block // as Sources.Collect returns them
	History provider.History
	Input   []schema.ContentBlock
	Notices []provider.Message // injected ones, then reminders
	Calls   []provider.Message // tool calls of this turn so far, each with its result

	Tools []provider.Tool

	SessionID string
	RunID     string
	Turn      int
	Step      int
	Injected  []schema.Injected
}

// Build puts the parts in the order of the layout (P15). The result shares
// the history, the input and the messages with r, and costs the same however
// long the history is.
func (r *Request) Build() *provider.Request {
	return &provider.Request{
		Model:     r.Model,
		Segments:  r.segments(),
		Options:   r.Options,
		Tools:     r.Tools,
		SessionID: r.SessionID,
		RunID:     r.RunID,
		Turn:      r.Turn,
		Step:      r.Step,
		Injected:  r.Injected,
	}
}

func (r *Request) segments() []provider.Segment {
	system := provider.Segment{Kind: provider.SegmentSystem, Messages: r.system()}
	history := provider.Segment{Kind: provider.SegmentHistory, History: r.History}
	input := provider.Segment{Kind: provider.SegmentInput, Messages: r.input()}
	notices := provider.Segment{Kind: provider.SegmentNotices, Messages: r.Notices}
	calls := provider.Segment{Kind: provider.SegmentTools, Messages: r.Calls}

	leading, first := provider.SegmentStable, isStable
	if r.Layout == schema.LayoutLegacy {
		leading, first = provider.SegmentBlocks, isntLate
	}
	head := provider.Segment{Kind: leading, Messages: render(r.Blocks, first)}
	tail := provider.Segment{Kind: provider.SegmentBlocks, Messages: render(r.Blocks, func(b Block) bool { return !first(b) })}
	if r.Layout == schema.LayoutLegacy {
		return filled(head, system, history, tail, input, notices, calls)
	}
	return filled(system, head, history, tail, input, notices, calls)
}

func isStable(b Block) bool {
	return b.Position == schema.PositionHead || b.Stable && b.Position == ""
}

func isntLate(b Block) bool { return b.Position != schema.PositionTail }

func filled(segments ...provider.Segment) []provider.Segment {
	return slices.DeleteFunc(segments, func(s provider.Segment) bool {
		return len(s.Messages) == 0 && s.History.Len() == 0
	})
}

// System is the system text: the layers, then the ambient blocks.
func (r *Request) System() string { return AppendAmbient(ComposeSystem(r.Layers), r.Ambient) }

func (r *Request) system() []provider.Message {
	text := r.System()
	if text == "" {
		return nil
	}
	return []provider.Message{provider.Text(schema.RoleSystem, text)}
}

func (r *Request) input() []provider.Message {
	if len(r.Input) == 0 {
		return nil
	}
	return []provider.Message{{Role: schema.RoleUser, Content: r.Input}}
}

// render makes a message of each block that is wanted and says something.
func render(blocks []Block, wanted func(Block) bool) []provider.Message {
	var out []provider.Message
	for _, b := range blocks {
		if !wanted(b) {
			continue
		}
		if text := inject.Render(b.ContextBlock); text != "" {
			out = append(out, provider.Text(schema.RoleUser, text))
		}
	}
	return out
}
