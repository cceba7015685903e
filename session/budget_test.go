package session_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
)

func TestP17_no_block_of_the_host_is_left_out_silently(t *testing.T) {
	block := func(title string) schema.ContextBlock {
		return schema.ContextBlock{Title: title, Content: schema.Input{schema.TextBlock(strings.Repeat("x", 400))}}
	}
	m := newManager(t, session.Config{
		Provider: says("ok"), MaxContextTokens: 50, CompactAt: 1, Blocks: []schema.ContextBlock{block("configured")},
	})
	var rec recorder
	ask(t, m, "s", "hi", session.RunOptions{
		OnEvent:       rec.take,
		Injectors:     []inject.Injector{inject.Static("mine", inject.Contribution{ContextBlocks: []schema.ContextBlock{block("a"), block("b")}})},
		ContextBlocks: []schema.ContextBlock{block("mine"), block(""), block("dark\u202e" + strings.Repeat("y", 200))},
	})
	var skipped []string
	for _, e := range rec.events {
		if sk, ok := e.(*schema.InjectorSkipped); ok {
			skipped = append(skipped, sk.Name+" "+sk.Reason)
		}
	}
	long := `dark\u202e` + strings.Repeat("y", 128-len(`dark\u202e…`)) + "…"
	assert.Equal(t, []string{
		"configured over_budget", "mine over_budget", "Context over_budget", long + " over_budget",
		"mine over_budget", // the injector, once, though a block of the host is called as it is
	}, skipped)
}
