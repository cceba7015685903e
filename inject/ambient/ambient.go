// Package ambient knows the blocks that stand at the end of the system text:
// the built-in ones, which tell a model what it can't know otherwise of the
// host, and how each block is written (requirements A2–A5).
package ambient

import (
	"strings"

	"github.com/prism-rpc/prism-rpc/schema"
)

// A Block is a text under a heading. ID names a spliced one.
type Block struct {
	ID      string
	Name    string
	Content string
	Origin  schema.Origin
}

// Configured are blocks as configuration gives them, in their order.
func Configured(blocks []schema.AmbientBlock) []Block {
	out := make([]Block, len(blocks))
	for i, b := range blocks {
		out[i] = Block{Name: b.Name, Content: b.Content, Origin: schema.OriginConfig}
	}
	return out
}

// Render is the blocks as they stand behind what comes before them, each
// beginning with a blank line; "" for none. Nothing is escaped or trimmed (A5).
func Render(blocks ...Block) string {
	var b strings.Builder
	for _, block := range blocks {
		b.WriteString("\n\n# ")
		b.WriteString(block.Name)
		b.WriteByte('\n')
		b.WriteString(block.Content)
	}
	return b.String()
}
