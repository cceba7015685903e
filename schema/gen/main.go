// The gen command writes the documents that package schema embeds: the OpenRPC
// document, the JSON Schema and the TypeScript declarations. It runs in that
// package's folder, by go generate ./schema/...
//
// Go types, their validator tags and their comments are the source. What a
// type's own JSON form or its own rules say beyond them stands in forms.go; a
// form or a tag that this command does not know ends it with an error.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	files, err := documents(dir)
	if err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// documents are the files to write by their names. dir holds the sources of
// package schema.
func documents(dir string) (map[string][]byte, error) {
	g, err := newGenerator(dir)
	if err != nil {
		return nil, err
	}
	if err := g.collect(); err != nil {
		return nil, err
	}
	schema, err := g.schemaDocument()
	if err != nil {
		return nil, err
	}
	open, err := g.openRPC()
	if err != nil {
		return nil, err
	}
	return map[string][]byte{"schema.json": schema, "openrpc.json": open, "prism-rpc.d.ts": g.typeScript()}, nil
}
