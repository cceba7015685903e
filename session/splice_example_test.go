package session_test

import (
	"context"
	"fmt"

	"github.com/prism-rpc/prism-rpc/inject/ambient"
	"github.com/prism-rpc/prism-rpc/provider/mock"
	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
)

// What the host arms and what it splices end the system text of each turn.
func ExampleSession_Splice() {
	ctx := context.Background()
	model := mock.New()
	m, err := session.NewManager(session.Config{Provider: model, Base: "You are helpful.", Ambient: session.Ambient{
		On:    true,
		Armed: func(context.Context, string) ambient.Armed { return ambient.Armed{Modules: true, PlanMode: true} },
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close()
	s, err := m.Open("work")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, file := range []string{"main.go", "go.mod"} {
		if _, err := s.Splice(session.Splice{ID: "file", Name: "Open file", Content: file}); err != nil {
			fmt.Println(err)
			return
		}
	}
	result, err := s.Run(ctx, []schema.ContentBlock{schema.TextBlock("What is open?")}, session.RunOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, in := range result.Injected {
		fmt.Println(in.Name, in.Origin)
	}
	system := model.Requests()[0].Segments[0].Messages[0].Content[0].Text
	fmt.Println(system[len(system)-len("# Open file\ngo.mod"):])
	// Output:
	// Plan mode builtin
	// Open file splice
	// # Open file
	// go.mod
}
