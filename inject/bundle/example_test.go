package bundle_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/inject/bundle"
)

// A host finds the bundles of a workspace, says what they may read, and
// registers them. What is wrong with one is listed.
func ExampleRegister() {
	ctx := context.Background()
	root, err := os.MkdirTemp("", "workspace")
	if err != nil {
		fmt.Println(err)
	}
	defer os.RemoveAll(root)
	for name, text := range map[string]string{
		"style/manifest.json": `{"description": "How we write."}`, "style/INSTRUCTIONS.md": "Tabs, not spaces.\n",
		"broken/manifest.json": `{"enabled": "true"}`,
	} {
		path := filepath.Join(root, ".agents", "instructions", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			fmt.Println(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			fmt.Println(err)
		}
	}
	var registry inject.Registry
	found := bundle.Discover(ctx, bundle.Options{Roots: []string{root}})
	if err := bundle.Register(ctx, &registry, found, bundle.LoadOptions{
		Permission: func(context.Context, bundle.ReadRequest) (bool, error) { return false, nil },
	}); err != nil {
		fmt.Println(err)
	}
	for _, info := range registry.List(nil) {
		fmt.Println(info.Name, info.State, info.Description, info.Reason)
	}
	// Output:
	// broken error  manifest.json: enabled: must be true or false, not a string
	// style ready How we write.
}
