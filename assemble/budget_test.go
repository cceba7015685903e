package assemble_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/prism-rpc/prism-rpc/assemble"
)

func TestP17_what_is_left_out_first(t *testing.T) {
	sized := func(source assemble.BlockSource, title string, priority int) assemble.Block {
		b := assemble.Block{Source: source, ContextBlock: textBlock(title, "12345678")} // rendered: 10 bytes and the title
		b.Priority = priority
		return b
	}
	blocks := []assemble.Block{
		sized("host", "h1", 0), sized("host", "h2", 9), sized("skill", "s1", 0),
		sized("injected", "i1", 1), sized("injected", "i2", 0), sized("injected", "i3", 0), sized("injected", "i4", -1),
	}
	for room, want := range map[int][]string{
		1000:   {"h1", "h2", "s1", "i1", "i2", "i3", "i4"},
		7 * 12: {"h1", "h2", "s1", "i1", "i2", "i3", "i4"},
		6 * 12: {"h1", "h2", "i1", "i2", "i3", "i4"},
		5 * 12: {"h2", "i1", "i2", "i3", "i4"},
		4 * 12: {"i1", "i2", "i3", "i4"},
		3 * 12: {"i1", "i2", "i3"},
		2 * 12: {"i1", "i2"},
		1 * 12: {"i1"},
		0:      nil,
	} {
		kept, dropped := assemble.Drop(blocks, func(bytes int) bool { return bytes <= room })
		assert.Equal(t, want, titles(kept), room)
		assert.Len(t, dropped, len(blocks)-len(want))
	}
}
