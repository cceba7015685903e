package session_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject/reminder"
	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/memstore"
)

func reminderReasons(result *schema.PreviewResult) map[string]schema.Reason {
	out := map[string]schema.Reason{}
	for _, l := range result.Layers {
		if l.Source == "reminder" {
			out[l.Name] = l.Reason
		}
	}
	return out
}

// R1–R3: a preview has a reason for each reminder, and the turn's very notices.
func TestPreviewSaysWhyOfRemindersR1R3(t *testing.T) {
	p := summarises(counting("yes"), counting("SUM"))
	rows := []schema.Reminder{
		{ID: "every", Text: "Text of every.", Title: "Every", Enabled: true, Trigger: "everyTurn", Retention: "keep"},
		{ID: "after", Text: "Text of after.", Enabled: true, Trigger: "postCompaction"},
		{ID: "off", Text: "x", Trigger: "everyTurn"},
	}
	store := reminder.New(reminder.Options{Base: reminder.Layer{Prompts: rows}})
	m := newManager(t, session.Config{Provider: p, Store: memstore.New(), Reminders: store})
	got := preview(t, m, "a question", session.RunOptions{})
	assert.Equal(t, map[string]schema.Reason{"every": "applied", "after": "not_due", "off": "disabled"}, reminderReasons(got))
	assert.Equal(t, map[string]schema.Reason{"every": "trivial", "after": "not_due", "off": "disabled"}, reminderReasons(preview(t, m, "ok", session.RunOptions{})))
	last := got.Request.Segments[len(got.Request.Segments)-1]
	assert.Equal(t, "notices", last.Kind)
	assert.Equal(t, &schema.Source{Kind: "plugin:prism-rpc", Form: "notice", Summary: "Every"}, last.Messages[0].Source)

	result := ask(t, m, "s", "a question", session.RunOptions{})
	assert.Equal(t, result.Injected[0].SHA256, got.Layers[len(got.Layers)-3].SHA256)
	mustCompact(t, m, "s")
	got = preview(t, m, "another question", session.RunOptions{})
	assert.Equal(t, map[string]schema.Reason{"every": "applied", "after": "applied", "off": "disabled"}, reminderReasons(got))
	assert.Equal(t, []string{"every", "after"}, names(ask(t, m, "s", "another question", session.RunOptions{}).Injected), "a preview uses nothing up")

	whole, err := m.Preview(session.Start{SessionID: "s", Input: input("and now?")}, 0, true)
	require.NoError(t, err)
	shown, err := whole.Result(t.Context())
	require.NoError(t, err)
	kept := 0
	for _, message := range shown.Request.Segments[0].Messages {
		if message.Source != nil {
			kept++
		}
	}
	assert.Equal(t, 1, kept, "a kept notice shows as one")
}
