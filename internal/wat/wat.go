// Package wat assembles WebAssembly's text format, as far as tests write it:
// one module of imports, functions, a memory, a table, globals and data, its
// instructions flat or folded. It trusts what it is given; a fault in the text
// is an error, not always a clear one.
package wat

import (
	"fmt"
	"strconv"
	"strings"
)

// Assemble is the binary form of the module that text describes.
func Assemble(text string) ([]byte, error) {
	nodes, rest, err := parse(tokens(text))
	switch {
	case err != nil:
		return nil, err
	case len(rest) > 0 || len(nodes) != 1 || nodes[0].head() != "module":
		return nil, fmt.Errorf("wat: not one (module …)")
	}
	m := &module{functions: map[string]uint32{}, globals: map[string]uint32{}}
	if err := m.declare(nodes[0].list[1:]); err != nil {
		return nil, err
	}
	if err := m.define(nodes[0].list[1:]); err != nil {
		return nil, err
	}
	return m.binary(), nil
}

// A node is an atom, a string in its quotes, or a list.
type node struct {
	atom string
	list []node
}

// head is the word that a list begins with.
func (n node) head() string {
	if len(n.list) == 0 {
		return ""
	}
	return n.list[0].atom
}

// tokens are parentheses, strings with their quotes, and words; ;; begins a
// comment.
func tokens(text string) []string {
	var out []string
	for i := 0; i < len(text); {
		start := i
		switch c := text[i]; {
		case c == '(' || c == ')':
			i++
		case c == ';':
			i = end(text, i, func(i int) bool { return text[i] == '\n' })
			continue
		case c <= ' ':
			i++
			continue
		case c == '"':
			i = end(text, i+1, func(i int) bool { return text[i] == '"' && text[i-1] != '\\' }) + 1
		default:
			i = end(text, i, func(i int) bool { return strings.IndexByte(" \t\r\n()\";", text[i]) >= 0 })
		}
		out = append(out, text[start:min(i, len(text))])
	}
	return out
}

// end is the first place from i on where stop holds.
func end(text string, i int, stop func(int) bool) int {
	for i < len(text) && !stop(i) {
		i++
	}
	return i
}

// parse reads nodes up to a closing parenthesis that it doesn't take.
func parse(tokens []string) (nodes []node, rest []string, err error) {
	for len(tokens) > 0 && tokens[0] != ")" {
		if tokens[0] != "(" {
			nodes, tokens = append(nodes, node{atom: tokens[0]}), tokens[1:]
			continue
		}
		list, rest, err := parse(tokens[1:])
		if err != nil {
			return nil, nil, err
		}
		if len(rest) == 0 {
			return nil, nil, fmt.Errorf("wat: a parenthesis is not closed")
		}
		nodes, tokens = append(nodes, node{list: list}), rest[1:]
	}
	return nodes, tokens, nil
}

// text is the bytes of a quoted string.
func (n node) text() (string, error) {
	s := n.atom
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return "", fmt.Errorf("wat: %s is no string", s)
	}
	var out []byte
	for s = s[1 : len(s)-1]; s != ""; {
		if s[0] != '\\' {
			out, s = append(out, s[0]), s[1:]
			continue
		}
		if plain, ok := escapes[s[1]]; ok {
			out, s = append(out, plain), s[2:]
			continue
		}
		b, err := strconv.ParseUint(s[1:min(3, len(s))], 16, 8)
		if err != nil {
			return "", err
		}
		out, s = append(out, byte(b)), s[3:]
	}
	return string(out), nil
}

var escapes = map[byte]byte{'n': '\n', 't': '\t', '"': '"', '\'': '\'', '\\': '\\'}

// number is a signed or unsigned integer, decimal or 0x.
func (n node) number() (int64, error) {
	if i, err := strconv.ParseInt(n.atom, 0, 64); err == nil {
		return i, nil
	}
	u, err := strconv.ParseUint(n.atom, 0, 64)
	return int64(u), err
}
