package reminder_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject/reminder"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
)

func row(id string, trigger schema.Trigger) schema.Reminder {
	return schema.Reminder{ID: id, Title: "Title of " + id, Text: "Text of " + id + ".", Enabled: true, Trigger: trigger}
}

func reasons(ds []reminder.Decision) map[string]schema.Reason {
	out := map[string]schema.Reason{}
	for _, d := range ds {
		out[d.ID] = d.Reason
	}
	return out
}

func TestDecideR1R2R3(t *testing.T) {
	off, blank, nul := row("off", "everyTurn"), row("blank", "everyTurn"), row("nul", "everyTurn")
	off.Enabled, blank.Text, nul.Text = false, " \n", "a\x00b"
	rows := []schema.Reminder{row("every", "everyTurn"), row("after", "postCompaction"), off, blank, nul}
	for claim, tt := range map[string]struct {
		disabled, wordy bool // the master switch is off; skipTrivial is off
		turn            reminder.Turn
		every, after    schema.Reason
	}{
		"a substantive turn":                      {turn: reminder.Turn{}, every: "applied", after: "not_due"},
		"a trivial one":                           {turn: reminder.Turn{Trivial: true}, every: "trivial", after: "not_due"},
		"a trivial one where none is skipped":     {wordy: true, turn: reminder.Turn{Trivial: true}, every: "applied", after: "not_due"},
		"after a compaction":                      {turn: reminder.Turn{Generation: 1}, every: "applied", after: "applied"},
		"never on a trivial turn":                 {wordy: true, turn: reminder.Turn{Trivial: true, Generation: 1}, every: "applied", after: "trivial"},
		"once for a generation":                   {turn: reminder.Turn{Generation: 1, Reminded: map[string]int{"after": 1}}, every: "applied", after: "not_due"},
		"once more for the next, however many":    {turn: reminder.Turn{Generation: 3, Reminded: map[string]int{"after": 1}}, every: "applied", after: "applied"},
		"each reminder for itself":                {turn: reminder.Turn{Generation: 1, Reminded: map[string]int{"other": 1}}, every: "applied", after: "applied"},
		"the master switch":                       {disabled: true, turn: reminder.Turn{Generation: 1}, every: "disabled", after: "disabled"},
		"the master switch on a trivial turn too": {disabled: true, turn: reminder.Turn{Trivial: true}, every: "disabled", after: "disabled"},
	} {
		t.Run(claim, func(t *testing.T) {
			s := &reminder.Settings{Enabled: !tt.disabled, SkipTrivial: !tt.wordy, Producer: "prism-rpc", Prompts: rows}
			got := s.Decide(tt.turn)
			require.Len(t, got, len(rows), "each has a reason")
			for i, d := range got {
				assert.Equal(t, rows[i].ID, d.ID, "in list order")
			}
			broken := schema.ReasonError
			if tt.disabled {
				broken = schema.ReasonDisabled
			}
			assert.Equal(t, map[string]schema.Reason{"every": tt.every, "after": tt.after, "off": "disabled", "blank": "disabled", "nul": broken}, reasons(got))
		})
	}
}

func TestNoticeR1R7R8(t *testing.T) {
	own := row("wiki", "everyTurn")
	own.Producer, own.Retention, own.Title = "team", "keep", strings.Repeat("é", 200)
	s := &reminder.Settings{Enabled: true, Producer: "host", Prompts: []schema.Reminder{own, row("b", "everyTurn")}}
	got := s.Decide(reminder.Turn{})
	a, b := got[0].Notice(nil, nil), got[1].Notice(nil, nil)
	assert.Equal(t, reminder.Notice{ID: "wiki", Text: "Text of wiki.", Kind: "plugin:team", Summary: strings.Repeat("é", 119) + "…", Keep: true}, a)
	assert.Equal(t, reminder.Notice{ID: "b", Text: "Text of b.", Kind: "plugin:host", Summary: "Title of b"}, b)
	assert.Equal(t, schema.Injected{
		Name: "b", Origin: "user", Placement: "notice", When: "every_turn", Bytes: 10, SHA256: hashOf("Text of b."),
		Kind: "plugin:host", Form: "notice", Summary: "Title of b",
	}, b.Injected())
}

func TestNoSecretR9P26(t *testing.T) {
	red, err := redact.New(redact.Value{Secret: redact.NewSecret("canary-secret-42")})
	require.NoError(t, err)
	hot := schema.Reminder{ID: "canary-secret-42", Title: "canary-secret-42", Text: "use canary-secret-42", Enabled: true, Trigger: "everyTurn", Producer: "canary-secret-42"}
	s := &reminder.Settings{Enabled: true, Prompts: []schema.Reminder{hot}, Warnings: []string{"canary-secret-42"}, Producer: "canary-secret-42"}
	d := s.Decide(reminder.Turn{Redactor: red})[0]
	n := d.Notice(red, nil)
	wire := s.Wire(red)
	for _, text := range []string{n.ID, n.Text, n.Kind, n.Summary, n.Injected().Name, wire.Producer, wire.Prompts[0].ID, wire.Prompts[0].Title, wire.Prompts[0].Text, wire.Prompts[0].Producer, wire.Warnings[0]} {
		assert.NotContains(t, text, "canary-secret-42")
		assert.NotEmpty(t, text)
	}
	assert.Equal(t, "applied", string(d.Reason))

	// A generation counts for the id as it is kept.
	hot.Trigger = "postCompaction"
	s.Prompts = []schema.Reminder{hot}
	again := s.Decide(reminder.Turn{Redactor: red, Generation: 2, Reminded: map[string]int{n.ID: 2}})
	assert.Equal(t, "not_due", string(again[0].Reason))
}

func TestRevisionIsOfTheContentR6(t *testing.T) {
	a := &reminder.Settings{Enabled: true, Prompts: []schema.Reminder{row("a", "everyTurn")}}
	b := &reminder.Settings{Enabled: true, Prompts: []schema.Reminder{row("a", "everyTurn")}, Warnings: []string{"w"}}
	c := &reminder.Settings{Enabled: true, Prompts: []schema.Reminder{row("b", "everyTurn")}}
	assert.Equal(t, a.Wire(nil).Revision, b.Wire(nil).Revision)
	assert.NotEqual(t, a.Wire(nil).Revision, c.Wire(nil).Revision)
	assert.NotEqual(t, a.Wire(nil).Revision, (&reminder.Settings{}).Wire(nil).Revision)
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
