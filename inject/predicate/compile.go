package predicate

import (
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// allowed is what a refusal offers instead.
const allowed = "; there are comparison, and, or, not, arithmetic on numbers, in, contains, startsWith, endsWith, matches, and the functions len, any, all, none, one, count, lower, upper, trim"

// A compiler turns a syntax tree into terms.
type compiler struct {
	source string
	nodes  int  // so far: a tree may hold one node in several places
	inside bool // any, all, none, one or count
	item   kind // of the list that it goes through
}

func (c *compiler) refuse(n ast.Node, message string) *Error {
	return at(c.source, n.Location().From, message)
}

func (c *compiler) term(n ast.Node) (term, error) {
	if c.nodes++; c.nodes > MaxNodes {
		return term{}, c.refuse(n, "holds more than "+strconv.Itoa(MaxNodes)+" parts")
	}
	switch n := n.(type) {
	case *ast.NilNode:
		return constant(null, nil), nil
	case *ast.BoolNode:
		return constant(boolean, n.Value), nil
	case *ast.IntegerNode:
		return constant(number, float64(n.Value)), nil
	case *ast.FloatNode:
		return constant(number, n.Value), nil
	case *ast.StringNode:
		return constant(text, n.Value), nil
	case *ast.IdentifierNode:
		return c.variable(n)
	case *ast.PointerNode:
		return c.pointer(n)
	case *ast.UnaryNode:
		return c.unary(n)
	case *ast.BinaryNode:
		return c.binary(n)
	case *ast.BuiltinNode:
		return c.function(n)
	case *ast.ChainNode:
		return c.term(n.Node) // a member of nothing is nil anyway
	case *ast.MemberNode:
		return c.member(n)
	case *ast.ArrayNode:
		return c.array(n)
	}
	return term{}, c.refuse(n, construct(n)+" not allowed"+allowed)
}

// construct names what is refused.
func construct(n ast.Node) string {
	switch n := n.(type) {
	case *ast.CallNode:
		if callee, ok := n.Callee.(*ast.IdentifierNode); ok {
			return "the function " + callee.Value + " is"
		}
		return "calls are"
	case *ast.SliceNode:
		return "slices are"
	case *ast.ConditionalNode:
		return "conditionals are"
	case *ast.VariableDeclaratorNode:
		return "let is"
	case *ast.SequenceNode:
		return "several expressions are"
	case *ast.MapNode:
		return "maps are"
	}
	return "this is"
}

func (c *compiler) variable(n *ast.IdentifierNode) (term, error) {
	i := slices.IndexFunc(variables[:], func(v variable) bool { return v.name == n.Value })
	if i < 0 {
		return term{}, c.refuse(n, "there is no variable "+n.Value+"; there are "+strings.Join(variableNames(), ", "))
	}
	v := variables[i]
	t := term{kind: v.kind, of: v.of, eval: func(r *run) (any, error) { return v.get(r.turn) }}
	if v.folded != nil {
		t.folded = func(r *run) (string, error) { return v.folded(r.turn) }
	}
	return t, nil
}

// pointer is # (or nothing, before a dot): the element that any, all, none,
// one and count look at.
func (c *compiler) pointer(n *ast.PointerNode) (term, error) {
	if n.Name != "" {
		return term{}, c.refuse(n, "#"+n.Name+" is not allowed; # alone is the element")
	}
	return term{kind: c.item, eval: func(r *run) (any, error) { return r.item, nil }}, nil
}

// array is a list that stands in the source, of constants.
func (c *compiler) array(n *ast.ArrayNode) (term, error) {
	of, values := null, make([]any, len(n.Nodes))
	for i, node := range n.Nodes {
		t, err := c.term(node)
		switch {
		case err != nil:
			return term{}, err
		case !isConstant(node):
			return term{}, c.refuse(node, "a list may hold only numbers, text, true, false and nil")
		case i == 0:
			of = t.kind
		case t.kind != of:
			of = anything
		}
		values[i] = t.value
	}
	t := constant(list, values)
	t.of = of
	return t, nil
}

func isConstant(n ast.Node) bool {
	switch n.(type) {
	case *ast.NilNode, *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.StringNode:
		return true
	}
	return false
}

// member is a.b, a["b"] or a[0].
func (c *compiler) member(n *ast.MemberNode) (term, error) {
	from, err := c.term(n.Node)
	if err != nil {
		return term{}, err
	}
	key, err := c.term(n.Property)
	if err != nil {
		return term{}, err
	}
	give := func(k kind) (term, error) {
		return term{kind: k, eval: func(r *run) (any, error) { return memberOf(r, from, key) }}, nil
	}
	switch {
	case from.kind == message:
		if key.value != "role" && key.value != "text" {
			return term{}, c.refuse(n.Property, "a message has role and text")
		}
		return give(text)
	case from.kind == object && key.may(text), from.kind == anything && (key.may(text) || key.may(number)):
		return give(anything)
	case from.kind == list && key.may(number):
		if from.of == message {
			return term{}, c.refuse(n.Property, "messages have no numbers; use any, all, none, one or count")
		}
		return give(anything) // nil, past the end
	}
	return term{}, c.refuse(n.Property, from.String()+" has no such member")
}

func memberOf(r *run, from, key term) (any, error) {
	in, err := from.eval(r)
	if err != nil {
		return nil, err
	}
	k, err := key.eval(r)
	if err != nil {
		return nil, err
	}
	switch in := in.(type) {
	case nil:
		return nil, nil
	case said:
		if k == "role" {
			return in.role, nil
		}
		return in.text, nil
	case map[string]any:
		if k, ok := k.(string); ok {
			return in[k], nil
		}
	case []any:
		if k, ok := k.(float64); ok {
			return element(in, k), nil
		}
	}
	return nil, mismatch("this member", in, k)
}

// element is that of a list at a place, from the end where it is negative; nil
// where there is none.
func element(in []any, place float64) any {
	if place < 0 {
		place += float64(len(in))
	}
	if place >= 0 && place < float64(len(in)) && place == float64(int(place)) {
		return in[int(place)]
	}
	return nil
}
