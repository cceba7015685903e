package inject_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/schema"
)

// Three injectors: one for every turn, one for the first, one for turns that
// ask for it.
func Example() {
	var registry inject.Registry
	for _, inj := range []inject.Injector{
		inject.Static("json-always", inject.Contribution{Instructions: "Answer in JSON."}),
		inject.Static("project", inject.Contribution{
			When:          schema.WhenFirstTurn,
			ContextBlocks: []schema.ContextBlock{{Title: "Repo", Content: schema.Input{schema.TextBlock("A monorepo.")}}},
		}),
		inject.Static("on-json", inject.Contribution{
			When:         schema.WhenOnInput,
			Instructions: "Reply with JSON.",
			Predicate: func(c inject.Context) bool {
				return strings.Contains(strings.ToLower(schema.PlainText(c.Input)), "json")
			},
		}),
	} {
		if _, err := registry.Register(inj, schema.OriginHost); err != nil {
			fmt.Println(err)
		}
	}
	selected, err := registry.Resolve([]string{"json-always", "project", "on-json"})
	if err != nil {
		fmt.Println(err)
	}
	for turn, input := range []string{"Hello.", "As Json, please."} {
		decisions, err := inject.Apply(context.Background(), selected,
			inject.Context{Turn: turn + 1, Input: []schema.ContentBlock{schema.TextBlock(input)}}, nil, nil, inject.Options{})
		if err != nil {
			fmt.Println(err)
		}
		for _, a := range decisions.Applied() {
			for _, i := range a.Injected() {
				fmt.Println(turn+1, i.Name, i.Placement, i.When, i.Bytes)
			}
		}
	}
	// Output:
	// 1 json-always system every_turn 15
	// 1 project context first_turn 17
	// 2 json-always system every_turn 15
	// 2 on-json system on_input 16
}

// A name that stands for nothing resolves to nothing, and says what is near.
func ExampleRegistry_Resolve() {
	var registry inject.Registry
	if _, err := registry.Register(inject.Static("json-always", inject.Contribution{Instructions: "Answer in JSON."}), schema.OriginHost); err != nil {
		fmt.Println(err)
	}
	_, err := registry.Resolve([]string{"json-allways"})
	fmt.Println(err)
	// Output: Unknown instruction injector: json-allways
}

// A Go injector makes its contribution anew for each turn.
func ExampleFunc() {
	greeter := inject.Func("greeter", func(_ context.Context, c inject.Context) (inject.Contribution, error) {
		return inject.Contribution{Instructions: fmt.Sprintf("This is turn %d.", c.Turn)}, nil
	})
	selected := []inject.Resolved{{Name: greeter.Name(), Origin: schema.OriginHost, Injector: greeter}}
	decisions, err := inject.Apply(context.Background(), selected, inject.Context{Turn: 3}, nil, nil, inject.Options{})
	fmt.Println(decisions.Applied()[0].Instructions, err)
	// Output: This is turn 3. <nil>
}

func ExampleFileInjectors() {
	injectors, err := inject.FileInjectors([]inject.NamedFile{
		{Path: "rules/style.md", Data: []byte("Tabs, not spaces.\r\n")},
		{Path: "more/style.md", Data: []byte("Short names.\n")},
	})
	for _, inj := range injectors {
		fmt.Println(inj.Name())
	}
	fmt.Println(err)
	// Output:
	// style
	// style-2
	// <nil>
}
