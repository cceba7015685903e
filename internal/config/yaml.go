package config

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

const (
	maxFileBytes = 1 << 20
	maxJSONBytes = 8 << 20 // of the file with its aliases expanded
	maxValues    = 100_000 // likewise
	maxDepth     = 64
)

// A place in the file, from 1; columns in code points.
type place struct{ line, column int }

// A document is a file as JSON, with the place of each key and value by
// its path, as in injectors[0].when.
type document struct {
	path   string
	json   []byte
	keys   map[string]place
	values map[string]place
}

// parse reads one document, YAML or JSON, whose root is a mapping; an empty file is an
// empty one. The error is an *Error.
func parse(path string, data []byte) (*document, error) {
	if at, ok := unreadable(data); ok {
		return nil, &Error{Path: path, Line: at.line, Column: at.column,
			Message: "is not UTF-8 text", Hint: "save the file as UTF-8 without control characters"}
	}
	root, err := tree(data)
	if err != nil {
		return nil, syntaxError(path, data, err)
	}
	w := &walker{document: document{path: path, keys: map[string]place{}, values: map[string]place{}}}
	if root == nil || root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null" {
		w.json = []byte("{}")
		return &w.document, nil
	}
	if resolved(root).Kind != yaml.MappingNode {
		return nil, &Error{Path: path, Line: root.Line, Column: root.Column,
			Message: "must hold keys and values", Hint: "for example: provider: mock"}
	}
	if err := w.value("", root, 0); err != nil {
		return nil, err
	}
	return &w.document, nil
}

// unreadable finds the first byte that no YAML text holds.
func unreadable(data []byte) (place, bool) {
	at := place{1, 1}
	data = withoutMark(data)
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		switch {
		case r == utf8.RuneError && n == 1, r < ' ' && !strings.ContainsRune("\t\n\r", r), r == 0x7f, r == 0xfffe, r == 0xffff:
			return at, true
		case r == '\n':
			at = place{at.line + 1, 0}
		}
		at.column++
		data = data[n:]
	}
	return place{}, false
}

var errSeveral = errors.New("the file holds more than one document")

// single is the root of the only document; nil when there is none.
func single(data []byte) (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, err
	}
	if err := dec.Decode(&more); err == nil {
		return nil, errSeveral
	} else if !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	return doc.Content[0], nil
}

// syntaxError takes the line out of the parser's sentence, which is the only
// place where it tells it.
func syntaxError(path string, data []byte, err error) *Error {
	if errors.Is(err, errSeveral) {
		return &Error{Path: path, Message: err.Error(), Hint: "keep what stands before the second ---"}
	}
	var bad *jsonError
	if errors.As(err, &bad) {
		return &Error{Path: path, Line: bad.line, Column: bad.column, Message: bad.message,
			Hint: "a file that begins with { or [ is read as JSON, else as YAML"}
	}
	e := &Error{Path: path, Message: strings.TrimPrefix(err.Error(), "yaml: ")}
	if rest, ok := strings.CutPrefix(e.Message, "line "); ok {
		if n, message, ok := strings.Cut(rest, ": "); ok {
			e.Line, _ = strconv.Atoi(n) // 0, no line, when it is none
			e.Message = message
		}
	}
	if strings.HasPrefix(e.Message, "unknown anchor") { // which would follow
		e.Message = "an alias names an anchor that is not there"
	}
	e.Column = firstColumn(data, e.Line)
	if bytes.ContainsRune(data, '\t') {
		e.Hint = "YAML is indented by spaces, not tabs"
	}
	return e
}

// firstColumn is where the text of a line begins.
func firstColumn(data []byte, line int) int {
	for n := 1; n < line; n++ {
		_, data, _ = bytes.Cut(data, []byte("\n"))
	}
	if line == 0 {
		return 0
	}
	data, _, _ = bytes.Cut(data, []byte("\n"))
	return 1 + len(data) - len(bytes.TrimLeft(data, " \t"))
}

// A walker writes the document's JSON.
type walker struct{ document }

func (w *walker) fail(n *yaml.Node, key, message, hint string) *Error {
	return &Error{Path: w.path, Line: n.Line, Column: n.Column, Key: key, Message: message, Hint: hint}
}

// value writes the node n, which stands at path.
func (w *walker) value(path string, n *yaml.Node, depth int) error {
	n = resolved(n)
	w.values[path] = place{n.Line, n.Column}
	switch {
	case depth > maxDepth:
		return w.fail(n, path, "is nested deeper than "+strconv.Itoa(maxDepth)+" levels", "")
	case len(w.json) > maxJSONBytes, len(w.values) > maxValues:
		return w.fail(n, path, "is too large once its aliases stand in full", "write less with anchors and aliases")
	}
	switch n.Kind {
	case yaml.MappingNode:
		return w.mapping(path, n, depth)
	case yaml.SequenceNode:
		return w.sequence(path, n, depth)
	}
	return w.scalar(path, n)
}

// resolved is what an alias stands for.
func resolved(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func (w *walker) sequence(path string, n *yaml.Node, depth int) error {
	if tag := n.ShortTag(); tag != "!!seq" {
		return w.badTag(path, n, tag)
	}
	w.json = append(w.json, '[')
	for i, item := range n.Content {
		if i > 0 {
			w.json = append(w.json, ',')
		}
		if err := w.value(path+"["+strconv.Itoa(i)+"]", item, depth+1); err != nil {
			return err
		}
	}
	w.json = append(w.json, ']')
	return nil
}

func (w *walker) mapping(path string, n *yaml.Node, depth int) error {
	if tag := n.ShortTag(); tag != "!!map" {
		return w.badTag(path, n, tag)
	}
	seen := map[string]bool{}
	w.json = append(w.json, '{')
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := resolved(n.Content[i])
		if err := w.key(path, key, seen); err != nil {
			return err
		}
		if i > 0 {
			w.json = append(w.json, ',')
		}
		w.json = append(appendString(w.json, key.Value), ':')
		if err := w.value(below(path, key.Value), n.Content[i+1], depth+1); err != nil {
			return err
		}
	}
	w.json = append(w.json, '}')
	return nil
}

func (w *walker) key(path string, key *yaml.Node, seen map[string]bool) error {
	switch {
	case key.Kind == yaml.ScalarNode && key.ShortTag() == "!!merge":
		return w.fail(key, path, "merge keys are not taken", "write the keys out")
	case key.Kind != yaml.ScalarNode || key.ShortTag() != "!!str":
		return w.fail(key, path, "holds a key that is not text", "put the key in quotes")
	}
	full := below(path, key.Value)
	if seen[key.Value] {
		return w.fail(key, full, "stands twice", "keep one of them")
	}
	seen[key.Value] = true
	w.keys[full] = place{key.Line, key.Column}
	return nil
}

// below is the path of a key of the value at path, as schema's errors write it.
func below(path, key string) string {
	switch {
	case key != "" && strings.Trim(key, "0123456789") == "":
		return path + "[" + key + "]"
	case path == "":
		return key
	}
	return path + "." + key
}

func (w *walker) scalar(path string, n *yaml.Node) error {
	switch tag := n.ShortTag(); tag {
	case "!!str", "!!timestamp": // a date is the text that was written
		w.json = appendString(w.json, n.Value)
	case "!!null":
		w.json = append(w.json, "null"...)
	case "!!bool":
		w.json = strconv.AppendBool(w.json, strings.EqualFold(n.Value, "true"))
	case "!!int", "!!float":
		return w.number(path, n)
	default:
		return w.badTag(path, n, tag)
	}
	return nil
}

func (w *walker) badTag(path string, n *yaml.Node, tag string) error {
	return w.fail(n, path, "has a tag that is not taken here", "leave the tag out")
}

// number writes YAML's numbers (0x1f, 1_000) as JSON has them.
func (w *walker) number(path string, n *yaml.Node) error {
	var whole int64
	if n.ShortTag() == "!!int" && n.Decode(&whole) == nil {
		w.json = strconv.AppendInt(w.json, whole, 10)
		return nil
	}
	var f float64
	if err := n.Decode(&f); err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return w.fail(n, path, "is not a number that JSON knows", "")
	}
	w.json = strconv.AppendFloat(w.json, f, 'g', -1, 64)
	return nil
}

func appendString(dst []byte, s string) []byte {
	out, _ := jsontext.AppendQuote(dst, s) // its error is about bytes that now are U+FFFD
	return out
}
