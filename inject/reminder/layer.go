package reminder

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/prism-rpc/prism-rpc/schema"
)

// A Layer is what one place says of reminders: the configuration, or the
// user's file. Nil leaves a setting to the layer below; a list without
// reminders is one (R5).
type Layer struct {
	Enabled     *bool
	SkipTrivial *bool
	Producer    *string
	Prompts     []schema.Reminder
	Warnings    []string
}

// merged are the settings of both: each of the user's own overrides that of
// the configuration (R6).
func merged(base, user Layer) *Settings {
	s := &Settings{Enabled: true, SkipTrivial: true, Producer: schema.DefaultProducer}
	for _, l := range []Layer{base, user} {
		override(&s.Enabled, l.Enabled)
		override(&s.SkipTrivial, l.SkipTrivial)
		override(&s.Producer, l.Producer)
		if l.Prompts != nil {
			s.Prompts = l.Prompts
		}
	}
	if user.Prompts == nil {
		s.Warnings = append(s.Warnings, base.Warnings...)
	}
	s.Warnings = append(append(s.Warnings, user.Warnings...), costs(s)...)
	return s
}

func override[T any](setting *T, with *T) {
	if with != nil {
		*setting = *with
	}
}

const placeholder = "Reminder"

// Rows makes reminders of rows as they stand in a file (R5): what is missing
// is made, what can't be taken has a default or goes, and each such thing is a
// warning. A nil row is one that is no object. The result is never nil.
func Rows(rows []*schema.ReminderRow) ([]schema.Reminder, []string) {
	r := reader{rows: []schema.Reminder{}, taken: map[string]bool{}}
	for _, row := range rows {
		if row != nil && row.ID != "" {
			r.given(row.ID)
		}
	}
	for i, row := range rows {
		r.at = "prompts[" + strconv.Itoa(i) + "]"
		switch {
		case row == nil:
			r.warn("is left out: it is no object with id, title and text")
		case len(r.rows) == schema.MaxReminders:
			r.warn("is left out: there are " + strconv.Itoa(schema.MaxReminders) + " before it")
		default:
			r.row(*row, i+1)
		}
	}
	return r.rows, r.warnings
}

// A reader goes through the rows of a list.
type reader struct {
	rows     []schema.Reminder
	taken    map[string]bool // ids
	at       string          // where the row is
	warnings []string
}

const maxWarnings = 50

func (r *reader) warn(what string) {
	switch {
	case len(r.warnings) < maxWarnings:
		r.warnings = append(r.warnings, r.at+" "+what)
	case len(r.warnings) == maxWarnings:
		r.warnings = append(r.warnings, "and more of that kind")
	}
}

func (r *reader) row(row schema.ReminderRow, number int) {
	text := ""
	if row.Text != nil {
		text = *row.Text
	}
	switch {
	case len(text) > schema.MaxReminderBytes:
		r.warn(fmt.Sprintf("is left out: its text is longer than %d bytes", schema.MaxReminderBytes))
		return
	case strings.IndexByte(text, 0) >= 0:
		r.warn("is left out: its text holds a NUL character")
		return
	}
	out := schema.Reminder{Title: r.title(row.Title), Text: text, Enabled: row.Enabled == nil || *row.Enabled}
	var known bool
	if out.Trigger, known = schema.ParseTrigger(row.Trigger); !known {
		r.warn("has an unknown trigger, which is taken for everyTurn; there are everyTurn and postCompaction")
	}
	if out.Producer = row.Producer; out.Producer != "" && !schema.ValidProducer(out.Producer) {
		r.warn("has a producer that can't be one, which is left out")
		out.Producer = ""
	}
	switch out.Retention = row.Retention; out.Retention {
	case "", schema.RetainTurn, schema.RetainKeep:
	default:
		r.warn("has an unknown retention, which is taken for turn; there are turn and keep")
		out.Retention = ""
	}
	out.ID = r.id(row.ID, number)
	r.rows = append(r.rows, out)
}

func (r *reader) title(title string) string {
	if len(title) > schema.MaxTitleBytes {
		r.warn(fmt.Sprintf("has a title longer than %d bytes, which is cut", schema.MaxTitleBytes))
		end := schema.MaxTitleBytes
		for !utf8.RuneStart(title[end]) {
			end--
		}
		title = title[:end]
	}
	return cmp.Or(strings.TrimSpace(title), placeholder)
}

// given notes an id that a row has itself, so that none is made that a later
// row has.
func (r *reader) given(id string) {
	if _, ok := r.taken[id]; !ok {
		r.taken[id] = false
	}
}

// id is the row's own id, made where it has none, with -2, -3, … where an
// earlier row has it.
func (r *reader) id(id string, number int) string {
	own := schema.ValidInjectorName(id)
	if !own && id != "" {
		r.warn("has an id that can't be one; it gets another")
	}
	if !own {
		id = "reminder-" + strconv.Itoa(number)
	}
	free := id
	for n := 2; r.used(free, own && free == id); n++ {
		free = id + "-" + strconv.Itoa(n)
	}
	if own && free != id {
		r.warn("has the id of an earlier row; it gets -2, -3, …")
	}
	r.taken[free] = true
	return free
}

// used tells whether a row has that id, or a later one will have it as its
// own.
func (r *reader) used(id string, own bool) bool {
	used, given := r.taken[id]
	return used || given && !own
}
