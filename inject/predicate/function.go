package predicate

import (
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
)

func (c *compiler) function(n *ast.BuiltinNode) (term, error) {
	switch n.Name {
	case "any", "all", "none", "one", "count":
		return c.each(n)
	case "len", "lower", "upper", "trim":
	default:
		return term{}, c.refuse(n, "the function "+n.Name+" is not allowed"+allowed)
	}
	if len(n.Arguments) != 1 {
		return term{}, c.refuse(n, n.Name+" takes one argument")
	}
	t, err := c.term(n.Arguments[0])
	if err != nil {
		return term{}, err
	}
	if n.Name == "len" {
		return c.length(n, t)
	}
	return c.change(n, t)
}

// length counts code points, elements or keys; there are none of nil.
func (c *compiler) length(n *ast.BuiltinNode, t term) (term, error) {
	if !t.may(text) && !t.may(list) && !t.may(object) {
		return term{}, c.refuse(n, "len takes text, a list or an object, not "+t.String())
	}
	return term{kind: number, eval: func(r *run) (any, error) {
		v, err := t.eval(r)
		if err != nil {
			return nil, err
		}
		switch v := v.(type) {
		case nil:
			return 0.0, nil
		case string:
			return float64(utf8.RuneCountInString(v)), r.spend(len(v))
		case []any:
			return float64(len(v)), nil
		case map[string]any:
			return float64(len(v)), nil
		}
		return nil, mismatch("len", v)
	}}, nil
}

// change makes another text; of nil it makes nil.
func (c *compiler) change(n *ast.BuiltinNode, t term) (term, error) {
	if !t.may(text) {
		return term{}, c.refuse(n, n.Name+" takes text, not "+t.String())
	}
	make := map[string]func(string) string{"lower": strings.ToLower, "upper": strings.ToUpper, "trim": strings.TrimSpace}[n.Name]
	return term{kind: t.kind, eval: func(r *run) (any, error) {
		v, err := t.eval(r)
		if err != nil || v == nil {
			return nil, err
		}
		s, ok := v.(string)
		if !ok {
			return nil, mismatch(n.Name, v)
		}
		if err := r.copy(len(s)); err != nil {
			return nil, err
		}
		return make(s), nil
	}}, nil
}

// each goes through a list with a condition.
func (c *compiler) each(n *ast.BuiltinNode) (term, error) {
	if c.inside {
		return term{}, c.refuse(n, n.Name+" inside any, all, none, one or count is not allowed")
	}
	if len(n.Arguments) != 2 {
		return term{}, c.refuse(n, n.Name+` takes a list and a condition, as in any(paths, # endsWith ".go")`)
	}
	over, err := c.term(n.Arguments[0])
	if err != nil {
		return term{}, err
	}
	if !over.may(list) {
		return term{}, c.refuse(n.Arguments[0], n.Name+" goes through a list, not "+over.String())
	}
	condition, err := c.condition(n, over.of)
	if err != nil {
		return term{}, err
	}
	name := n.Name
	result := boolean
	if name == "count" {
		result = number
	}
	return term{kind: result, eval: func(r *run) (any, error) {
		total, hits, err := r.count(name, over, condition)
		return verdict(name, total, hits), err
	}}, nil
}

func (c *compiler) condition(n *ast.BuiltinNode, item kind) (term, error) {
	body, ok := n.Arguments[1].(*ast.PredicateNode)
	if !ok {
		return term{}, c.refuse(n, n.Name+" takes a condition")
	}
	c.inside, c.item = true, item
	t, err := c.term(body.Node)
	c.inside = false
	if err == nil && t.kind != boolean {
		return term{}, c.refuse(body, "the condition of "+n.Name+" must be true or false, not "+t.String())
	}
	return t, err
}

// count tells how many of the elements there are and hold; it stops where that
// decides.
func (r *run) count(name string, over, condition term) (total, hits int, err error) {
	v, err := over.eval(r)
	if err != nil || v == nil {
		return 0, 0, err
	}
	elements, ok := v.([]any)
	if !ok {
		return 0, 0, mismatch(name, v)
	}
	defer func() { r.item = nil }()
	for i, e := range elements {
		if err := r.spend(perRound); err != nil {
			return 0, 0, err
		}
		r.item = e
		holds, err := truth(r, condition)
		if err != nil {
			return 0, 0, err
		}
		if holds {
			hits++
		}
		if decided(name, i+1, hits) {
			return i + 1, hits, nil
		}
	}
	return len(elements), hits, nil
}

func decided(name string, seen, hits int) bool {
	switch name {
	case "any", "none":
		return hits > 0
	case "all":
		return hits < seen
	case "one":
		return hits > 1
	}
	return false
}

func verdict(name string, total, hits int) any {
	switch name {
	case "any":
		return hits > 0
	case "all":
		return hits == total
	case "none":
		return hits == 0
	case "one":
		return hits == 1
	}
	return float64(hits)
}
