package config

import (
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-rpc/prism-rpc/inject/reminder"
	"github.com/prism-rpc/prism-rpc/inject/trivial"
	"github.com/prism-rpc/prism-rpc/schema"
)

// Reminders are the reminders under those that the user sets (R6), and the
// words that make a turn trivial beside the usual ones (R4).
type Reminders struct {
	Enabled      *bool        `json:"enabled,omitempty"`     // default true
	SkipTrivial  *bool        `json:"skipTrivial,omitempty"` // default true
	Producer     string       `json:"producer,omitempty" validate:"omitempty,producer"`
	Prompts      ReminderRows `json:"prompts,omitempty"`
	TrivialWords []string     `json:"trivialWords,omitempty"`
}

// ReminderRows are the reminders of the file, nil for a row that is no object.
// Keys and types are held to as everywhere in the file; what is missing, or
// can't be taken, is a warning as in the user's own file (R5).
type ReminderRows []*schema.ReminderRow

// UnmarshalJSONFrom reads a list of which not every entry need be an object.
func (r *ReminderRows) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == jsontext.KindNull {
		return dec.SkipValue()
	}
	if dec.PeekKind() != jsontext.KindBeginArray {
		return refuse(dec, "must be a list of reminders")
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	*r = ReminderRows{}
	for dec.PeekKind() != jsontext.KindEndArray {
		row, err := reminderRow(dec)
		if err != nil {
			return err
		}
		*r = append(*r, row)
	}
	_, err := dec.ReadToken()
	return err
}

func reminderRow(dec *jsontext.Decoder) (*schema.ReminderRow, error) {
	if dec.PeekKind() != jsontext.KindBeginObject {
		return nil, dec.SkipValue()
	}
	row := new(schema.ReminderRow)
	return row, json.UnmarshalDecode(dec, row)
}

func (s *Settings) checkReminders() *schema.ParamsError {
	if _, err := trivial.With(s.Reminders.TrivialWords); err != nil {
		return schema.BadField("reminders.trivialWords", "value", err.Error())
	}
	for i, row := range s.Reminders.Prompts {
		path := "reminders.prompts[" + strconv.Itoa(i) + "]"
		switch {
		case row == nil:
		case row.Text != nil && len(*row.Text) > schema.MaxReminderBytes:
			return schema.PastLimit(path+".text", schema.MaxReminderBytes, "bytes")
		case row.Producer != "" && !schema.ValidProducer(row.Producer):
			return schema.BadField(path+".producer", "producer", "can't be the name of who gives notices: letters, digits and . _ / @ -, and not plugin")
		}
	}
	return nil
}

// Layer is what the configuration says of reminders.
func (r Reminders) Layer() reminder.Layer {
	l := reminder.Layer{Enabled: r.Enabled, SkipTrivial: r.SkipTrivial}
	if r.Producer != "" {
		l.Producer = &r.Producer
	}
	if r.Prompts != nil {
		l.Prompts, l.Warnings = reminder.Rows(r.Prompts)
	}
	return l
}

// Trivial knows which input is trivial.
func (r Reminders) Trivial() *trivial.Table {
	table, err := trivial.With(r.TrivialWords)
	if err != nil {
		return nil // refused when the file was read
	}
	return table
}
