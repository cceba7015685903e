package predicate

// A kind is what a part of an expression gives.
type kind int

const (
	anything kind = iota // known when it runs: what metadata holds
	null
	boolean
	number // always a float64
	text
	list   // []any
	object // map[string]any
	message
)

func (k kind) String() string {
	return [...]string{"a value of unknown type", "nil", "a boolean", "a number", "text", "a list", "an object", "a message"}[k]
}

// A term is a compiled part of an expression. A list has elements of one kind.
type term struct {
	kind
	of    kind
	eval  func(*run) (any, error)
	value any // of a constant

	folded func(*run) (string, error) // the text without regard to case, where it is kept for all of the turn
}

// may tells whether t can turn out to be k.
func (t term) may(k kind) bool { return t.kind == k || t.kind == anything }

func constant(k kind, value any) term {
	return term{kind: k, value: value, eval: func(*run) (any, error) { return value, nil }}
}

// kindOf is what a value is; a list's elements can be anything.
func kindOf(value any) kind {
	switch value.(type) {
	case nil:
		return null
	case bool:
		return boolean
	case float64:
		return number
	case string:
		return text
	case []any:
		return list
	case map[string]any:
		return object
	case said:
		return message
	}
	return anything
}
