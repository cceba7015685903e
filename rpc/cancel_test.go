package rpc

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/provider/mock"
	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
)

func cancelID(id string) string { return notification("$/cancelRequest", `{"id":`+id+`}`) }

// U1: a cancel that comes before its request.
func TestCancel_U1_BeforeItsRequest(t *testing.T) {
	const hung = `{"jsonrpc":"2.0","id":1` + cancelledReply
	for name, input := range map[string][]string{
		"right before":            {cancelID("1"), request("1", "hang", "{}")},
		"twice":                   {cancelID("1"), cancelID("1"), request("1", "hang", "{}")},
		"before and after":        {cancelID("1"), request("1", "hang", "{}"), cancelID("1")},
		"with others between":     {cancelID("1"), ping2, cancelID("7"), ping3, request("1", "hang", "{}")},
		"before a notification":   {cancelID("1"), notification("ping", "{}"), request("1", "hang", "{}")},
		"in the request's batch":  {array(cancelID("1"), request("1", "hang", "{}"))},
		"after as many as may be": append(earlyOthers(earlyIDs-1), cancelID("1"), request("1", "hang", "{}")),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				out := lines(t, testOptions(), strings.Join(input, "\n"))
				assert.Contains(t, strings.Join(out, "\n"), hung)
				assert.Zero(t, time.Since(start), "it did not wait for the end")
			})
		})
	}
}

func earlyOthers(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = cancelID(fmt.Sprintf(`"other %d"`, i))
	}
	return out
}

// U2: a late cancel is not one for the next request of its id.
func TestCancel_U2_OfAnAnsweredRequestMeetsNoOther(t *testing.T) {
	for name, input := range map[string][]string{
		"at once":                    {ping1, cancelID("1"), request("1", "slow", "1")},
		"after many others":          append(append([]string{ping1}, repeated(recentIDs)[2:]...), cancelID("1"), request("1", "slow", "1")),
		"one of many that came late": append(append(earlyOthers(1), earlyOthers(2 * earlyIDs)[earlyIDs:]...), request(`"other 0"`, "slow", "1")),
	} {
		t.Run(name, func(t *testing.T) {
			o := testOptions()
			o.methods["slow"] = func(c *call, _ []byte) (reply, error) {
				return reply{wait: func() (any, error) { return "lived", c.ctx.Err() }}, nil
			}
			out := lines(t, o, strings.Join(input, "\n"))
			assert.Contains(t, out[len(out)-1], `"lived"`)
		})
	}
}

// U4: 10,000 deltas at once, and then the end.
func TestTurn_U4_NoEventComesAfterItsReply(t *testing.T) {
	deltas := make([]string, 10_000)
	for i := range deltas {
		deltas[i] = fmt.Sprintf("%d ", i)
	}
	p := servingWith(t, Options{}, session.Config{}, mock.Entry{Deltas: deltas, Repeat: true})
	for turn := 1; turn <= 3; turn++ {
		id := p.send("prompt", `{"input":"hi"}`)
		var said strings.Builder
		var last schema.EventType
		for {
			a := p.recv()
			if string(a.ID) == id {
				var result schema.TurnResult
				require.NoError(t, json.Unmarshal(a.Result, &result))
				assert.Equal(t, said.String(), schema.PlainText(result.Message.Content))
				break
			}
			var ev schema.MessageDelta
			require.NoError(t, json.Unmarshal(a.Params, &ev))
			require.Equal(t, turn, ev.Turn, "nothing of an earlier turn")
			said.WriteString(ev.Text)
			last = ev.Type
		}
		assert.Equal(t, schema.EventTurnEnded, last)
	}
	assert.Equal(t, "4", string(p.ask("ping", "{}").ID))
}

// U1: however fast the model is, a turn that was cancelled first calls it not
// once.
func TestTurn_U1_CancelledBeforeItCameIsNeverRun(t *testing.T) {
	model := mock.New()
	p := servingWith(t, Options{}, session.Config{Providers: map[string]provider.Provider{"other": model}})
	for i := range 200 {
		id := fmt.Sprintf(`"early %d"`, i)
		_, err := fmt.Fprintf(p.in, "%s\n%s\n", cancelID(id), request(id, "prompt", fmt.Sprintf(`{"sessionId":"s%d","input":"hi","model":"other/m"}`, i)))
		require.NoError(t, err)
		a := p.recv()
		require.Equal(t, id, string(a.ID), "it has no event")
		assert.Contains(t, string(a.Result), `"stopReason":"cancelled"`)
	}
	assert.Empty(t, model.Requests())
}
