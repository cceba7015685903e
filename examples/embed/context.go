package main

import (
	"context"
	"slices"
	"strings"

	"github.com/prism-rpc/prism-rpc/assemble"
	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/inject/ambient"
	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
)

// openFiles gives a context block for each file that an editor has open.
type openFiles []string

func (files openFiles) Blocks(context.Context, inject.Context) ([]schema.ContextBlock, error) {
	var blocks []schema.ContextBlock
	for _, name := range files {
		blocks = append(blocks, schema.ContextBlock{Title: name, Content: schema.Input{schema.TextBlock("(its text)")}})
	}
	return blocks, nil
}

// withoutEnv sees all blocks of a turn before they are sent, whoever gave
// them.
func withoutEnv(_ context.Context, blocks []assemble.Block) ([]assemble.Block, error) {
	return slices.DeleteFunc(blocks, func(b assemble.Block) bool { return strings.HasSuffix(b.Title, ".env") }), nil
}

// ambientBlocks stand at the end of the system text of every request.
func ambientBlocks() session.Ambient {
	return session.Ambient{
		On:     true,
		Blocks: []schema.AmbientBlock{{Name: "House rules", Content: "Tabs, not spaces."}},
		Armed: func(context.Context, string) ambient.Armed {
			return ambient.Armed{ProtectedPaths: []string{".git"}}
		},
	}
}
