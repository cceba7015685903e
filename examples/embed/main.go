// Command embed holds a conversation in process, without a child, on the
// offline mock provider. Each file shows one thing that a Go host can do:
//
//	injectors.go   named injectors: data, Go functions, conditions
//	bundles.go     injectors of a workspace: who may read what, who runs code
//	context.go     context blocks: a provider of them, middleware, ambient ones
//	reminders.go   what stands behind the input of each turn
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/prism-rpc/prism-rpc/assemble"
	"github.com/prism-rpc/prism-rpc/provider/mock"
	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) error {
	registry, err := injectors()
	if err != nil {
		return err
	}
	listed, err := bundles(ctx, registry)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "bundles: %s\n", strings.Join(listed, ", "))
	model := mock.New()
	manager, err := session.NewManager(session.Config{
		Provider:   model,
		Base:       "You are helpful.",
		Registry:   registry,
		Names:      []string{"json-always"}, // of every turn that names none
		Context:    []assemble.ContextProvider{openFiles{"main.go", "secret.env"}},
		Middleware: []assemble.Middleware{withoutEnv},
		Ambient:    ambientBlocks(),
		Reminders:  reminders(),
	})
	if err != nil {
		return err
	}
	defer manager.Close()
	if err := converse(ctx, manager, out); err != nil {
		return err
	}
	fmt.Fprintf(out, "the provider was called %d times\n", len(model.Requests()))
	return nil
}

func converse(ctx context.Context, manager *session.Manager, out io.Writer) error {
	conversation, err := manager.Open("demo")
	if err != nil {
		return err
	}
	if _, err := conversation.Splice(session.Splice{Name: "Branch", Content: "The branch is main."}); err != nil {
		return err
	}
	question := []schema.ContentBlock{schema.TextBlock("What is JSON?")}
	for _, names := range [][]string{nil, {}, {"on-json", "house-rules", "clock"}} {
		turn, err := conversation.Run(ctx, question, session.RunOptions{Names: names})
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "turn %d injected %s\n", turn.Turn, list(turn.Injected))
	}
	return show(ctx, manager, out, question)
}

// show tells what the next turn would send, and sends nothing.
func show(ctx context.Context, manager *session.Manager, out io.Writer, input []schema.ContentBlock) error {
	preview, err := manager.Preview(session.Start{SessionID: "demo", Input: input}, 0, false)
	if err != nil {
		return err
	}
	result, err := preview.Result(ctx)
	if err != nil {
		return err
	}
	for _, layer := range result.Layers {
		fmt.Fprintf(out, "turn %d: %s, %s: %s\n", result.Turn, layer.Name, layer.Placement, layer.Reason)
	}
	return nil
}

func list(injected []schema.Injected) string {
	names := make([]string, len(injected))
	for i, in := range injected {
		names[i] = in.Name
	}
	return strings.Join(names, ", ")
}
