package assemble_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/assemble"
	"github.com/prism-rpc/prism-rpc/inject/ambient"
	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
)

func blocksOf(texts ...string) []ambient.Block {
	var out []ambient.Block
	for _, text := range texts {
		out = append(out, ambient.Block{Name: text, Content: text, Origin: schema.OriginConfig})
	}
	return out
}

func TestA5_ambient_blocks_end_the_system_text(t *testing.T) {
	base := []assemble.Layer{{Source: assemble.SourceBase, Text: "base\n"}, {Source: assemble.SourceRun, Text: "run"}}
	for claim, c := range map[string]struct {
		layers []assemble.Layer
		blocks []ambient.Block
		want   string
	}{
		"none":                            {base, nil, "base\n\n\nrun"},
		"behind every layer":              {base, blocksOf("a", "b"), "base\n\n\nrun\n\n# a\na\n\n# b\nb"},
		"alone, without their blank line": {nil, blocksOf("a", "b"), "# a\na\n\n# b\nb"},
		"nothing else is trimmed":         {nil, []ambient.Block{{Name: "", Content: "\n\n"}}, "# \n\n\n"},
		"neither":                         {nil, nil, ""},
	} {
		t.Run(claim, func(t *testing.T) {
			r := assemble.Request{Layers: c.layers, Ambient: assemble.RenderAmbient(c.blocks, nil, nil)}
			assert.Equal(t, c.want, r.System())
			segments := r.Build().Segments
			if c.want == "" {
				assert.Empty(t, segments)
				return
			}
			require.Len(t, segments, 1)
			assert.Equal(t, provider.SegmentSystem, segments[0].Kind)
			assert.Equal(t, c.want, schema.PlainText(segments[0].Messages[0].Content))
		})
	}
}

func TestP17_ambient_blocks_make_room_for_context_the_last_one_first(t *testing.T) {
	all := assemble.RenderAmbient(blocksOf("a", "b", "c"), nil, nil) // 7 bytes each
	context := []assemble.Block{{ContextBlock: schema.ContextBlock{Content: schema.Input{schema.TextBlock("x")}}}}
	size := len("Context:\nx")
	for room, want := range map[int]int{100: 3, size + 21: 3, size + 20: 2, size + 14: 2, size + 13: 1, size + 7: 1, size + 6: 0, 0: 0} {
		kept, dropped := assemble.DropAmbient(all, context, func(bytes int) bool { return bytes <= room })
		assert.Len(t, kept, want, "room %d", room)
		assert.Equal(t, all, append(kept, dropped...), "room %d", room)
	}
	kept, dropped := assemble.DropAmbient(nil, context, func(int) bool { return false })
	assert.Empty(t, kept)
	assert.Empty(t, dropped)
}

func TestP26_what_is_told_of_an_ambient_block_is_of_its_redacted_text(t *testing.T) {
	red, err := redact.New(redact.Value{Secret: redact.NewSecret("hunter2-hunter2")})
	require.NoError(t, err)
	var tally redact.Tally
	secret := assemble.RenderAmbient([]ambient.Block{{Name: "n hunter2-hunter2", Content: "is hunter2-hunter2", Origin: schema.OriginSplice}}, red, &tally)
	hidden := assemble.RenderAmbient([]ambient.Block{{Name: "n [REDACTED]", Content: "is [REDACTED]", Origin: schema.OriginSplice}}, nil, nil)
	assert.Equal(t, hidden, secret)
	assert.Equal(t, assemble.ReportAmbient(hidden), assemble.ReportAmbient(secret))
	require.Len(t, tally.Counts(), 1)
	assert.Equal(t, 2, tally.Counts()[0].Count)
	told := assemble.ReportAmbient(secret)[0]
	assert.Equal(t, "n [REDACTED]", told.Name)
	assert.Equal(t, len(strings.Repeat("[REDACTED]", 2)+"\n\n# n \nis "), told.Bytes)
}
