package rpc

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/schema"
)

func TestNotifier_KeepsABoundedNumberUntilTheFirstReply(t *testing.T) {
	n := new(Notifier)
	for i := range 2 * maxHeldNotices {
		n.Notify(schema.Notice{Kind: schema.NoticeConfigWarning, Message: fmt.Sprint(i)})
	}
	var sent []string
	lost := n.open(func(n schema.Notice) { sent = append(sent, n.Message) })
	assert.Len(t, sent, maxHeldNotices)
	assert.Equal(t, "0", sent[0], "the first ones are kept, in order")
	assert.Equal(t, maxHeldNotices, lost)
	n.Notify(schema.Notice{Message: "later"})
	assert.Equal(t, "later", sent[len(sent)-1])
}

// Notices from elsewhere and an initialize must not wait for each other.
func TestNotifier_MayBeUsedWhileServing(t *testing.T) {
	n := new(Notifier)
	p := serving(t, Options{Notifier: n})
	p.ask("ping", "{}")
	var raising sync.WaitGroup
	for range 4 {
		raising.Go(func() {
			for range 50 {
				n.Notify(schema.Notice{Level: schema.LevelInfo, Kind: schema.NoticeStoreRepaired, Message: "m"})
			}
		})
	}
	p.ask("initialize", `{"initializationOptions":{"redact":[{"value":"12345678"}]}}`)
	go func() { raising.Wait(); n.Notify(schema.Notice{Kind: schema.NoticeConfigWarning}) }() // read below
	for {
		if a := p.recv(); strings.Contains(string(a.Params), "config_warning") {
			return
		}
	}
}

func TestNotices_FitAMessage(t *testing.T) {
	for name, notice := range map[string]schema.Notice{
		"a long message":   {Message: strings.Repeat("\x00\"", 10_000)},
		"long data":        {Message: "m", Data: map[string]any{"a": strings.Repeat("\x00\"", 10_000)}},
		"much data":        {Message: "m", Data: map[string]any{"a": many(1000, "name")}},
		"data of no shape": {Message: "m", Data: map[string]any{"a": func() {}}},
	} {
		t.Run(name, func(t *testing.T) {
			notice.Level, notice.Kind = schema.LevelWarning, schema.NoticeConfigWarning
			p := serving(t, Options{Notices: []schema.Notice{notice}})
			p.ask("initialize", `{"initializationOptions":{"maxMessageBytes":4096}}`)
			got := p.recv()
			assert.Equal(t, "notice", got.Method)
			var n schema.Notice
			require.NoError(t, json.Unmarshal(got.Params, &n))
			assert.Equal(t, notice.Kind, n.Kind)
			assert.NotEmpty(t, n.Message)
			assert.LessOrEqual(t, p.most, 4096)
		})
	}
}
