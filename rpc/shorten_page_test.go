package rpc

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/schema"
)

// noticedTurn is a turn with n notices, each of a title and a text of these
// sizes.
func noticedTurn(turn, n, title, text int) (out []schema.HistoryMessage) {
	out = append(out, schema.HistoryMessage{Turn: turn, Role: schema.RoleUser, Content: schema.AssistantText("in").Content})
	for i := range n {
		content := []schema.ContentBlock{}
		if text > 0 {
			content = append(content, schema.TextBlock(strings.Repeat("t", text)))
		}
		summary := fmt.Sprint(i, strings.Repeat("s", title))
		out = append(out, schema.HistoryMessage{Turn: turn, Role: schema.RoleUser, Content: content, Source: &schema.Source{Kind: "plugin:p", Form: "notice", Summary: summary}})
	}
	return append(out, schema.HistoryMessage{Turn: turn, Role: schema.RoleAssistant, Content: schema.AssistantText("out").Content})
}

func TestShortenR1APageOfNoticesAlwaysHoldsATurn(t *testing.T) {
	const room = 4096
	for claim, tt := range map[string]struct {
		notices, title, text int
		all                  bool
	}{
		"texts go first":              {8, 20, 16_000, true},
		"then the last notices":       {64, 120, 16_000, false},
		"of notices without text too": {64, 120, 0, false},
		"one title is too large":      {1, 4090, 10, false},
	} {
		t.Run(claim, func(t *testing.T) {
			page := &schema.MessagesResult{Messages: append(noticedTurn(7, tt.notices, tt.title, tt.text), noticedTurn(8, 1, 1, room)...)}
			short := shorten(page, room).(*schema.MessagesResult)
			assert.LessOrEqual(t, sizeOf(short), room)
			require.NotNil(t, short.NextAfterTurn)
			assert.Equal(t, 7, *short.NextAfterTurn)
			got := short.Messages
			require.GreaterOrEqual(t, len(got), 2)
			assert.True(t, got[0].Content != nil || got[0].MessageBytes == 2)
			assert.Equal(t, schema.RoleAssistant, got[len(got)-1].Role)
			assert.Equal(t, tt.all, len(got) == tt.notices+2)
			assert.Equal(t, !tt.all, short.Cut != nil)
			assert.Equal(t, 7, got[len(got)-1].Turn)
			for i, m := range got[1 : len(got)-1] {
				assert.True(t, strings.HasPrefix(m.Source.Summary, fmt.Sprint(i)), "the first ones stay")
				if tt.text == 0 {
					assert.NotNil(t, m.Content, "what has no text has none left out")
				}
			}
		})
	}
	assert.Nil(t, shorten(&schema.MessagesResult{Messages: noticedTurn(1, 0, 0, 0)}, 60), "no page is better than one that is asked for for ever")
}

func TestShortenR7AnEventKeepsTheBeginningOfALongSummary(t *testing.T) {
	ev := &schema.InjectedEvent{Injected: schema.Injected{Name: "n", Summary: strings.Repeat("é", 2048)}}
	short := shorten(ev, 4000).(*schema.InjectedEvent)
	assert.LessOrEqual(t, sizeOf(short), 4000)
	assert.Greater(t, len(short.Summary), 3000)
}

func TestRemindersThatDoNotFitAMessageAreSavedAndToldR6(t *testing.T) {
	p := serving(t, Options{})
	p.must("initialize", `{"initializationOptions":{"maxMessageBytes":4096}}`, new(jsontext.Value))
	rows := make([]string, 64)
	for i := range rows {
		rows[i] = fmt.Sprintf(`{"id":"r%d","text":%q}`, i, strings.Repeat("x", 500))
	}
	var set, got schema.Reminders
	p.must("setReminders", `{"prompts":[`+strings.Join(rows, ",")+`]}`, &set)
	assert.Equal(t, []string{"prompts"}, set.Cut)
	p.must("getReminders", `{}`, &got)
	assert.Equal(t, set, got, "what was saved is never answered by an error")
	require.Greater(t, len(got.Prompts), 3)
	assert.Len(t, got.Prompts[3].Text, 500, "no text is cut")
	p.must("setReminders", `{"enabled":false,"revision":"`+got.Revision+`"}`, &set)
	assert.NotNil(t, p.ask("setReminders", `{"prompts":[],"cut":["prompts"]}`).Error, "what is cut can't be sent back as it came")
}
