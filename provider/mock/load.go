package mock

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/prism-rpc/prism-rpc/internal/plain"
)

// A ScriptError says where a script is wrong, and how.
type ScriptError struct {
	Line       int    // from 1; 0 when it is not known
	Column     int    // in characters, from 1; 0 when it is not known
	Key        string // below the list, as in error.class; may be empty
	Suggestion string // the key or word that was meant, perhaps
	Problem    string
}

func (e *ScriptError) Error() string {
	var b strings.Builder
	if e.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", e.Line)
	}
	if e.Key != "" {
		b.WriteString(e.Key + ": ")
	}
	b.WriteString(e.Problem)
	if e.Suggestion != "" {
		fmt.Fprintf(&b, " (did you mean %s?)", e.Suggestion)
	}
	return b.String()
}

// LoadScript reads a script: a YAML list of entries with the keys deltas,
// text, thinking, delayMs, usage, stopReason, error, times, then, match and
// repeat. What it doesn't know it refuses, with a *ScriptError.
func LoadScript(r io.Reader) ([]Entry, error) {
	dec := yaml.NewDecoder(r)
	var doc yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, yamlError(err)
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, &ScriptError{Problem: "a script is one YAML document"}
	}
	return entries(resolve(doc.Content[0]))
}

func entries(list *yaml.Node) ([]Entry, error) {
	if list.ShortTag() == "!!null" {
		return nil, nil
	}
	if list.Kind != yaml.SequenceNode {
		return nil, wrong(list, "", "a script is a list of entries")
	}
	out := make([]Entry, len(list.Content))
	for i, n := range list.Content {
		n = resolve(n)
		if err := readObject(n, "", entryFields(&out[i])); err != nil {
			return nil, err
		}
		if err := checkEntry(n, &out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func checkEntry(n *yaml.Node, e *Entry) error {
	switch {
	case len(e.Deltas) > 0 && e.Text != "":
		return wrong(n, "text", "an entry has deltas or a text, not both")
	case e.Error != nil && e.Then != None:
		return wrong(n, "then", "an entry ends in an error or in a fault, not both")
	case e.Error != nil && e.StopReason != "":
		return wrong(n, "stopReason", "an entry that ends in an error has no stop reason")
	case e.Times > 0 && e.Repeat:
		return wrong(n, "repeat", "an entry has times or repeat, not both")
	}
	return nil
}

// yamlError keeps the line that the parser names in its text.
func yamlError(err error) error {
	e := &ScriptError{Problem: strings.TrimPrefix(err.Error(), "yaml: ")}
	yamlLine := regexp.MustCompile(`line (\d+): `)
	if m := yamlLine.FindStringSubmatchIndex(e.Problem); m != nil {
		if _, err := fmt.Sscan(e.Problem[m[2]:m[3]], &e.Line); err == nil {
			e.Problem = e.Problem[m[1]:]
		}
	}
	e.Problem = plain.Text("it is not YAML: "+e.Problem, 300)
	return e
}

func wrong(n *yaml.Node, key, problem string) *ScriptError {
	return &ScriptError{Line: n.Line, Column: n.Column, Key: key, Problem: problem}
}
