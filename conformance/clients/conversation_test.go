package clients

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type event struct {
	RunID    string `json:"runId"`
	Turn     int    `json:"turn"`
	Seq      int    `json:"seq"`
	Type     string `json:"type"`
	Name     string `json:"name"`
	Text     string `json:"text"`
	Position int    `json:"position"`
}

type turn struct {
	RunID      string `json:"runId"`
	Turn       int    `json:"turn"`
	Committed  bool   `json:"committed"`
	StopReason string `json:"stopReason"`
	Message    struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	} `json:"message"`
	Injected []struct {
		Name string `json:"name"`
	} `json:"injected"`
}

type failure struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    struct {
		Kind       string `json:"kind"`
		Suggestion string `json:"suggestion"`
	} `json:"data"`
}

func TestExamplesHoldTheirConversation(t *testing.T) {
	for _, c := range examples {
		t.Run(c.name, func(t *testing.T) {
			program, stderr := direct(t)
			shown := c.run(t, program)
			checkConversation(t, c, shown)
			said, err := os.ReadFile(stderr)
			require.NoError(t, err)
			assert.Empty(t, string(said), "the server's stderr")
		})
	}
}

func TestExamplesSayHowToRunThem(t *testing.T) {
	for _, c := range examples {
		text, err := os.ReadFile(filepath.Join(root, c.file))
		require.NoError(t, err)
		assert.Contains(t, string(text), strings.TrimSuffix(c.command, " -headers")+"\n", c.name)
	}
}

func checkConversation(t *testing.T, c client, shown transcript) {
	t.Helper()
	initialized := get[struct {
		ProtocolVersion int `json:"protocolVersion"`
		Capabilities    struct {
			Framing string `json:"framing"`
		} `json:"capabilities"`
	}](t, shown, "initialize")
	assert.Equal(t, 1, initialized.ProtocolVersion)
	assert.Equal(t, c.framing, initialized.Capabilities.Framing)

	first, story, next := get[turn](t, shown, "first"), get[turn](t, shown, "story"), get[turn](t, shown, "next")
	assert.Equal(t, []int{1, 2, 3}, []int{first.Turn, story.Turn, next.Turn}, "P3: the unknown name took no turn")
	assert.Equal(t, []string{"end_turn", "cancelled", "end_turn"}, []string{first.StopReason, story.StopReason, next.StopReason})
	assert.True(t, first.Committed && story.Committed && next.Committed)
	assert.Contains(t, first.text(), "json-always (system), project (context)")
	assert.True(t, strings.HasPrefix(story.text(), "Once "), story.text())
	assert.Equal(t, "You said: And then?", next.text())
	assert.Len(t, first.Injected, 2)

	checkUnknown(t, get[failure](t, shown, "unknown"))
	checkEvents(t, shown)
	for name, turn := range map[string]turn{"first": first, "story": story, "next": next} {
		checkEventsOf(t, shown, name, turn)
	}
	assert.Equal(t, []string{"json-always", "project"}, first.injectedBy(t, shown))
	assert.Empty(t, append(story.injectedBy(t, shown), next.injectedBy(t, shown)...), "P1: nothing that was not selected")
	assert.Equal(t, "null", string(shown[shown.at(t, "shutdown")].value))
	assert.Equal(t, 0, get[int](t, shown, "exit"))
}

func checkUnknown(t *testing.T, got failure) {
	t.Helper()
	want := failure{Code: -32001, Message: "Unknown instruction injector: json-allways"}
	want.Data.Kind, want.Data.Suggestion = "unknown_injector", "json-always"
	assert.Equal(t, want, got)
}

// checkEvents holds the events of all turns to their numbers and kinds.
func checkEvents(t *testing.T, shown transcript) {
	t.Helper()
	queued := 0
	for i, e := range shown.events(t) {
		require.Equal(t, i+1, e.Seq, "seq has no gap")
		if e.Type == "prompt_queued" {
			queued++
			assert.Equal(t, 1, e.Position)
			assert.Equal(t, get[turn](t, shown, "next").RunID, e.RunID)
		}
	}
	assert.Equal(t, 1, queued)
}

// checkEventsOf holds a turn's events to what came of it: they were shown
// before its answer, they end with turn_ended, and the deltas are the text.
func checkEventsOf(t *testing.T, shown transcript, name string, of turn) {
	t.Helper()
	all := shown.of(t, of.RunID)
	before := shown[:shown.at(t, name)].of(t, of.RunID)
	require.NotEmpty(t, all)
	assert.Equal(t, all, before, "%s: its events come before its answer", name)
	assert.Equal(t, "turn_ended", all[len(all)-1].Type, name)
	var text strings.Builder
	for _, e := range all {
		text.WriteString(e.Text)
	}
	assert.Equal(t, of.text(), text.String(), name)
}

func (tr transcript) events(t *testing.T) []event {
	t.Helper()
	var events []event
	for _, l := range tr {
		if l.name == "event" {
			events = append(events, decode[event](t, l.value))
		}
	}
	return events
}

// of are the events of one run.
func (tr transcript) of(t *testing.T, runID string) []event {
	t.Helper()
	var events []event
	for _, e := range tr.events(t) {
		if e.RunID == runID {
			events = append(events, e)
		}
	}
	return events
}

func (r turn) injectedBy(t *testing.T, shown transcript) []string {
	t.Helper()
	var names []string
	for _, e := range shown.of(t, r.RunID) {
		if e.Type == "injected" {
			names = append(names, e.Name)
		}
	}
	return names
}

func (r turn) text() string {
	if len(r.Message.Content) == 0 {
		return ""
	}
	return r.Message.Content[0].Text
}
