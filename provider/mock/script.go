package mock

import (
	"regexp"
	"strings"
	"time"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/schema"
)

// An Entry of a script answers one call, or several. The zero Entry is an
// empty answer.
type Entry struct {
	Thinking string   // comes first, in one piece
	Deltas   []string // the answer in pieces
	Text     string   // the answer in one piece, after Deltas

	Delay      time.Duration     // before each piece; without pieces, once
	Usage      *schema.Usage     // nil: estimated
	StopReason schema.StopReason // empty: end_turn
	Error      *provider.Error   // ends the call after its pieces
	Then       Fault             // spoils the call after its pieces

	Match  *regexp.Regexp // answers only calls whose input fits, and before entries without
	Times  int            // how many calls the entry answers; 0 means 1
	Repeat bool           // it answers for ever
}

// A Fault is a way in which a call goes wrong.
type Fault string

// The faults.
const (
	None         Fault = ""
	Cut          Fault = "cut"           // the answer ends before its terminal event
	Stall        Fault = "stall"         // nothing more comes until ctx or the idle timeout ends the call
	Reset        Fault = "reset"         // the connection breaks
	IgnoreCancel Fault = "ignore_cancel" // the call runs for 10 s more, or until Close, whatever its ctx says
)

func (e *Entry) pieces() []provider.Event {
	var pieces []provider.Event
	if e.Thinking != "" {
		pieces = append(pieces, provider.Event{Kind: provider.EventThinking, Text: e.Thinking})
	}
	for _, d := range append(e.Deltas[:len(e.Deltas):len(e.Deltas)], e.Text) {
		if d != "" {
			pieces = append(pieces, provider.Event{Kind: provider.EventText, Text: d})
		}
	}
	return pieces
}

func (e *Entry) answer() string { return strings.Join(e.Deltas, "") + e.Text }
