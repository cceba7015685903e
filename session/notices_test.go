package session_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject/reminder"
	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/memstore"
)

// rowsOf are messages as "turn role text", a notice as "turn [summary] text".
func rowsOf(page *schema.MessagesResult) []string {
	var out []string
	for _, m := range page.Messages {
		who := string(m.Role)
		if m.Source != nil {
			who = "[" + m.Source.Summary + "]"
		}
		out = append(out, strings.TrimSpace(fmt.Sprint(m.Turn, " ", who, " ", schema.PlainText(m.Content))))
	}
	return out
}

func noticed(t *testing.T, m *session.Manager, id string, text bool) []string {
	t.Helper()
	s, err := m.View(id)
	require.NoError(t, err)
	page, err := s.MessagesWithNotices(0, 100, text)
	require.NoError(t, err)
	return rowsOf(page)
}

func TestP26NoticesAreRowsForPeopleAlone(t *testing.T) {
	for name, store := range map[string]session.Store{"with a store": memstore.New(), "without": nil} {
		t.Run(name, func(t *testing.T) {
			m := newManager(t, session.Config{Provider: says("ok"), Store: store, Names: []string{"note"},
				Registry: registry(t, spec(t, schema.InjectorSpec{Name: "note", When: "every_turn", Placement: "notice", Title: "Note", Instructions: "Mind the gap."}))})
			ask(t, m, "s", "one", session.RunOptions{})
			ask(t, m, "s", "two", session.RunOptions{Names: []string{}})
			ask(t, m, "s", "three", session.RunOptions{})
			plain := []string{"1 user one", "1 assistant ok", "2 user two", "2 assistant ok", "3 user three", "3 assistant ok"}
			s, err := m.View("s")
			require.NoError(t, err)
			assert.Equal(t, plain, rowsOf(s.Messages(0, 100)))
			rows := []string{"1 user one", "1 [Note]", "1 assistant ok", "2 user two", "2 assistant ok", "3 user three", "3 [Note]", "3 assistant ok"}
			assert.Equal(t, rows, noticed(t, m, "s", false))
			texts := []string{"1 user one", "1 [Note] Mind the gap.", "1 assistant ok", "2 user two", "2 assistant ok", "3 user three", "3 [Note] Mind the gap.", "3 assistant ok"}
			assert.Equal(t, texts, noticed(t, m, "s", true))
			_, err = m.Fork("s", 1, "fork")
			require.NoError(t, err)
			assert.Equal(t, texts[:3], noticed(t, m, "fork", true), "a fork has them too")
		})
	}
}

func records(t *testing.T, store session.Store, id string) map[string][]map[string]any {
	t.Helper()
	out := map[string][]map[string]any{}
	require.NoError(t, store.Read(id, func(record []byte) error {
		var r map[string]any
		if err := json.Unmarshal(record, &r); err != nil {
			return err
		}
		kind, _ := r["t"].(string)
		out[kind] = append(out[kind], r)
		return nil
	}))
	return out
}

func TestP26TheLogKeepsANoticeOnceAndNoOtherInjectedText(t *testing.T) {
	store := memstore.New()
	on := true
	cfg := session.Config{Provider: says("ok"), Store: store, Names: []string{"note", "rule", "off"},
		Reminders: reminder.New(reminder.Options{Base: reminder.Layer{Enabled: &on, Prompts: []schema.Reminder{{ID: "plan", Title: "Plan", Text: "Read it.", Enabled: true, Trigger: schema.TriggerPostCompaction}}}}),
		Registry: registry(t,
			spec(t, schema.InjectorSpec{Name: "note", When: "every_turn", Placement: "notice", Title: "Note", Instructions: "Mind the gap."}),
			spec(t, schema.InjectorSpec{Name: "rule", When: "every_turn", Instructions: "Answer in JSON."}),
			spec(t, schema.InjectorSpec{Name: "off", When: "on_input", Predicate: "false", Instructions: "Never."}))}
	for range 2 { // the second time after a restart
		m, err := session.NewManager(cfg)
		require.NoError(t, err)
		ask(t, m, "s", "one", session.RunOptions{})
		ask(t, m, "s", "two", session.RunOptions{})
		require.NoError(t, m.Close())
	}
	got := records(t, store, "s")
	assert.Len(t, got["notice"], 1)
	assert.Equal(t, "Mind the gap.", got["notice"][0]["text"])
	all, err := json.Marshal(got)
	require.NoError(t, err)
	assert.NotContains(t, string(all), "Answer in JSON.")
	assert.NotContains(t, string(all), "Never.")

	turn := got["turn"][3]
	require.Len(t, turn["injected"], 2)
	assert.Equal(t, []any{map[string]any{"name": "off", "origin": "config", "placement": "system", "reason": "predicate_false"},
		map[string]any{"name": "plan", "origin": "user", "placement": "notice", "reason": "not_due"}}, turn["passed"])
}
