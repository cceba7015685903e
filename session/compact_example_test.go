package session_test

import (
	"context"
	"fmt"

	"github.com/prism-rpc/prism-rpc/provider/mock"
	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
)

func ExampleSession_Compact() {
	ctx := context.Background()
	m, err := session.NewManager(session.Config{Provider: mock.New(mock.WithScript([]mock.Entry{
		{Text: "Paris."}, {Text: "They talked about capitals."},
	}))})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close()
	s, err := m.Open("geography")
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := s.Run(ctx, []schema.ContentBlock{schema.TextBlock("The capital of France?")}, session.RunOptions{}); err != nil {
		fmt.Println(err)
		return
	}
	c, err := s.Compact(ctx, session.CompactOptions{Instructions: "Keep all names of places."})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Settle()
	result, err := c.Wait()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.TurnsReplaced, result.Generation)
	// Output: 1 1
}
