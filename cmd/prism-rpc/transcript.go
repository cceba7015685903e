package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// An outcome is what a request was answered with, as far as it is compared.
type outcome struct {
	code int
	kind string
	stop string

	sessionID, runID string // not compared
	turn             int    // neither
}

func (o outcome) String() string {
	switch {
	case o.code != 0:
		return strings.TrimSpace(fmt.Sprintf("error %d %s", o.code, o.kind))
	case o.stop != "":
		return o.stop
	}
	return "a result"
}

func (o outcome) same(other outcome) bool {
	return o.code == other.code && o.kind == other.kind && o.stop == other.stop
}

func (o outcome) cancelled() bool { return o.stop == "cancelled" || o.code == -32800 }

// A turnSeen is a turn as its events show it.
type turnSeen struct {
	sessionID, runID string
	types            []string // neighbours that are alike once
	ended, cancelled bool
}

// A transcript is what a server wrote.
type transcript struct {
	replies map[string][]outcome   // by the request's id, in order
	turns   map[string][]*turnSeen // by the request's id, in order
	runs    map[string]*turnSeen   // by run
	asked   map[string]string      // the request's id, by run
	over    map[string]bool        // by the request's id: nothing came after its reply

	requests []askedOf // of the server's, in order
}

func newTranscript() *transcript {
	return &transcript{
		replies: map[string][]outcome{}, turns: map[string][]*turnSeen{}, runs: map[string]*turnSeen{},
		asked: map[string]string{}, over: map[string]bool{},
	}
}

// message is what is read of one that the server wrote.
type message struct {
	ID     jsontext.Value `json:"id"`
	Method string         `json:"method"`
	Result jsontext.Value `json:"result"`
	Error  *struct {
		Code int            `json:"code"`
		Data jsontext.Value `json:"data"`
	} `json:"error"`
	Params struct {
		Type       string         `json:"type"`
		SessionID  string         `json:"sessionId"`
		RunID      string         `json:"runId"`
		RequestID  jsontext.Value `json:"requestId"`
		StopReason string         `json:"stopReason"`

		Name    string `json:"name"` // of what the server asks
		Bundle  string `json:"bundle"`
		Path    string `json:"path"`
		Context struct {
			RunID string `json:"runId"`
		} `json:"context"`
	} `json:"params"`
}

// messages are those of a line: one, or those of a batch.
func messages[M any](raw jsontext.Value) []M {
	one := make([]M, 1)
	into := any(&one[0])
	if raw.Kind() == jsontext.KindBeginArray {
		into = &one
	}
	if json.Unmarshal(raw, into, lenient) != nil {
		return nil // as a server would: no message
	}
	return one
}

// add takes a line and returns the ids that it answers.
func (t *transcript) add(raw jsontext.Value) (answered []string) {
	for _, m := range messages[message](raw) {
		switch {
		case m.Method == "event":
			t.event(&m)
		case m.Method != "" && m.ID != nil:
			t.request(&m)
		case m.Method == "" && m.ID != nil:
			id := string(m.ID)
			t.replies[id] = append(t.replies[id], m.outcome())
			t.over[id] = true
			answered = append(answered, id)
		}
	}
	return answered
}

func (m *message) outcome() outcome {
	var o outcome
	if m.Error != nil {
		var data struct {
			Kind string `json:"kind"`
		}
		_ = json.Unmarshal(m.Error.Data, &data, lenient) // data of another shape has no kind
		o.code, o.kind = m.Error.Code, data.Kind
		return o
	}
	var result struct {
		StopReason string `json:"stopReason"`
		SessionID  string `json:"sessionId"`
		RunID      string `json:"runId"`
		Turn       int    `json:"turn"`
	}
	_ = json.Unmarshal(m.Result, &result, lenient) // a result of another shape has none of these
	o.stop, o.sessionID, o.runID, o.turn = result.StopReason, result.SessionID, result.RunID, result.Turn
	return o
}

// event notes one. Only a turn whose beginning names its request is known.
func (t *transcript) event(m *message) {
	p := &m.Params
	turn := t.runs[p.RunID]
	if turn == nil {
		if p.RequestID == nil {
			return
		}
		id := string(p.RequestID)
		turn = &turnSeen{sessionID: p.SessionID, runID: p.RunID}
		t.runs[p.RunID], t.asked[p.RunID] = turn, id
		t.turns[id] = append(t.turns[id], turn)
		t.over[id] = false
	}
	switch p.Type {
	case "prompt_queued", "waiting": // tell of time alone
		return
	case "turn_ended":
		turn.ended, turn.cancelled = true, p.StopReason == "cancelled"
	}
	if n := len(turn.types); n == 0 || turn.types[n-1] != p.Type {
		turn.types = append(turn.types, p.Type)
	}
}

// types are the kinds of event of each of a request's turns. How far a turn
// was when it was cancelled is a matter of time and left out.
func (t *transcript) types(id string, hide []string) []string {
	var out []string
	for _, turn := range t.turns[id] {
		if turn.cancelled {
			continue
		}
		types := slices.DeleteFunc(slices.Clone(turn.types), func(s string) bool { return slices.Contains(hide, s) })
		out = append(out, slices.Compact(types)...)
	}
	return out
}
