package session

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-rpc/prism-rpc/assemble"
	"github.com/prism-rpc/prism-rpc/inject/reminder"
	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
)

// reminders are those of a turn. Their settings are fixed when its request is
// made (P12).
type reminders struct {
	settings   *reminder.Settings
	generation int // the session's, when the decisions were made
	decisions  []reminder.Decision
	notices    []reminder.Notice // of those that apply
}

// Reminders are those of all sessions.
func (m *Manager) Reminders() *reminder.Store { return m.cfg.Reminders }

// reminders decides on those that are in force now.
func (r *Run) reminders() reminders {
	d := reminders{settings: r.session.manager.cfg.Reminders.Settings()}
	r.decideReminders(&d)
	return d
}

// decideReminders decides on them as the session stands now. What is hidden in
// those that were carried before is counted already.
func (r *Run) decideReminders(d *reminders) {
	s, had := r.session, d.notices
	turn := reminder.Turn{Trivial: r.trivial(), Redactor: r.redactor}
	s.mu.Lock()
	turn.Generation, turn.Reminded = s.compacted.generation, s.reminded.generations()
	d.generation, d.decisions, d.notices = turn.Generation, d.settings.Decide(turn), nil
	s.mu.Unlock()
	for _, decision := range d.decisions {
		if !decision.Applied() {
			continue
		}
		tally := r.tally.at(whereInjected)
		if carries(had, decision.ID) {
			tally = nil
		}
		d.notices = append(d.notices, decision.Notice(r.redactor, tally))
	}
}

// trivial tells whether the turn's own input is.
func (r *Run) trivial() bool {
	return r.session.manager.cfg.Reminders.Trivial().Input(r.input)
}

// carries tells whether a notice is of that reminder.
func carries(notices []reminder.Notice, id string) bool {
	return slices.ContainsFunc(notices, func(n reminder.Notice) bool { return n.ID == id })
}

// notices are what stands behind the input: those of injectors, then reminders.
func (p *plan) notices() []provider.Message {
	return append(assemble.InjectedNotices(p.decisions.Applied()), assemble.ReminderNotices(p.reminders.notices)...)
}

// renewReminders decides again after a compaction within the turn, which arms
// reminders of its own (R2), and reports those that are new.
func (r *Run) renewReminders(p *plan) {
	if r.generation() == p.reminders.generation {
		return
	}
	had := p.reminders.notices
	r.decideReminders(&p.reminders)
	p.request.Notices, p.request.Injected = p.notices(), p.report()
	fresh := slices.DeleteFunc(slices.Clone(p.reminders.notices), func(n reminder.Notice) bool { return carries(had, n.ID) })
	r.reportInjected(reminder.Injected(fresh), nil)
}

func (r *Run) generation() int {
	r.session.mu.Lock()
	defer r.session.mu.Unlock()
	return r.session.compacted.generation
}

// keptNotices are the messages that stay in the dialogue, as a log keeps them:
// the notices of injectors, then reminders.
func (r *Run) keptNotices() ([]jsontext.Value, error) {
	if r.planned == nil {
		return nil, nil
	}
	stay := slices.DeleteFunc(slices.Clone(r.planned.reminders.notices), func(n reminder.Notice) bool { return !n.Keep })
	var out []jsontext.Value
	for _, m := range append(assemble.KeptNotices(r.planned.decisions.Applied()), assemble.ReminderNotices(stay)...) {
		encoded, err := provider.AppendNotice(nil, m)
		if err != nil {
			return nil, err
		}
		out = append(out, encoded)
	}
	return out, nil
}

// remindedOf is what the turn's record says of reminders that are due once for
// a generation: they are done when it commits.
func (r *Run) remindedOf() *schema.Reminded {
	if r.planned == nil {
		return nil
	}
	done := &schema.Reminded{Generation: r.planned.reminders.generation}
	for _, d := range r.planned.reminders.decisions {
		if d.Applied() && d.Trigger == schema.TriggerPostCompaction {
			done.IDs = append(done.IDs, d.ID)
		}
	}
	if done.IDs == nil {
		return nil
	}
	return done
}

// reminded is what a session knows of the reminders that are due once for a
// generation (R2).
type reminded struct {
	last   map[string]int // by a reminder's id: the generation for which it was given last
	byTurn map[int]*schema.Reminded
}

// keepReminded takes what a committed turn says of reminders; mu is held.
func (s *Session) keepReminded(t *schema.TurnRecord) {
	if t.Reminded == nil {
		return
	}
	if s.reminded == nil {
		s.reminded = &reminded{map[string]int{}, map[int]*schema.Reminded{}}
	}
	s.reminded.byTurn[len(s.turns)] = t.Reminded
	for _, id := range t.Reminded.IDs {
		s.reminded.last[id] = max(s.reminded.last[id], t.Reminded.Generation)
	}
}

// generations are those for which reminders were given last.
func (r *reminded) generations() map[string]int {
	if r == nil {
		return nil
	}
	return r.last
}

// ofTurns says what each turn gave; the result is the caller's own.
func (r *reminded) ofTurns() map[int]*schema.Reminded {
	if r == nil {
		return nil
	}
	return maps.Clone(r.byTurn)
}

// rows say of each reminder whether the turn carries it, and why not.
func (d *reminders) rows(red *redact.Redactor) []schema.PreviewLayer {
	var out []schema.PreviewLayer
	for _, decision := range d.decisions {
		row := schema.PreviewLayer{
			Name: decision.ID, Source: "reminder", Origin: schema.OriginUser, Placement: schema.PlaceNotice, When: schema.WhenEveryTurn, Reason: decision.Reason,
		}
		if decision.Applied() {
			in := decision.Notice(red, nil).Injected()
			row.Bytes, row.SHA256, row.Kind, row.Form, row.Summary = in.Bytes, in.SHA256, in.Kind, in.Form, in.Summary
		}
		out = append(out, row)
	}
	return out
}
