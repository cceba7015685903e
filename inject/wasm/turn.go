package wasm

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/schema"
)

const (
	maxInputBytes   = 4 << 20   // of the turn as JSON
	maxHistory      = 100       // messages
	maxHistoryBytes = 256 << 10 // in all
)

// A turn is what a module sees (P9).
type turn struct {
	SessionID string                `json:"sessionId"`
	RunID     string                `json:"runId"`
	Turn      int                   `json:"turn"`
	Step      int                   `json:"step"`
	Input     []schema.ContentBlock `json:"input"`
	Metadata  jsontext.Value        `json:"metadata,omitempty"`
	History   []jsontext.Value      `json:"history,omitzero"`
}

func encode(c inject.Context, withHistory bool) ([]byte, error) {
	t := turn{
		SessionID: c.SessionID, RunID: c.RunID, Turn: max(c.Turn, 1), Step: max(c.Step, 1),
		Input: withoutBytes(c.Input), Metadata: c.Metadata,
	}
	if withHistory {
		var err error
		if t.History, err = recent(c); err != nil {
			return nil, err
		}
	}
	b, err := json.Marshal(t)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrInput, err)
	case len(b) > maxInputBytes:
		return nil, fmt.Errorf("%w: %d bytes, more than %d", ErrInput, len(b), maxInputBytes)
	}
	return b, nil
}

// withoutBytes is content in which an image is named, not shown: nothing could
// be made of it here.
func withoutBytes(content []schema.ContentBlock) []schema.ContentBlock {
	out := append([]schema.ContentBlock{}, content...)
	for i := range out {
		out[i].Data = ""
	}
	return out
}

// recent are the newest messages that the bounds leave, the oldest first;
// empty, not absent, when there are none.
func recent(c inject.Context) ([]jsontext.Value, error) {
	messages := c.History
	if c.Recent != nil {
		messages = c.Recent(maxHistory)
	}
	out := []jsontext.Value{}
	if messages == nil {
		return out, nil
	}
	for m := range messages {
		m.Content = withoutBytes(m.Content)
		b, err := json.Marshal(m)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrInput, err)
		}
		out = append(out, b)
	}
	size := 0
	for i, b := range slices.Backward(out) {
		if size += len(b); size > maxHistoryBytes || len(out)-i > maxHistory {
			return out[i+1:], nil
		}
	}
	return out, nil
}
