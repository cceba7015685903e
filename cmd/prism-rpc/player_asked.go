package main

import (
	"cmp"
	"context"
	"strings"
)

// An askedOf is a request of the server's: what it is about, and its id.
type askedOf struct{ about, id string }

// request notes what a server asks. The same thing is asked in the same order
// in each turn, so that is how two recordings of it are matched.
func (t *transcript) request(m *message) {
	p := &m.Params
	run := cmp.Or(p.Context.RunID, p.RunID)
	t.requests = append(t.requests, askedOf{
		about: strings.Join([]string{m.Method, p.Name, p.Bundle, p.Path, t.asked[run]}, "\n"),
		id:    strings.Trim(string(m.ID), `"`),
	})
}

// counterpart finds the nth request about the same thing; "" when it has not
// come.
func (t *transcript) counterpart(about string, nth int) string {
	for _, r := range t.requests {
		if r.about != about {
			continue
		}
		if nth == 0 {
			return r.id
		}
		nth--
	}
	return ""
}

// awaitAsked waits until the server has asked what the recorded one had, since
// an answer before that is none, and learns by what ids.
func (p *player) awaitAsked(ctx context.Context, said *transcript) {
	count := map[string]int{}
	for i, r := range said.requests {
		nth := count[r.about]
		count[r.about]++
		if i < p.matched {
			continue
		}
		p.wait(ctx, func() bool { return p.got.counterpart(r.about, nth) != "" })
		p.change(func() { p.same(r.id, p.got.counterpart(r.about, nth)) })
	}
	p.matched = len(said.requests)
}
