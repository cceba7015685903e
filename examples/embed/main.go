// Command embed holds a conversation in process, without a child: two named
// injectors, one of them a Go function, and the offline mock provider.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/prism-rpc/prism-rpc/inject"
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
	model := mock.New()
	manager, err := session.NewManager(session.Config{
		Provider: model,
		Base:     "You are helpful.",
		Registry: registry,
		Names:    []string{"json-always"}, // of every turn that names none
	})
	if err != nil {
		return err
	}
	defer manager.Close()
	conversation, err := manager.Open("demo")
	if err != nil {
		return err
	}
	for _, names := range [][]string{nil, {}, {"on-json"}} {
		turn, err := conversation.Run(ctx, []schema.ContentBlock{schema.TextBlock("What is JSON?")}, session.RunOptions{Names: names})
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "turn %d injected %s\n", turn.Turn, list(turn.Injected))
	}
	fmt.Fprintf(out, "the provider was called %d times\n", len(model.Requests()))
	return nil
}

func injectors() (*inject.Registry, error) {
	registry := &inject.Registry{}
	for _, injector := range []inject.Injector{
		inject.Static("json-always", inject.Contribution{Instructions: "Always answer in JSON."}),
		inject.Func("on-json", func(context.Context, inject.Context) (inject.Contribution, error) {
			return inject.Contribution{
				Instructions: "Reply with JSON.",
				When:         schema.WhenOnInput,
				Predicate: func(c inject.Context) bool {
					return strings.Contains(strings.ToLower(schema.PlainText(c.Input)), "json")
				},
			}, nil
		}),
	} {
		if _, err := registry.Register(injector, schema.OriginHost); err != nil {
			return nil, err
		}
	}
	return registry, nil
}

func list(injected []schema.Injected) string {
	if len(injected) == 0 {
		return "nothing"
	}
	names := make([]string, len(injected))
	for i, in := range injected {
		names[i] = in.Name
	}
	return strings.Join(names, ", ")
}
