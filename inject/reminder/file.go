package reminder

import (
	"bytes"
	"errors"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-rpc/prism-rpc/schema"
)

// ErrBroken reports a file that holds no JSON object.
var ErrBroken = errors.New("is not a JSON object")

// maxFileBytes is above what the largest list takes, each character escaped.
const maxFileBytes = 8 << 20

// lenient takes text as hand-made files have it.
var lenient = json.JoinOptions(jsontext.AllowInvalidUTF8(true), json.RejectUnknownMembers(false))

// A stored file is the members of its object; those that nothing here knows
// are kept.
type stored map[string]jsontext.Value

// parseStored reads the file's object; nothing is an empty one. The error
// wraps ErrBroken.
func parseStored(data []byte) (stored, error) {
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\ufeff")))
	if len(data) == 0 {
		return stored{}, nil
	}
	var s stored
	if err := json.Unmarshal(data, &s, lenient); err != nil || s == nil {
		return nil, ErrBroken
	}
	return s, nil
}

// layer is what the file says, as far as it can be taken (R5).
func (s stored) layer() Layer {
	var l Layer
	r := reader{}
	l.Enabled = boolean(&r, s, "enabled")
	l.SkipTrivial = boolean(&r, s, "skipTrivial")
	if raw, ok := s["producer"]; ok {
		if name := text(raw); schema.ValidProducer(name) {
			l.Producer = &name
		} else {
			r.warnings = append(r.warnings, "producer can't be one, and is left out")
		}
	}
	if raw, ok := s["prompts"]; ok {
		l.prompts(&r, raw)
	}
	l.Warnings = append(r.warnings, l.Warnings...)
	return l
}

func boolean(r *reader, s stored, name string) *bool {
	raw, ok := s[name]
	switch {
	case !ok:
		return nil
	case raw.Kind() != jsontext.KindTrue && raw.Kind() != jsontext.KindFalse:
		r.warnings = append(r.warnings, name+" must be true or false, and is left out")
		return nil
	}
	on := raw.Kind() == jsontext.KindTrue
	return &on
}

// text is a JSON string's text; empty if it is none.
func text(raw jsontext.Value) (s string) {
	if raw.Kind() != jsontext.KindString || json.Unmarshal(raw, &s, lenient) != nil {
		return ""
	}
	return s
}

// maxRows is how many rows of a file are looked at; a file within its bound can
// hold millions of nothing.
const maxRows = 1000

func (l *Layer) prompts(r *reader, raw jsontext.Value) {
	var list []jsontext.Value
	if raw.Kind() != jsontext.KindBeginArray || json.Unmarshal(raw, &list, lenient) != nil {
		r.warnings = append(r.warnings, "prompts must be a list, and is left out")
		return
	}
	if len(list) > maxRows {
		r.warnings = append(r.warnings, "prompts has more than "+strconv.Itoa(maxRows)+" rows; those behind are left out")
		list = list[:maxRows]
	}
	rows := make([]*schema.ReminderRow, len(list))
	for i, raw := range list {
		r.at = "prompts[" + strconv.Itoa(i) + "]"
		rows[i] = readRow(r, raw)
	}
	l.Prompts, l.Warnings = Rows(rows)
}

// readRow is a row of a file; nil when it is no object. A member of another
// type than it must have makes it say nothing: nobody knows what was meant.
func readRow(r *reader, raw jsontext.Value) *schema.ReminderRow {
	if raw.Kind() != jsontext.KindBeginObject {
		return nil
	}
	row := &schema.ReminderRow{}
	err := json.Unmarshal(raw, row, jsontext.AllowInvalidUTF8(true), json.RejectUnknownMembers(true))
	if errors.Is(err, json.ErrUnknownName) {
		r.warn("has a member that means nothing here")
		row = &schema.ReminderRow{}
		err = json.Unmarshal(raw, row, lenient)
	}
	if err != nil {
		off := false
		r.warn("is switched off: a member of it has the wrong type")
		return &schema.ReminderRow{ID: row.ID, Title: row.Title, Text: row.Text, Enabled: &off}
	}
	return row
}

// change puts a client's change into the members.
func (s stored) change(p *schema.SetRemindersParams) error {
	return errors.Join(
		patch(s, "enabled", p.Enabled), patch(s, "skipTrivial", p.SkipTrivial), patch(s, "producer", p.Producer), s.changePrompts(p.Prompts),
	)
}

// patch sets a member, or takes it away, where the field was given.
func patch[T any](s stored, name string, field schema.Patch[T]) error {
	switch {
	case !field.Given:
		return nil
	case field.Null:
		delete(s, name)
		return nil
	}
	raw, err := json.Marshal(field.Value)
	s[name] = raw
	return err
}

func (s stored) changePrompts(field schema.Patch[[]schema.ReminderRow]) error {
	rows := make([]*schema.ReminderRow, len(field.Value))
	for i := range field.Value {
		rows[i] = &field.Value[i]
	}
	made, _ := Rows(rows) // what it warns of is refused on the wire
	return patch(s, "prompts", schema.Patch[[]schema.Reminder]{Given: field.Given, Null: field.Null, Value: made})
}

// encode is the file with these members, for people to read too.
func (s stored) encode() ([]byte, error) {
	b, err := json.Marshal(s, lenient, json.Deterministic(true), jsontext.WithIndent("  "))
	return append(b, '\n'), err
}
