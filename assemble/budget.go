package assemble

import (
	"cmp"
	"slices"

	"github.com/prism-rpc/prism-rpc/inject"
)

// Drop leaves out blocks, one after another, until fits takes the size in
// bytes of those that stay (P17). DropAmbient comes before it. First the host's, the last one first, then
// injected ones, of the lowest priority first and of those the last. A block
// is never cut.
func Drop(blocks []Block, fits func(bytes int) bool) (kept, dropped []Block) {
	sizes := make([]int, len(blocks))
	total := 0
	for i, b := range blocks {
		sizes[i] = len(inject.Render(b.ContextBlock))
		total += sizes[i]
	}
	out := map[int]bool{}
	for _, i := range expendable(blocks) {
		if fits(total) {
			break
		}
		out[i] = true
		total -= sizes[i]
	}
	if len(out) == 0 {
		return blocks, nil
	}
	for i, b := range blocks {
		if out[i] {
			dropped = append(dropped, b)
		} else {
			kept = append(kept, b)
		}
	}
	return kept, dropped
}

// expendable are the indexes of the blocks, those to be left out first first.
func expendable(blocks []Block) []int {
	order := make([]int, len(blocks))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		a, b := blocks[i], blocks[j]
		return cmp.Or(
			compareBool(a.Source == BlockInjected, b.Source == BlockInjected),
			cmp.Compare(a.Priority, b.Priority),
			cmp.Compare(j, i),
		)
	})
	return order
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
