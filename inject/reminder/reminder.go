// Package reminder keeps the messages that remind the model of something on
// each turn, or after a compaction, and decides which of them a turn carries
// (requirements R1–R9).
//
//	Store.Settings   what is in force: the configuration, and over it the user's file
//	Settings.Decide  of each reminder, whether the turn carries it, and why not
//	Decision.Notice  what stands in the request and is reported of it
//
// A reminder reminds: its text goes into requests as it is, and nowhere else.
package reminder

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
)

// Settings are the reminders in force. They are not to be changed.
type Settings struct {
	Enabled     bool
	SkipTrivial bool
	Producer    string
	Prompts     []schema.Reminder
	Warnings    []string
}

// Wire is s as it is told, without secrets. Its revision is a hash of all of
// it.
func (s *Settings) Wire(red *redact.Redactor) schema.Reminders {
	out := schema.Reminders{
		Enabled: s.Enabled, SkipTrivial: s.SkipTrivial, Producer: red.Text(s.Producer, nil),
		Prompts: make([]schema.Reminder, len(s.Prompts)), Warnings: make([]string, len(s.Warnings)),
	}
	for i, row := range s.Prompts {
		out.Prompts[i] = hidden(row, red)
	}
	out.Revision = revision(out)
	for i, w := range s.Warnings {
		out.Warnings[i] = red.Text(w, nil)
	}
	return out
}

func hidden(row schema.Reminder, red *redact.Redactor) schema.Reminder {
	for _, field := range []*string{&row.ID, &row.Title, &row.Text, &row.Producer} {
		*field = red.Text(*field, nil)
	}
	return row
}

// revision tells settings from others; warnings, which follow from them, don't
// count.
func revision(r schema.Reminders) string {
	r.Revision, r.Warnings = "", nil
	b, err := json.Marshal(r, json.Deterministic(true))
	if err != nil {
		panic("reminders have no encoding: " + err.Error()) // they were read from JSON
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// A Turn is what decides which reminders are due.
type Turn struct {
	Trivial    bool           // the turn's own input only acknowledges, greets or says to go on (R4)
	Generation int            // the session's compactions, so far
	Reminded   map[string]int // by a reminder's id, without secrets: the generation for which it was given last
	Redactor   *redact.Redactor
}

// A Decision says whether a turn carries a reminder, and why not: the reason
// is applied, not_due, trivial, disabled or error. ID, Title and Producer of
// the row are without secrets; Producer is the one that holds for it.
type Decision struct {
	schema.Reminder
	Reason schema.Reason
}

// Applied tells whether the turn carries the reminder.
func (d Decision) Applied() bool { return d.Reason == schema.ReasonApplied }

// Decide decides on each reminder, in list order (R1–R3). The same settings
// and turn give the same decisions.
func (s *Settings) Decide(t Turn) []Decision {
	out := make([]Decision, len(s.Prompts))
	for i, row := range s.Prompts {
		row.Producer = cmp.Or(row.Producer, s.Producer)
		row.ID, row.Title, row.Producer = t.Redactor.Text(row.ID, nil), t.Redactor.Text(row.Title, nil), t.Redactor.Text(row.Producer, nil)
		out[i] = Decision{row, s.reason(row, t)}
	}
	return out
}

func (s *Settings) reason(row schema.Reminder, t Turn) schema.Reason {
	after := row.Trigger == schema.TriggerPostCompaction
	switch {
	case !s.Enabled, !row.Enabled, strings.TrimSpace(row.Text) == "":
		return schema.ReasonDisabled
	case len(row.Text) > schema.MaxReminderBytes, !utf8.ValidString(row.Text), strings.IndexByte(row.Text, 0) >= 0:
		return schema.ReasonError
	case after && t.Generation <= t.Reminded[row.ID]:
		return schema.ReasonNotDue
	case t.Trivial && (after || s.SkipTrivial):
		return schema.ReasonTrivial
	}
	return schema.ReasonApplied
}

// A Notice is a reminder as a request carries it, without secrets.
type Notice struct {
	ID      string
	Text    string
	Kind    string
	Summary string
	Keep    bool // it stays in the dialogue
}

// Notice is what the turn carries of a reminder that applies.
func (d Decision) Notice(red *redact.Redactor, tally *redact.Tally) Notice {
	return Notice{
		ID: d.ID, Text: red.Text(d.Text, tally), Kind: inject.NoticeKind(d.Producer),
		Summary: inject.Summary(d.Title, d.ID), Keep: d.Retention == schema.RetainKeep,
	}
}

// Injected reports n.
func (n Notice) Injected() schema.Injected {
	sum := sha256.Sum256([]byte(n.Text))
	return schema.Injected{
		Name: n.ID, Origin: schema.OriginUser, Placement: schema.PlaceNotice, When: schema.WhenEveryTurn,
		Bytes: len(n.Text), SHA256: hex.EncodeToString(sum[:]),
		Kind: n.Kind, Form: inject.NoticeForm, Summary: n.Summary,
	}
}

// Injected reports a list of them.
func Injected(notices []Notice) []schema.Injected {
	var out []schema.Injected
	for _, n := range notices {
		out = append(out, n.Injected())
	}
	return out
}

// What is warned of (R5).
const (
	longText  = 500 // characters
	manyEvery = 5   // reminders on every turn
)

// costs warns of what makes every turn dearer, and the model deaf.
func costs(s *Settings) (out []string) {
	every := 0
	for _, row := range s.Prompts {
		if row.Trigger == schema.TriggerEveryTurn && row.Enabled {
			every++
		}
		if n := utf8.RuneCountInString(row.Text); n > longText {
			out = append(out, row.ID+": the text has "+strconv.Itoa(n)+" characters; a good reminder is a sentence or two")
		}
	}
	if every > manyEvery {
		out = append(out, strconv.Itoa(every)+" reminders stand in every turn; more than "+strconv.Itoa(manyEvery)+" are hardly heeded")
	}
	return out
}
