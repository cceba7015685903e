package predicate

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/parser/lexer"
)

// parse is the syntax tree of an expression that keeps the bounds. The parser
// is another's: a fault of its own must not end the process.
func parse(source string) (root ast.Node, err error) {
	defer func() {
		if v := recover(); v != nil {
			root, err = nil, &Error{1, 1, "can't be read"}
		}
	}()
	switch {
	case strings.TrimSpace(source) == "":
		return nil, &Error{1, 1, "is empty"}
	case len(source) > MaxBytes:
		return nil, &Error{1, 1, fmt.Sprintf("is larger than %d bytes", MaxBytes)}
	case !utf8.ValidString(source):
		return nil, &Error{1, 1, "is not valid UTF-8"}
	}
	tokens, err := lexer.Lex(file.NewSource(source))
	if err != nil {
		return nil, syntaxError(source, err)
	}
	if err := checkDepth(source, tokens); err != nil {
		return nil, err
	}
	tree, err := parser.ParseWithConfig(source, &conf.Config{MaxNodes: MaxNodes})
	if err != nil {
		return nil, syntaxError(source, err)
	}
	return tree.Node, nil
}

// checkDepth refuses nesting before the parser, which goes down into it, sees
// it. Prefixes nest as brackets do.
func checkDepth(source string, tokens []lexer.Token) error {
	depth, prefixes := 0, 0
	for _, t := range tokens {
		switch {
		case t.Is(lexer.Bracket, "("), t.Is(lexer.Bracket, "["), t.Is(lexer.Bracket, "{"):
			depth++
		case t.Kind == lexer.Bracket:
			depth--
		case t.Kind != lexer.Operator:
			prefixes = -1
		}
		if prefixes++; depth > MaxDepth || prefixes > MaxDepth {
			return at(source, t.From, fmt.Sprintf("nests deeper than %d", MaxDepth))
		}
	}
	return nil
}

// syntaxError is the parser's complaint without the drawing it adds.
func syntaxError(source string, err error) *Error {
	var bad *file.Error
	if !errors.As(err, &bad) {
		return &Error{1, 1, "can't be read"}
	}
	if strings.Contains(bad.Message, "maximum allowed nodes") {
		return at(source, bad.From, fmt.Sprintf("holds more than %d parts", MaxNodes))
	}
	return at(source, bad.From, bad.Message)
}

// at is an error at a code point of the source, from 0.
func at(source string, offset int, message string) *Error {
	e := &Error{Line: 1, Column: 1, Message: message}
	for _, r := range source {
		switch {
		case offset == 0:
			return e
		case r == '\n':
			e.Line, e.Column = e.Line+1, 1
		default:
			e.Column++
		}
		offset--
	}
	return e
}
