package wat

import (
	"fmt"
	"slices"
	"strings"
)

// A body is the code of one function.
type body struct {
	module *module
	locals map[string]uint32
	labels []string // of the blocks around, the innermost last
	code   []byte
}

// sequence appends instructions, flat or folded.
func (b *body) sequence(nodes []node) error {
	for len(nodes) > 0 {
		n := nodes[0]
		var err error
		if n.list != nil {
			nodes, err = nodes[1:], b.folded(n.list)
		} else {
			nodes, err = b.instruction(n.atom, nodes[1:])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// folded appends (op immediates operands): the operands first; a block with
// all that stands in it.
func (b *body) folded(list []node) error {
	op := list[0].atom
	rest := list[1:]
	if op == "block" || op == "loop" {
		return b.sequence(slices.Concat([]node{{atom: op}}, rest, []node{{atom: "end"}}))
	}
	if op == "if" {
		return b.foldedIf(rest)
	}
	immediates := 0
	for immediates < len(rest) && (rest[immediates].list == nil || rest[immediates].head() == "param" || rest[immediates].head() == "result") {
		immediates++
	}
	if err := b.sequence(rest[immediates:]); err != nil {
		return err
	}
	left, err := b.instruction(op, rest[:immediates])
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("wat: %s takes no %s", op, left[0].atom)
	}
	return err
}

// foldedIf appends (if (result t)? condition (then …) (else …)?).
func (b *body) foldedIf(rest []node) error {
	var kind, conditions, branches []node
	for _, n := range rest {
		switch n.head() {
		case "result":
			kind = append(kind, n)
		case "then":
			branches = append(branches, n.list[1:]...)
		case "else":
			branches = append(append(branches, node{atom: "else"}), n.list[1:]...)
		default:
			conditions = append(conditions, n)
		}
	}
	return b.sequence(slices.Concat(conditions, []node{{atom: "if"}}, kind, branches, []node{{atom: "end"}}))
}

// instruction appends op with what it takes of nodes, and gives the rest.
func (b *body) instruction(op string, nodes []node) ([]node, error) {
	code, known := codes[op]
	if !known {
		return nil, fmt.Errorf("wat: unknown instruction %q", op)
	}
	b.code = append(b.code, code.bytes...)
	switch code.takes {
	case takesBlock:
		return b.block(nodes), nil
	case takesEnd:
		if len(b.labels) == 0 {
			return nil, fmt.Errorf("wat: an end too many")
		}
		b.labels = b.labels[:len(b.labels)-1]
	case takesMemory:
		return b.memory(nodes, code.align), nil
	case takesType:
		t, _, rest := signature(nodes, map[string]uint32{})
		b.code = append(append(b.code, b.module.typeOf(t)...), 0)
		return rest, nil
	case takesTargets:
		return b.targets(nodes)
	case takesNothing:
	default:
		if len(nodes) == 0 {
			return nil, fmt.Errorf("wat: %s takes something", op)
		}
		return nodes[1:], b.immediate(code.takes, nodes[0])
	}
	return nodes, nil
}

func (b *body) block(nodes []node) []node {
	label, kind := "", byte(0x40)
	if len(nodes) > 0 && strings.HasPrefix(nodes[0].atom, "$") {
		label, nodes = nodes[0].atom, nodes[1:]
	}
	if len(nodes) > 0 && nodes[0].head() == "result" {
		kind, nodes = valueTypes[nodes[0].list[1].atom], nodes[1:]
	}
	b.labels = append(b.labels, label)
	b.code = append(b.code, kind)
	return nodes
}

func (b *body) memory(nodes []node, align byte) []node {
	offset := uint64(0)
	if len(nodes) > 0 && strings.HasPrefix(nodes[0].atom, "offset=") {
		n, err := node{atom: strings.TrimPrefix(nodes[0].atom, "offset=")}.number()
		if err == nil {
			offset, nodes = uint64(n), nodes[1:]
		}
	}
	b.code = append(append(b.code, align), unsigned(offset)...)
	return nodes
}

// targets reads the labels of br_table, the last being the default.
func (b *body) targets(nodes []node) ([]node, error) {
	n := slices.IndexFunc(nodes, func(n node) bool { return n.list != nil || !(strings.HasPrefix(n.atom, "$") || isNumber(n)) })
	if n < 0 {
		n = len(nodes)
	}
	if n == 0 {
		return nil, fmt.Errorf("wat: br_table takes labels")
	}
	b.code = append(b.code, unsigned(uint64(n-1))...)
	for _, to := range nodes[:n] {
		if err := b.immediate(takesLabel, to); err != nil {
			return nil, err
		}
	}
	return nodes[n:], nil
}

func isNumber(n node) bool {
	_, err := n.number()
	return err == nil
}

func (b *body) immediate(kind takes, n node) error {
	if kind == takesSigned {
		i, err := n.number()
		b.code = append(b.code, signed(i)...)
		return err
	}
	if names := map[takes]map[string]uint32{takesLocal: b.locals, takesFunction: b.module.functions, takesGlobal: b.module.globals}[kind]; names != nil {
		if i, ok := names[n.atom]; ok {
			b.code = append(b.code, unsigned(uint64(i))...)
			return nil
		}
	}
	if kind == takesLabel && strings.HasPrefix(n.atom, "$") {
		for depth, label := range slices.Backward(b.labels) {
			if label == n.atom {
				b.code = append(b.code, unsigned(uint64(len(b.labels)-1-depth))...)
				return nil
			}
		}
	}
	i, err := n.number()
	b.code = append(b.code, unsigned(uint64(i))...)
	return err
}
