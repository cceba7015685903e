package predicate

import (
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
)

func (c *compiler) matches(n *ast.BinaryNode) (term, error) {
	subject, err := c.term(n.Left)
	if err != nil {
		return term{}, err
	}
	literal, ok := n.Right.(*ast.StringNode)
	switch {
	case !subject.may(text):
		return term{}, c.refuse(n, "matches takes text, not "+subject.String())
	case !ok:
		return term{}, c.refuse(n.Right, "a pattern must stand in the expression, as text in quotes")
	}
	p, err := newPattern(literal.Value)
	if err != nil {
		return term{}, c.refuse(literal, err.Error())
	}
	c.nodes++
	return boolTerm(func(r *run) (bool, error) {
		if p.needed != nil && subject.folded != nil {
			folded, err := subject.folded(r)
			if err != nil {
				return false, err
			}
			if found, err := p.inFolded(r, folded); err != nil || !found || p.isWords {
				return found, err
			}
		}
		v, err := subject.eval(r)
		if err != nil || v == nil {
			return false, err
		}
		s, ok := v.(string)
		if !ok {
			return false, mismatch("matches", v)
		}
		return p.in(r, s)
	}), nil
}

// A pattern is a regular expression. One that looks for words without regard
// to case, as most do, is answered without running it; so is any other where a
// word that it needs is not there.
type pattern struct {
	needed  []string // words, folded, of which a text that matches holds one; nil: none is known
	isWords bool     // such a text matches
	regex   *regexp.Regexp
	size    int // steps for each character, at worst
}

func newPattern(source string) (*pattern, error) {
	if len(source) > MaxRegexBytes {
		return nil, fmt.Errorf("a pattern may have at most %d bytes", MaxRegexBytes)
	}
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		var bad *syntax.Error
		if errors.As(err, &bad) {
			return nil, errors.New("not a pattern: " + bad.Code.String())
		}
		return nil, err
	}
	p := &pattern{size: steps(tree), needed: words(tree)}
	if p.isWords = p.needed != nil; !p.isWords {
		p.needed = needed(tree)
	}
	if p.size > maxRegexSize {
		return nil, errors.New("the pattern repeats too much")
	}
	p.regex, err = regexp.Compile(source)
	return p, err
}

// steps bounds the size of a pattern's program, before it is made.
func steps(tree *syntax.Regexp) int {
	sum := 1
	for _, sub := range tree.Sub {
		sum = min(sum+steps(sub), math.MaxInt32)
	}
	switch tree.Op {
	case syntax.OpLiteral:
		sum += len(tree.Rune)
	case syntax.OpRepeat:
		sum = min(sum*(max(tree.Min, tree.Max)+1), math.MaxInt32)
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpCapture:
		sum++
	}
	return sum
}

// words are those that a pattern looks for without regard to case; nil when it
// is more than that.
func words(tree *syntax.Regexp) []string {
	switch {
	case tree.Op == syntax.OpLiteral && tree.Flags&syntax.FoldCase != 0:
		return []string{fold(string(tree.Rune))}
	case tree.Op == syntax.OpCapture:
		return words(tree.Sub[0])
	case tree.Op != syntax.OpAlternate:
		return nil
	}
	var out []string
	for _, sub := range tree.Sub {
		one := words(sub)
		if one == nil {
			return nil
		}
		out = append(out, one...)
	}
	return out
}

// needed are words, folded, of which every text that matches holds one; nil
// when there is nothing to go by.
func needed(tree *syntax.Regexp) []string {
	switch tree.Op {
	case syntax.OpLiteral:
		return []string{fold(string(tree.Rune))}
	case syntax.OpCapture, syntax.OpPlus:
		return needed(tree.Sub[0])
	case syntax.OpRepeat:
		if tree.Min > 0 {
			return needed(tree.Sub[0])
		}
	case syntax.OpConcat:
		return rarest(tree.Sub)
	case syntax.OpAlternate:
		return neededByAll(tree.Sub)
	}
	return nil
}

// rarest are the words needed by that part of a whole which fewest texts hold:
// the one whose shortest word is the longest.
func rarest(parts []*syntax.Regexp) []string {
	var best []string
	for _, part := range parts {
		if words := needed(part); shortest(words) > shortest(best) {
			best = words
		}
	}
	return best
}

func shortest(words []string) int {
	if len(words) == 0 {
		return 0
	}
	least := len(words[0])
	for _, w := range words {
		least = min(least, len(w))
	}
	return least
}

func neededByAll(alternatives []*syntax.Regexp) []string {
	var out []string
	for _, a := range alternatives {
		words := needed(a)
		if words == nil {
			return nil
		}
		out = append(out, words...)
	}
	return out
}

// fold makes texts that differ in case alone the same.
func fold(s string) string { return strings.Map(foldRune, s) }

// foldRune is the least of the characters that are the same but for case,
// in lower case where it is a letter of ASCII.
func foldRune(r rune) rune {
	switch {
	case 'A' <= r && r <= 'Z':
		return r + 'a' - 'A'
	case r < utf8.RuneSelf:
		return r
	}
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	if 'A' <= least && least <= 'Z' {
		least += 'a' - 'A'
	}
	return least
}

func (p *pattern) inFolded(r *run, folded string) (bool, error) {
	for _, word := range p.needed {
		if err := r.spend(len(folded)); err != nil {
			return false, err
		}
		if strings.Contains(folded, word) {
			return true, nil
		}
	}
	return false, nil
}

func (p *pattern) in(r *run, s string) (bool, error) {
	if p.isWords {
		if err := r.copy(len(s)); err != nil {
			return false, err
		}
		return p.inFolded(r, fold(s))
	}
	if p.size*len(s) <= 16*perLook {
		return p.regex.MatchString(s), r.spend(p.size * len(s))
	}
	in := &interruptible{run: r, text: s, cost: p.size}
	found := p.regex.MatchReader(in)
	return found, in.err
}

// interruptible is a text that ends early when the time is spent, and with it
// the search for a pattern.
type interruptible struct {
	run  *run
	text string
	cost int // of each character
	err  error
}

func (i *interruptible) ReadRune() (rune, int, error) {
	if i.err == nil {
		i.err = i.run.spend(i.cost)
	}
	if i.err != nil || i.text == "" {
		return 0, 0, io.EOF
	}
	c, size := utf8.DecodeRuneInString(i.text)
	i.text = i.text[size:]
	return c, size, nil
}
