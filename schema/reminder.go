package schema

import "strings"

// Bounds on reminders (protocol §10).
const (
	MaxReminders     = 64
	MaxReminderBytes = 16 << 10 // of one's text
)

// Trigger says on which turns a reminder is due (R2). Unlike other enums, its
// values are in camelCase.
type Trigger string

// The triggers.
const (
	TriggerEveryTurn      Trigger = "everyTurn"
	TriggerPostCompaction Trigger = "postCompaction" // the next turn after older ones were summarised
)

// ParseTrigger reads a trigger in either of its spellings. Empty is everyTurn.
func ParseTrigger(word string) (t Trigger, ok bool) {
	switch word {
	case "", "everyTurn", "every_turn":
		return TriggerEveryTurn, true
	case "postCompaction", "post_compaction":
		return TriggerPostCompaction, true
	}
	return TriggerEveryTurn, false
}

// Reminders answers getReminders and setReminders: the reminders in force.
type Reminders struct {
	Revision    string     `json:"revision"` // of what stands here, to set them as they were read
	Enabled     bool       `json:"enabled"`  // the switch for all of them
	SkipTrivial bool       `json:"skipTrivial"`
	Producer    string     `json:"producer"`
	Prompts     []Reminder `json:"prompts"`
	Warnings    []string   `json:"warnings"`
	Cut         []string   `json:"cut,omitempty"` // members that are shortened, the whole being too large for a message
}

// Reminder is a message that stands behind the input of the turns on which it
// is due (R1). One without text reminds of nothing.
type Reminder struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"` // what is shown in its place
	Text      string    `json:"text"`
	Enabled   bool      `json:"enabled"`
	Trigger   Trigger   `json:"trigger"`
	Producer  string    `json:"producer,omitempty"`  // instead of the one for all
	Retention Retention `json:"retention,omitempty"` // default turn
}

// SetRemindersParams are the params of setReminders: the given fields change,
// null restores what the configuration says. With a revision that is not the
// present one nothing does.
type SetRemindersParams struct {
	Revision    string               `json:"revision,omitempty" validate:"max=128"`
	Enabled     Patch[bool]          `json:"enabled,omitzero"`
	SkipTrivial Patch[bool]          `json:"skipTrivial,omitzero"`
	Producer    Patch[string]        `json:"producer,omitzero"`
	Prompts     Patch[[]ReminderRow] `json:"prompts,omitzero"`
	Warnings    []string             `json:"warnings,omitempty"` // ignored: a result can be sent back as it came
	Meta
}

// ReminderRow is a reminder as it is written: what is left out or empty has a
// default. An id that can't be one, or that an earlier row has, becomes
// another.
type ReminderRow struct {
	ID        string    `json:"id,omitempty"`
	Title     string    `json:"title,omitempty"`
	Text      *string   `json:"text"`
	Enabled   *bool     `json:"enabled,omitempty"` // default true
	Trigger   string    `json:"trigger,omitempty"` // default everyTurn
	Producer  string    `json:"producer,omitempty"`
	Retention Retention `json:"retention,omitempty"` // default turn
}

func (p *SetRemindersParams) check() *ParamsError {
	if name := p.Producer; name.Given && !name.Null && !ValidProducer(name.Value) {
		return BadField("producer", "producer", producerRule)
	}
	if len(p.Prompts.Value) > MaxReminders {
		return PastLimit("prompts", MaxReminders, "reminders")
	}
	for i := range p.Prompts.Value {
		if err := p.Prompts.Value[i].check(); err != nil {
			return under("prompts"+index(i), err)
		}
	}
	return nil
}

func (r *ReminderRow) check() *ParamsError {
	switch {
	case r.Text == nil:
		return BadField("text", "required", "is missing")
	case strings.IndexByte(*r.Text, 0) >= 0:
		return BadField("text", "text", "holds a NUL character")
	case r.Retention != "" && r.Retention != RetainTurn && r.Retention != RetainKeep:
		return BadField("retention", "oneof", "must be one of: turn, keep")
	case r.Producer != "" && !ValidProducer(r.Producer):
		return BadField("producer", "producer", producerRule)
	}
	if _, known := ParseTrigger(r.Trigger); !known {
		return BadField("trigger", "oneof", "must be one of: everyTurn, postCompaction")
	}
	return r.checkSizes()
}

func (r *ReminderRow) checkSizes() *ParamsError {
	switch {
	case len(r.ID) > MaxNameBytes:
		return PastLimit("id", MaxNameBytes, "bytes")
	case len(r.Title) > MaxTitleBytes:
		return PastLimit("title", MaxTitleBytes, "bytes")
	case len(*r.Text) > MaxReminderBytes:
		return PastLimit("text", MaxReminderBytes, "bytes")
	}
	return nil
}
