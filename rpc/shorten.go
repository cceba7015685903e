package rpc

import (
	"slices"
	"sort"

	"github.com/prism-rpc/prism-rpc/internal/plain"
	"github.com/prism-rpc/prism-rpc/schema"
)

// shorten returns a form of v that fits, nil if v can't be shortened. v stays
// as it is. What is left out is named in the result's cut, or has its size
// beside it.
func shorten(v any, room int) any {
	switch v := v.(type) {
	case *schema.TurnResult:
		return shortTurn(*v, room)
	case *schema.MessagesResult:
		if short := shortPage(v, room); short != nil {
			return short
		}
	case *schema.SessionState:
		return shortState(*v, room)
	case *schema.ListSessionsResult:
		return shortSessions(*v, room)
	case *schema.ListInjectorsResult:
		return shortInjectors(*v, room)
	case *schema.ListContextResult:
		return shortContext(*v, room)
	case *schema.ListModelsResult:
		return shortModels(*v, room)
	case schema.Reminders:
		return shortReminders(v, room)
	case *schema.TurnEnded:
		return shortEnd(*v, room)
	case *schema.InjectedEvent:
		short := *v
		refill(&short, room, new([]string), textPart("summary", &short.Summary), listPart("ignored", &short.Ignored))
		return &short
	}
	return nil
}

// A part is a member that may be shortened.
type part struct {
	name  string
	empty func()
	fill  func(free func() int) bool // puts back what fits while free is not negative; tells whether that is all
}

// refill empties the parts of v and puts back, one after the other, as much of
// each as there is room for. It leaves the names of those that lost something
// in cut.
func refill(v any, room int, cut *[]string, parts ...part) {
	for _, p := range parts {
		p.empty()
		*cut = append(*cut, p.name)
	}
	free := func() int { return room - sizeOf(v) }
	var lost []string
	for _, p := range parts {
		if !p.fill(free) {
			lost = append(lost, p.name)
		}
	}
	*cut = lost
}

// listPart is a part that keeps its first elements.
func listPart[T any](name string, at *[]T) part {
	all := *at
	return part{
		name:  name,
		empty: func() { *at = all[:0:0] },
		fill: func(free func() int) bool {
			n := sort.Search(len(all), func(n int) bool {
				*at = all[:n+1]
				return free() < 0
			})
			*at = all[:n:n]
			return n == len(all)
		},
	}
}

// textPart is a part that keeps its first characters.
func textPart(name string, at *string) part {
	const nameBytes = 32 // for the member itself, which may be left out when it is empty
	all := *at
	return part{
		name:  name,
		empty: func() { *at = "" },
		fill: func(free func() int) bool {
			*at = all[:fitting(all, free()-nameBytes)]
			return len(*at) == len(all)
		},
	}
}

// shortTurn keeps the message where that fits with nothing but the fixed
// members beside it; else messages gives it in pieces.
func shortTurn(r schema.TurnResult, room int) *schema.TurnResult {
	refill(&r, room, &r.Cut, messagePart(&r), listPart("redacted", &r.Redacted), listPart("injected", &r.Injected))
	return &r
}

// messagePart is the answer: it is kept whole, or its size is.
func messagePart(r *schema.TurnResult) part {
	whole := r.Message
	empty := func() { r.Message, r.MessageBytes = schema.Message{}, len(schema.PlainText(whole.Content)) }
	return part{
		empty: empty,
		fill: func(free func() int) bool {
			if r.Message, r.MessageBytes = whole, 0; free() < 0 {
				empty()
			}
			return true // messageBytes tells
		},
	}
}

func shortEnd(e schema.TurnEnded, room int) *schema.TurnEnded {
	if e.Error != nil {
		w := wireError{e.Error.Code, e.Error.Message, e.Error.Data}
		message, data := w.fit(room / 2)
		e.Error = &schema.EventError{Code: w.Code, Message: message, Data: data}
	}
	refill(&e, room, &e.Cut, listPart("redacted", &e.Redacted))
	return &e
}

func shortInjectors(r schema.ListInjectorsResult, room int) *schema.ListInjectorsResult {
	const description = 100
	r.Injectors = slices.Clone(r.Injectors)
	for i := range r.Injectors {
		info := &r.Injectors[i]
		info.Description = plain.Text(info.Description, description)
	}
	refill(&r, room, &r.Cut, listPart("injectors", &r.Injectors))
	return &r
}

// shortSessions leaves out folders and cuts titles. Whoever makes the page sees
// to it that it holds few sessions.
func shortSessions(r schema.ListSessionsResult, room int) *schema.ListSessionsResult {
	r.Sessions = slices.Clone(r.Sessions)
	var titles []part
	for i := range r.Sessions {
		r.Sessions[i].CWD = ""
		titles = append(titles, textPart("title", &r.Sessions[i].Title))
	}
	refill(&r, room, new([]string), titles...)
	return &r
}

func shortState(st schema.SessionState, room int) *schema.SessionState {
	parts := []part{textPart("model", &st.Model)}
	if st.Running != nil {
		running := *st.Running
		st.Running = &running
		running.TextBytes = len(running.Text)
		parts = append(parts, textPart("running.text", &st.Running.Text))
	}
	parts = append(parts, textPart("title", &st.Title), listPart("instructionInjectors", &st.InstructionInjectors),
		listPart("queue", &st.Queue), textPart("instructions", &st.Instructions))
	if st.Interrupted != nil {
		interrupted := *st.Interrupted
		st.Interrupted = &interrupted
		parts = append(parts, textPart("interrupted.partial", &interrupted.Partial), inputPart("interrupted.input", &interrupted.Input))
	}
	refill(&st, room, &st.Cut, parts...)
	if st.Running != nil && len(st.Running.Text) == st.Running.TextBytes {
		st.Running.TextBytes = 0
	}
	return &st
}

// inputPart is a part that keeps its first blocks, or the beginning of its one text.
func inputPart(name string, at *schema.Input) part {
	if len(*at) != 1 || (*at)[0].Type != schema.BlockText {
		return listPart(name, (*[]schema.ContentBlock)(at))
	}
	*at = slices.Clone(*at)
	return textPart(name, &(*at)[0].Text)
}
