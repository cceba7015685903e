package assemble_test

import (
	"context"
	"fmt"

	"github.com/prism-rpc/prism-rpc/assemble"
	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/schema"
)

func ExampleComposeSystem() {
	fmt.Println(assemble.ComposeSystem([]assemble.Layer{
		{Source: assemble.SourcePackage, Text: "Answer in JSON."},
		{Source: assemble.SourceBase, Text: "You are helpful."},
		{Source: assemble.SourceRun, Mode: schema.LayerPrepend, Text: "Be brief."},
	}))
	// Output:
	// Be brief.
	//
	// You are helpful.
	//
	// Answer in JSON.
}

// The parts of one turn become the request of one model call.
func ExampleRequest_Build() {
	json := inject.Static("json-always", inject.Contribution{Instructions: "Answer in JSON."})
	selected := []inject.Resolved{{Name: json.Name(), Origin: schema.OriginHost, Injector: json}}
	turn := inject.Context{Turn: 1, Input: []schema.ContentBlock{schema.TextBlock("Who are you?")}}
	decisions, err := inject.Apply(context.Background(), selected, turn, nil, nil, inject.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	applied := decisions.Applied()
	blocks, err := assemble.Sources{
		Turn:    []schema.ContextBlock{{Title: "Repo", Content: schema.Input{schema.TextBlock("A monorepo.")}}},
		Applied: applied,
	}.Collect(context.Background(), turn, nil, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	layers := []assemble.Layer{{Source: assemble.SourceBase, Text: "You are helpful."}}
	request := assemble.Request{
		Layers: append(layers, assemble.InjectedLayers(applied)...),
		Blocks: blocks,
		Input:  turn.Input,
	}
	for _, segment := range request.Build().Segments {
		for _, m := range segment.Messages {
			fmt.Printf("%s: %q\n", m.Role, schema.PlainText(m.Content))
		}
	}
	// Output:
	// system: "You are helpful.\n\nAnswer in JSON."
	// user: "Repo:\nA monorepo."
	// user: "Who are you?"
}
