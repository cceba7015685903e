package rpc

import (
	"slices"

	"github.com/prism-rpc/prism-rpc/schema"
)

// shortPage keeps the first turns of a page that fit. Of a turn that does not
// fit alone it leaves out content, of the largest message first, and then the
// last notices. It is nil where that is not enough: a page with no turn would
// be asked for again and again.
func shortPage(page *schema.MessagesResult, room int) *schema.MessagesResult {
	const next = len(`,"nextAfterTurn":1234567890`)
	left := room - len(`{"messages":[]}`) - next
	short := &schema.MessagesResult{Messages: []schema.HistoryMessage{}, NextAfterTurn: page.NextAfterTurn}
	for rest := page.Messages; len(rest) > 0; {
		turn := firstTurn(rest)
		rest = rest[len(turn):]
		if len(short.Messages) == 0 {
			turn = withoutContent(turn, left)
			if sizeOfAll(turn) > left {
				left -= len(`,"cut":["messages"]`)
				turn, short.Cut = withoutNotices(turn, left), []string{"messages"}
			}
			if sizeOfAll(turn) > left {
				return nil
			}
		}
		if left -= sizeOfAll(turn); left < 0 {
			last := turn[0].Turn - 1
			short.NextAfterTurn = &last
			break
		}
		short.Messages = append(short.Messages, turn...)
	}
	return short
}

func firstTurn(messages []schema.HistoryMessage) []schema.HistoryMessage {
	n := 1
	for n < len(messages) && messages[n].Turn == messages[0].Turn {
		n++
	}
	return messages[:n]
}

// withoutContent leaves out what makes one turn's messages too large.
func withoutContent(turn []schema.HistoryMessage, room int) []schema.HistoryMessage {
	turn = slices.Clone(turn)
	sizes := make([]int, len(turn))
	total := 0
	for i := range turn {
		sizes[i] = sizeOf(&turn[i]) + len(",")
		total += sizes[i]
	}
	for total > room {
		i := largest(turn, sizes)
		if i < 0 {
			return turn // nothing is left to leave out
		}
		turn[i].MessageBytes = len(schema.PlainText(turn[i].Content))
		turn[i].Content = nil
		total -= sizes[i]
		sizes[i] = sizeOf(&turn[i]) + len(",")
		total += sizes[i]
	}
	return turn
}

// largest is the place of the largest message that has content; -1 without one.
func largest(messages []schema.HistoryMessage, sizes []int) int {
	at := -1
	for i, m := range messages {
		if len(m.Content) > 0 && (at < 0 || sizes[i] > sizes[at]) {
			at = i
		}
	}
	return at
}

// withoutNotices keeps the first of one turn's notices that there is room for.
func withoutNotices(turn []schema.HistoryMessage, room int) []schema.HistoryMessage {
	for _, m := range turn {
		if m.Source == nil {
			room -= sizeOf(&m) + len(",")
		}
	}
	return slices.DeleteFunc(turn, func(m schema.HistoryMessage) bool {
		if m.Source != nil {
			room -= sizeOf(&m) + len(",")
		}
		return m.Source != nil && room < 0
	})
}

// sizeOfAll is the size of messages in a list.
func sizeOfAll(messages []schema.HistoryMessage) (n int) {
	for i := range messages {
		n += sizeOf(&messages[i]) + len(",")
	}
	return n
}
