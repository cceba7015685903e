package predicate

import (
	"cmp"
	"math"
	"strings"

	"github.com/expr-lang/expr/ast"
)

func (c *compiler) unary(n *ast.UnaryNode) (term, error) {
	t, err := c.term(n.Node)
	switch {
	case err != nil:
		return term{}, err
	case n.Operator == "not" || n.Operator == "!":
		if t.kind != boolean {
			return term{}, c.refuse(n.Node, n.Operator+" takes a boolean, not "+t.String())
		}
		return boolTerm(func(r *run) (bool, error) {
			b, err := truth(r, t)
			return !b, err
		}), nil
	case !t.may(number):
		return term{}, c.refuse(n.Node, n.Operator+" takes a number, not "+t.String())
	}
	sign := 1.0
	if n.Operator == "-" {
		sign = -1
	}
	return term{kind: number, eval: func(r *run) (any, error) {
		v, err := t.eval(r)
		if f, ok := v.(float64); ok {
			return sign * f, nil
		}
		return nil, cmp.Or(err, mismatch(n.Operator, v))
	}}, nil
}

func boolTerm(eval func(*run) (bool, error)) term {
	return term{kind: boolean, eval: func(r *run) (any, error) { return eval(r) }}
}

// truth evaluates a term that is known to be a boolean.
func truth(r *run, t term) (bool, error) {
	v, err := t.eval(r)
	b, _ := v.(bool)
	return b, err
}

func (c *compiler) binary(n *ast.BinaryNode) (term, error) {
	if n.Operator == "matches" {
		return c.matches(n)
	}
	left, err := c.term(n.Left)
	if err != nil {
		return term{}, err
	}
	right, err := c.term(n.Right)
	if err != nil {
		return term{}, err
	}
	switch n.Operator {
	case "and", "&&", "or", "||":
		return c.logic(n, left, right)
	case "==", "!=":
		return c.equality(n, left, right)
	case "<", "<=", ">", ">=":
		return c.order(n, left, right)
	case "+", "-", "*", "/", "%":
		return c.arithmetic(n, left, right)
	case "in":
		return c.in(n, left, right)
	case "contains":
		return c.textual(n, left, right, strings.Contains)
	case "startsWith":
		return c.textual(n, left, right, strings.HasPrefix)
	case "endsWith":
		return c.textual(n, left, right, strings.HasSuffix)
	}
	return term{}, c.refuse(n, "the operator "+n.Operator+" is not allowed"+allowed)
}

func (c *compiler) logic(n *ast.BinaryNode, left, right term) (term, error) {
	switch {
	case left.kind != boolean:
		return term{}, c.refuse(n.Left, n.Operator+" takes booleans, not "+left.String())
	case right.kind != boolean:
		return term{}, c.refuse(n.Right, n.Operator+" takes booleans, not "+right.String())
	}
	stop := n.Operator == "or" || n.Operator == "||"
	return boolTerm(func(r *run) (bool, error) {
		if b, err := truth(r, left); err != nil || b == stop {
			return b, err
		}
		return truth(r, right)
	}), nil
}

// both evaluates two terms.
func both(r *run, left, right term) (a, b any, err error) {
	if a, err = left.eval(r); err == nil {
		b, err = right.eval(r)
	}
	return a, b, err
}

func (c *compiler) equality(n *ast.BinaryNode, left, right term) (term, error) {
	for _, t := range []term{left, right} {
		if t.kind > text {
			return term{}, c.refuse(n, n.Operator+" compares numbers, text, booleans and nil, not "+t.String())
		}
	}
	if left.kind != anything && right.kind != anything && left.kind != right.kind {
		return term{}, c.refuse(n, left.String()+" is never equal to "+right.String())
	}
	want := n.Operator == "=="
	return boolTerm(func(r *run) (bool, error) {
		a, b, err := both(r, left, right)
		if err != nil {
			return false, err
		}
		same, err := equal(r, a, b)
		return same == want, err
	}), nil
}

// equal compares two values; those of different kinds are not equal.
func equal(r *run, a, b any) (bool, error) {
	switch a := a.(type) {
	case nil:
		return b == nil, nil
	case bool:
		b, ok := b.(bool)
		return ok && a == b, nil
	case float64:
		b, ok := b.(float64)
		return ok && a == b, nil
	case string:
		b, ok := b.(string)
		if !ok || len(a) != len(b) {
			return false, nil
		}
		return a == b, r.spend(len(a))
	}
	return false, mismatch("equality", a, b)
}

func (c *compiler) order(n *ast.BinaryNode, left, right term) (term, error) {
	if !(left.may(number) && right.may(number) || left.may(text) && right.may(text)) {
		return term{}, c.refuse(n, n.Operator+" compares two numbers or two texts, not "+left.String()+" and "+right.String())
	}
	holds := map[string]func(int) bool{
		"<":  func(o int) bool { return o < 0 },
		"<=": func(o int) bool { return o <= 0 },
		">":  func(o int) bool { return o > 0 },
		">=": func(o int) bool { return o >= 0 },
	}[n.Operator]
	return boolTerm(func(r *run) (bool, error) {
		a, b, err := both(r, left, right)
		if err != nil || a == nil || b == nil {
			return false, err
		}
		switch a := a.(type) {
		case float64:
			if b, ok := b.(float64); ok {
				return holds(cmp.Compare(a, b)), nil
			}
		case string:
			if b, ok := b.(string); ok {
				return holds(cmp.Compare(a, b)), r.spend(min(len(a), len(b)))
			}
		}
		return false, mismatch(n.Operator, a, b)
	}), nil
}

func (c *compiler) arithmetic(n *ast.BinaryNode, left, right term) (term, error) {
	if !left.may(number) || !right.may(number) {
		return term{}, c.refuse(n, n.Operator+" takes numbers, not "+left.String()+" and "+right.String())
	}
	return term{kind: number, eval: func(r *run) (any, error) {
		v, w, err := both(r, left, right)
		if err != nil {
			return nil, err
		}
		a, aok := v.(float64)
		b, bok := w.(float64)
		if !aok || !bok {
			return nil, mismatch(n.Operator, v, w)
		}
		return calculate(n.Operator, a, b)
	}}, nil
}

func calculate(operator string, a, b float64) (any, error) {
	switch operator {
	case "+":
		return a + b, nil
	case "-":
		return a - b, nil
	case "*":
		return a * b, nil
	}
	if b == 0 {
		return nil, errDivision
	}
	if operator == "%" {
		return math.Mod(a, b), nil
	}
	return a / b, nil
}

// in looks for an element of a list, or for a key of an object.
func (c *compiler) in(n *ast.BinaryNode, left, right term) (term, error) {
	switch {
	case right.kind == text:
		return term{}, c.refuse(n, "in looks through a list; text has contains")
	case right.kind == object && !left.may(text):
		return term{}, c.refuse(n, "the keys of an object are text, not "+left.String())
	case !right.may(list) && !right.may(object):
		return term{}, c.refuse(n, "in looks through a list, not "+right.String())
	case left.kind > text || right.of == message:
		return term{}, c.refuse(n, "in looks for numbers, text, booleans and nil; any goes through other lists")
	case right.kind == list && right.of != anything && right.of != null && !left.may(right.of):
		return term{}, c.refuse(n, left.String()+" is never in a list of "+right.of.String())
	}
	return boolTerm(func(r *run) (bool, error) {
		a, b, err := both(r, left, right)
		if err != nil || b == nil {
			return false, err
		}
		return within(r, a, b)
	}), nil
}

func within(r *run, a, b any) (bool, error) {
	if keys, ok := b.(map[string]any); ok {
		key, ok := a.(string)
		_, found := keys[key]
		return ok && found, r.spend(len(key))
	}
	elements, ok := b.([]any)
	if !ok {
		return false, mismatch("in", a, b)
	}
	if err := r.spend(perElement * len(elements)); err != nil {
		return false, err
	}
	for _, e := range elements {
		if kindOf(e) > text {
			continue
		}
		if same, err := equal(r, a, e); same || err != nil {
			return same, err
		}
	}
	return false, nil
}

func (c *compiler) textual(n *ast.BinaryNode, left, right term, holds func(a, b string) bool) (term, error) {
	if !left.may(text) || !right.may(text) {
		return term{}, c.refuse(n, n.Operator+" takes text, not "+left.String()+" and "+right.String())
	}
	return boolTerm(func(r *run) (bool, error) {
		v, w, err := both(r, left, right)
		if err != nil || v == nil || w == nil {
			return false, err
		}
		a, aok := v.(string)
		b, bok := w.(string)
		if !aok || !bok {
			return false, mismatch(n.Operator, v, w)
		}
		return holds(a, b), r.spend(len(a))
	}), nil
}
