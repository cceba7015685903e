package assemble

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/inject/ambient"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
)

// Ambient is an ambient block as it stands at the end of the system text (A5),
// redacted.
type Ambient struct {
	ID     string // of a spliced one
	Name   string
	Origin schema.Origin
	Text   string // its heading too
}

// RenderAmbient makes the text of each block.
func RenderAmbient(blocks []ambient.Block, red *redact.Redactor, tally *redact.Tally) []Ambient {
	out := make([]Ambient, len(blocks))
	for i, b := range blocks {
		out[i] = Ambient{ID: b.ID, Name: red.Text(b.Name, nil), Origin: b.Origin, Text: red.Text(ambient.Render(b), tally)}
	}
	return out
}

// AppendAmbient puts blocks at the end of a system text. Where that is empty,
// the first block begins without its blank line (A5).
func AppendAmbient(system string, blocks []Ambient) string {
	if len(blocks) == 0 {
		return system
	}
	parts := make([]string, len(blocks))
	for i, b := range blocks {
		parts[i] = b.Text
	}
	text := strings.Join(parts, "")
	if system == "" {
		return strings.TrimPrefix(text, "\n\n")
	}
	return system + text
}

// DropAmbient leaves out ambient blocks, the last one first, until fits takes
// the size in bytes of those that stay and of the context blocks, or none stays:
// they go before any context block does (P17). A block is never cut.
func DropAmbient(ambient []Ambient, context []Block, fits func(bytes int) bool) (kept, dropped []Ambient) {
	size := ambientSize(ambient)
	for _, b := range context {
		size += len(inject.Render(b.ContextBlock))
	}
	n := len(ambient)
	for n > 0 && !fits(size) {
		n--
		size -= len(ambient[n].Text)
	}
	return ambient[:n:n], ambient[n:]
}

func ambientSize(blocks []Ambient) int {
	size := 0
	for _, b := range blocks {
		size += len(b.Text)
	}
	return size
}

// Injected reports the block as it is sent.
func (a Ambient) Injected() schema.Injected {
	sum := sha256.Sum256([]byte(a.Text))
	return schema.Injected{
		Name: a.Name, Origin: a.Origin, Placement: schema.PlaceSystem, When: schema.WhenEveryTurn,
		Bytes: len(a.Text), SHA256: hex.EncodeToString(sum[:]),
	}
}

// ReportAmbient reports blocks, in their order.
func ReportAmbient(blocks []Ambient) []schema.Injected {
	out := make([]schema.Injected, len(blocks))
	for i, b := range blocks {
		out[i] = b.Injected()
	}
	return out
}
