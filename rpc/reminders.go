package rpc

import (
	"strconv"

	"github.com/prism-rpc/prism-rpc/schema"
)

// getReminders gives the reminders in force, with the changes that were asked
// for before.
func (s *server) getReminders(*call, *schema.NoParams) (reply, error) {
	get := s.Sessions.Reminders().BeginRead()
	return reply{wait: func() (any, error) { return get().Wire(s.redacting()), nil }}, nil
}

// setReminders saves a change. Turns that are asked for behind it have it.
func (s *server) setReminders(c *call, p *schema.SetRemindersParams) (reply, error) {
	red := s.redacting()
	if red.Contains(p.Producer.Value) {
		return reply{}, schema.BadField("producer", "secret", "holds a known secret")
	}
	for i, row := range p.Prompts.Value {
		for name, value := range map[string]string{"id": row.ID, "producer": row.Producer} {
			if red.Contains(value) {
				return reply{}, schema.BadField("prompts["+strconv.Itoa(i)+"]."+name, "secret", "holds a known secret")
			}
		}
	}
	save := s.Sessions.Reminders().Begin(p, red)
	return reply{wait: func() (any, error) {
		now, err := save(c.ctx)
		if err != nil {
			return nil, err
		}
		return now.Wire(red), nil
	}}, nil
}

// shortReminders keeps the first reminders and warnings that fit. No text is
// cut, and what is cut can't be set again as it came: setReminders knows no cut.
func shortReminders(r schema.Reminders, room int) *schema.Reminders {
	refill(&r, room, &r.Cut, listPart("prompts", &r.Prompts), listPart("warnings", &r.Warnings))
	return &r
}
