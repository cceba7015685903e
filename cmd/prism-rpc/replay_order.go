package main

import (
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// An asking is a request or a notification that the client sent.
type asking struct {
	id     string // "" for a notification
	nth    int    // of those with this id
	method string
	params askingParams
	place  int // its message's number, from 1
	whole  bool
}

// askingParams are those that tell whom a message is about.
type askingParams struct {
	SessionID    string         `json:"sessionId"`
	NewSessionID string         `json:"newSessionId"`
	RunID        string         `json:"runId"`
	Queue        string         `json:"queue"`
	Turn         int            `json:"turn"`
	ID           jsontext.Value `json:"id"`
	RequestID    jsontext.Value `json:"requestId"`
}

func newAsking(m *request, nth, place int, whole bool) *asking {
	a := &asking{id: string(m.ID), nth: nth, method: m.Method, place: place, whole: whole}
	_ = json.Unmarshal(m.Params, &a.params, lenient) // those of another shape are about nobody
	return a
}

// answer is what a was answered with, nil where the trace has nothing, and
// how many messages had come in by then.
func (r *recording) answer(a *asking) (o *outcome, by int) {
	if a.id == "" || a.nth >= len(r.after[a.id]) {
		return nil, 0
	}
	return &r.said.replies[a.id][a.nth], r.after[a.id][a.nth]
}

// findDefault finds what the server called the session of messages that name none.
func (r *recording) findDefault() string {
	for _, a := range r.asks {
		if o, _ := r.answer(a); o != nil && a.params.SessionID == "" && o.sessionID != "" && a.method != "newSession" && a.method != "forkSession" {
			return o.sessionID
		}
	}
	return ""
}

// session is the one that a is about.
func (r *recording) session(a *asking) string {
	switch o, _ := r.answer(a); {
	case a.params.SessionID != "":
		return a.params.SessionID
	case a.method == "newSession" && o != nil:
		return o.sessionID
	}
	return r.unnamed
}

// turn tells whether a led to a turn of its own.
func (r *recording) turn(a *asking) bool { return a.id != "" && len(r.said.turns[a.id]) > a.nth }

// order finds out what was over before what, where a reply was written later
// than what it tells of took effect.
func (r *recording) order() {
	r.unnamed = r.findDefault()
	r.until = map[string][]int{}
	for id, after := range r.after {
		r.until[id] = slices.Clone(after)
	}
	for id, turns := range r.said.turns {
		for i, t := range turns {
			if by, ended := r.ended[t.runID]; ended {
				r.lower(id, i, by)
			}
		}
	}
	var open []*asking          // not answered yet
	deleted := map[string]int{} // by session, how many messages had come in when that was done
	for _, m := range r.asks {
		open = slices.DeleteFunc(open, func(a *asking) bool { _, by := r.answer(a); return by < m.place })
		for _, a := range r.overBy(m, open) {
			r.needs[m.place] = append(r.needs[m.place], a)
			r.release(a, open, m.place-1)
		}
		_, by := r.answer(m)
		switch {
		case m.place <= deleted[r.session(m)]:
			r.unsure[m] = true
		case m.method == "deleteSession" && r.needs[m.place] != nil:
			deleted[r.session(m)] = by
		}
		if o, _ := r.answer(m); o != nil && m.whole {
			open = append(open, m)
		}
	}
}

func (r *recording) lower(id string, nth, by int) {
	if list := r.until[id]; nth < len(list) {
		list[nth] = min(list[nth], by)
	}
}

// release lets a end when so many messages are in, and what it waits behind.
func (r *recording) release(a *asking, open []*asking, by int) {
	for _, b := range open {
		if b == a || b.place <= a.place && r.session(b) == r.session(a) {
			r.lower(b.id, b.nth, by)
		}
	}
}

// overBy returns those of the open ones that must have been over when m took
// effect: what m could have cancelled and didn't, and turns that would have
// been in its way.
func (r *recording) overBy(m *asking, open []*asking) []*asking {
	var out []*asking
	for _, a := range open {
		if a.place == m.place || r.loose[a.id] {
			continue // of the same batch, or not as it was
		}
		o, _ := r.answer(a)
		same := r.session(a) == r.session(m)
		over := same && r.isSeenOver(m, a, o)
		if r.canCancel(m, a, o, same) {
			if o.cancelled() && m.method == "abort" && m.params.Queue != "clear" && m.params.RunID == "" {
				return out // what waits behind it is not meant
			}
			over = !o.cancelled()
		}
		if over {
			out = append(out, a)
		}
	}
	return out
}

// isSeenOver tells whether m's answer shows that the turn a, of the same
// session, was over.
func (r *recording) isSeenOver(m, a *asking, o *outcome) bool {
	answer, _ := r.answer(m)
	switch m.method {
	case "prompt":
		return r.turn(m) && r.turn(a)
	case "messages", "forkSession":
		return answer != nil && answer.code == 0 && m.params.Turn > 0 && m.params.Turn == o.turn
	}
	return false
}

// canCancel tells whether m is meant for a.
func (r *recording) canCancel(m, a *asking, o *outcome, same bool) bool {
	switch m.method {
	case "exit":
		return true
	case "closeSession", "deleteSession":
		return same && ends(a.method)
	case "abort":
		return same && ends(a.method) && (m.params.RunID == "" || m.params.RunID == o.runID)
	case "$/cancelRequest":
		return string(m.params.ID) == a.id
	case "$/cancel_request", "notifications/cancelled":
		return string(m.params.RequestID) == a.id
	}
	return false
}

// ends tells whether a session that closes has to end what the method began.
func ends(method string) bool {
	return method == "prompt" || method == "followUp" || method == "compact"
}

// harmless are the methods without which all that follows is the same.
var harmless = []string{"state", "messages", "listSessions", "listInjectors", "listModels", "listContext", "getReminders", "preview", "ping", "rpc.discover", ""}

// ofOneSession are those that change one session.
var ofOneSession = []string{
	"prompt", "followUp", "newSession", "loadSession", "forkSession", "updateSession", "setModel",
	"compact", "spliceContext", "unspliceContext", "abort", "closeSession", "deleteSession",
}

// loosen finds the requests whose answers may hang on a message that is not
// sent, or on how soon a session was deleted in which a turn was just over.
func (r *recording) loosen() {
	all, changed := false, map[string]bool{}
	for _, a := range r.asks {
		o, _ := r.answer(a)
		if r.unsure[a] {
			r.loose[a.id] = true
		}
		switch {
		case a.whole && (all || changed[r.session(a)]):
			r.loose[a.id] = true
		case a.whole && !r.unsure[a], slices.Contains(harmless, a.method), !r.unsure[a] && o != nil && o.code != 0 && !r.turn(a):
			continue
		case !slices.Contains(ofOneSession, a.method):
			all = true
		case a.method != "forkSession":
			changed[r.session(a)] = true
		}
		if a.method == "forkSession" {
			changed[a.params.NewSessionID] = true
			if o != nil {
				changed[o.sessionID] = true
			}
			delete(changed, "")
		}
	}
}
