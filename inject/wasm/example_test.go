package wasm_test

import (
	"context"
	"fmt"
	"os"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/inject/bundle"
	"github.com/prism-rpc/prism-rpc/inject/wasm"
	"github.com/prism-rpc/prism-rpc/internal/wat"
	"github.com/prism-rpc/prism-rpc/schema"
)

// A Go host runs a module without any bundle around it. Mostly it gives the
// loader to bundle.Register, in bundle.LoadOptions.
func ExampleLoader() {
	ctx := context.Background()
	text, err := os.ReadFile("../../examples/module-wat/json.wat")
	if err != nil {
		panic(err)
	}
	loader := wasm.New(wasm.Options{})
	defer loader.Close(ctx)
	injector, err := loader.Load(ctx, bundle.Module{
		Name: "json",
		File: "json.wasm",
		Read: func() ([]byte, error) { return wat.Assemble(string(text)) },
	})
	if err != nil {
		panic(err)
	}
	for _, input := range []string{"Hello.", "Hello, as json."} {
		c, err := injector.Apply(ctx, inject.Context{Input: []schema.ContentBlock{schema.TextBlock(input)}})
		fmt.Printf("%s → %q %v\n", input, c.Instructions, err)
	}
	// Output:
	// Hello. → "" <nil>
	// Hello, as json. → "Answer in JSON." <nil>
}
