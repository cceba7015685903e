package assemble_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/prism-rpc/prism-rpc/assemble"
	"github.com/prism-rpc/prism-rpc/schema"
)

// inRank holds the sources as P13 lists them.
var inRank = []assemble.Source{"base", "user", "package", "other", "app", "run"}

func layer(source assemble.Source, mode schema.LayerMode, text string) assemble.Layer {
	return assemble.Layer{Source: source, Mode: mode, Text: text}
}

func TestP13_layers_join_by_rank_and_mode(t *testing.T) {
	tests := map[string]struct {
		layers []assemble.Layer
		want   string
	}{
		"none":                          {nil, ""},
		"one stands alone":              {[]assemble.Layer{layer("base", "append", "a")}, "a"},
		"one blank line between":        {[]assemble.Layer{layer("base", "append", "a"), layer("run", "append", "b")}, "a\n\nb"},
		"no mode is append":             {[]assemble.Layer{layer("base", "", "a"), layer("run", "", "b")}, "a\n\nb"},
		"rank, not order, decides":      {[]assemble.Layer{layer("run", "", "6"), layer("app", "", "5"), layer("other", "", "4"), layer("package", "", "3"), layer("user", "", "2"), layer("base", "", "1")}, "1\n\n2\n\n3\n\n4\n\n5\n\n6"},
		"one source keeps its order":    {[]assemble.Layer{layer("package", "", "b"), layer("base", "", "0"), layer("package", "", "a")}, "0\n\nb\n\na"},
		"an unknown source is other":    {[]assemble.Layer{layer("app", "", "5"), layer("plugin", "", "4"), layer("package", "", "3")}, "3\n\n4\n\n5"},
		"prepend stands before all":     {[]assemble.Layer{layer("base", "", "a"), layer("user", "", "b"), layer("app", "prepend", "c"), layer("run", "", "d")}, "c\n\na\n\nb\n\nd"},
		"replace drops all so far":      {[]assemble.Layer{layer("base", "", "a"), layer("package", "", "b"), layer("app", "replace", "c"), layer("run", "", "d")}, "c\n\nd"},
		"replace by nothing":            {[]assemble.Layer{layer("base", "", "a"), layer("app", "replace", ""), layer("run", "", "d")}, "d"},
		"disable adds nothing":          {[]assemble.Layer{layer("base", "", "a"), layer("user", "disable", "b"), layer("package", "", "c")}, "c"},
		"disable at the end":            {[]assemble.Layer{layer("base", "", "a"), layer("run", "disable", "")}, ""},
		"empty text adds no blank line": {[]assemble.Layer{layer("base", "", ""), layer("user", "", "a"), layer("package", "prepend", " \n"), layer("run", "", "b")}, "a\n\nb"},
		"text stands as written":        {[]assemble.Layer{layer("base", "", " {{x}} \n"), layer("run", "", "$(x) `y`")}, " {{x}} \n\n\n$(x) `y`"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tt.want, assemble.ComposeSystem(tt.layers)) })
	}
}

func TestP13_the_selected_order_stands_however_many_there_are(t *testing.T) {
	var layers []assemble.Layer
	var first, then []string
	for i := range 256 {
		text := strconv.Itoa(i)
		layers = append(layers, layer("run", "", "run "+text), layer("package", "", text))
		first, then = append(first, text), append(then, "run "+text)
	}
	assert.Equal(t, strings.Join(append(first, then...), "\n\n"), assemble.ComposeSystem(layers))
}

func TestP13_valid_sources(t *testing.T) {
	for _, s := range inRank {
		assert.True(t, s.Valid())
	}
	assert.False(t, assemble.Source("").Valid())
	assert.False(t, assemble.Source("plugin").Valid())
}

// compose says what ComposeSystem means, slowly.
func compose(layers []assemble.Layer) string {
	text := ""
	join := func(a, b string) string {
		if a == "" || b == "" {
			return a + b
		}
		return a + "\n\n" + b
	}
	for _, source := range inRank {
		for _, l := range layers {
			add := l.Text
			if strings.TrimSpace(add) == "" {
				add = ""
			}
			switch {
			case l.Source != source:
			case l.Mode == "disable":
				text = ""
			case l.Mode == "replace":
				text = add
			case l.Mode == "prepend":
				text = join(add, text)
			default:
				text = join(text, add)
			}
		}
	}
	return text
}

func FuzzComposeSystem(f *testing.F) {
	f.Add("You are helpful.|Answer in JSON.", []byte{0, 2})
	f.Add("a|b|c|d|e|f", []byte{5, 4, 3, 2, 1, 0})
	f.Add("a||\n| |b", []byte{0, 8, 16, 24, 5})
	f.Add("a|b|c", []byte{8, 8, 8})
	f.Add("\n\n|\n\na\n\n|\x00\xff", []byte{16, 2, 24})
	modes := []schema.LayerMode{"append", "prepend", "replace", "disable"}
	// Byte i gives text i its source and its mode.
	f.Fuzz(func(t *testing.T, texts string, kinds []byte) {
		var layers []assemble.Layer
		for i, text := range strings.Split(texts, "|") {
			if i < len(kinds) {
				layers = append(layers, layer(inRank[int(kinds[i]&7)%len(inRank)], modes[kinds[i]>>3&3], text))
			}
		}
		before := slices.Clone(layers)
		assert.Equal(t, compose(layers), assemble.ComposeSystem(layers))
		assert.Equal(t, before, layers, "what it is given stays")
	})
}
