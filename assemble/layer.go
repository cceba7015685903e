// Package assemble makes the request of one model call out of its parts:
// system text from layers, context blocks, the dialogue so far, the input and
// the notices (requirements P12–P17). It keeps nothing and changes nothing it
// is given, so that the same parts always make the same request.
package assemble

import (
	"cmp"
	"slices"
	"strings"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/schema"
)

// Source says whose a layer of the system text is. The sources join in the
// order in which they stand here (P13).
type Source string

// The sources.
const (
	SourceBase    Source = "base"    // --system, or the session's instructions
	SourceUser    Source = "user"    // configuration
	SourcePackage Source = "package" // injectors
	SourceOther   Source = "other"
	SourceApp     Source = "app" // the embedding host
	SourceRun     Source = "run" // the turn's own instructions
)

// Valid tells whether s is one of the sources.
func (s Source) Valid() bool { return slices.Contains(sources, s) }

var sources = []Source{SourceBase, SourceUser, SourcePackage, SourceOther, SourceApp, SourceRun}

// rank is the place of s among the sources; an unknown one stands with other.
func (s Source) rank() int {
	if i := slices.Index(sources, s); i >= 0 {
		return i
	}
	return slices.Index(sources, SourceOther)
}

// A Layer is one contribution to the system text. No mode is append. Name is
// the injector's that gave it; empty for all others.
type Layer struct {
	Source Source
	Mode   schema.LayerMode
	Text   string
	Name   string
}

// ComposeSystem joins layers by one blank line, in the order of their sources,
// those of one source as given (P13). A text that says nothing adds nothing;
// every other stands unchanged.
func ComposeSystem(layers []Layer) string {
	var texts []string
	for _, l := range Standing(layers) {
		texts = append(texts, l.Text)
	}
	return strings.Join(texts, layerGap)
}

const layerGap = "\n\n"

// Standing are the layers whose texts ComposeSystem joins, in their order.
func Standing(layers []Layer) []Layer {
	var out []Layer
	for _, l := range bySource(layers) {
		if l.Mode == schema.LayerReplace || l.Mode == schema.LayerDisable {
			out = out[:0]
		}
		switch {
		case l.Mode == schema.LayerDisable || strings.TrimSpace(l.Text) == "":
		case l.Mode == schema.LayerPrepend:
			out = slices.Insert(out, 0, l)
		default:
			out = append(out, l)
		}
	}
	return out
}

func bySource(layers []Layer) []Layer {
	compare := func(a, b Layer) int { return cmp.Compare(a.Source.rank(), b.Source.rank()) }
	if slices.IsSortedFunc(layers, compare) {
		return layers
	}
	layers = slices.Clone(layers)
	slices.SortStableFunc(layers, compare)
	return layers
}

// InjectedLayers are the instructions of applied injectors, in their order.
func InjectedLayers(applied []inject.Applied) []Layer {
	var out []Layer
	for _, a := range applied {
		if a.Instructions != "" {
			out = append(out, Layer{Source: SourcePackage, Mode: schema.LayerAppend, Text: a.Instructions, Name: a.Name})
		}
	}
	return out
}
