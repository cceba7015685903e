package config

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// tree is the file's root, nil for an empty file: of JSON where it is that,
// else of YAML. YAML knows neither JSON's surrogate pairs nor its \/ and takes
// no tabs; what begins like JSON can be YAML's flow style all the same.
func tree(data []byte) (*yaml.Node, error) {
	if !likeJSON(data) {
		return single(data)
	}
	root, err := readJSON(data)
	if err != nil {
		if flow, flowErr := single(data); flowErr == nil {
			return flow, nil
		}
	}
	return root, err
}

func likeJSON(data []byte) bool {
	text := bytes.TrimLeft(withoutMark(data), " \t\r\n")
	return len(text) > 0 && (text[0] == '{' || text[0] == '[')
}

func withoutMark(data []byte) []byte { return bytes.TrimPrefix(data, []byte("\ufeff")) }

// A jsonReader makes of JSON the tree that YAML's reader makes of the same
// values, so that all rules and places are the same.
type jsonReader struct {
	text   []byte
	dec    *jsontext.Decoder
	at     place // of text[offset]
	offset int
}

// readJSON reads one JSON value. With an error, which is a *jsonError, it gives
// what had been read by then.
func readJSON(data []byte) (*yaml.Node, error) {
	text := withoutMark(data)
	r := &jsonReader{text: text, at: place{1, 1}, dec: jsontext.NewDecoder(bytes.NewReader(text),
		jsontext.AllowDuplicateNames(true), // the walker says where both stand
		jsontext.AllowInvalidUTF8(true))}   // a lone surrogate is U+FFFD, as on the wire
	root, err := r.value()
	if err == nil {
		if _, err = r.dec.ReadToken(); errors.Is(err, io.EOF) {
			return root, nil
		}
	}
	return root, r.fault(err)
}

// value reads a value, or the name of a member.
func (r *jsonReader) value() (*yaml.Node, error) {
	switch r.dec.PeekKind() {
	case jsontext.KindBeginObject:
		return r.container(yaml.MappingNode, "!!map")
	case jsontext.KindBeginArray:
		return r.container(yaml.SequenceNode, "!!seq")
	}
	raw, err := r.dec.ReadValue()
	if err != nil {
		return nil, err
	}
	n := r.node(yaml.ScalarNode, len(raw))
	n.Value = string(raw)
	switch raw.Kind() {
	case jsontext.KindString:
		text, _ := jsontext.AppendUnquote(nil, raw) // its error is about what now is U+FFFD
		n.Tag, n.Value = "!!str", string(text)
	case jsontext.KindNull:
		n.Tag = "!!null"
	case jsontext.KindTrue, jsontext.KindFalse:
		n.Tag = "!!bool"
	} // a number's tag comes of how it looks
	return n, nil
}

func (r *jsonReader) container(kind yaml.Kind, tag string) (*yaml.Node, error) {
	if _, err := r.dec.ReadToken(); err != nil {
		return nil, err
	}
	n := r.node(kind, 1)
	n.Tag = tag
	for {
		switch r.dec.PeekKind() {
		case jsontext.KindEndObject, jsontext.KindEndArray:
			_, err := r.dec.ReadToken()
			return n, err
		}
		child, err := r.value()
		if child != nil {
			n.Content = append(n.Content, child)
		}
		if err != nil {
			return n, err
		}
	}
}

// node is one whose first size bytes were just read.
func (r *jsonReader) node(kind yaml.Kind, size int) *yaml.Node {
	at := r.place(int(r.dec.InputOffset()) - size)
	return &yaml.Node{Kind: kind, Line: at.line, Column: at.column}
}

// place is where an offset is; offsets come in rising order.
func (r *jsonReader) place(offset int) place {
	for r.offset < min(offset, len(r.text)) {
		c, n := utf8.DecodeRune(r.text[r.offset:])
		r.offset += n
		r.at.column++
		if c == '\n' {
			r.at = place{r.at.line + 1, 1}
		}
	}
	return r.at
}

// A jsonError is a place where JSON ends being JSON.
type jsonError struct {
	place
	message string
}

func (e *jsonError) Error() string { return e.message }

// fault says where err is. What stands there is not shown.
func (r *jsonReader) fault(err error) *jsonError {
	offset := int(r.dec.InputOffset())
	var bad *jsontext.SyntacticError
	if errors.As(err, &bad) {
		offset = int(bad.ByteOffset)
	}
	switch {
	case err == nil:
		return &jsonError{r.place(offset - 1), "holds more than one JSON value"}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &jsonError{r.place(len(r.text)), "is JSON that ends too early"}
	}
	return &jsonError{r.place(offset), "is not valid JSON"}
}
