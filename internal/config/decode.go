package config

import (
	"errors"
	"reflect"
	"strconv"
	"strings"

	"github.com/prism-rpc/prism-rpc/internal/plain"
	"github.com/prism-rpc/prism-rpc/schema"
)

// decode puts the document's values into s, with the defaults for those that it
// leaves out or empty, and checks them. The error is an *Error.
func (d *document) decode(s *Settings) error {
	err := schema.Decode(d.json, s)
	if err == nil {
		s.fillDefaults()
		err = s.check()
	}
	var bad *schema.ParamsError
	switch {
	case err == nil:
		return nil
	case asParams(err, &bad):
		return d.locate(bad.Errors[0])
	}
	return &Error{Path: d.path, Message: err.Error()}
}

// asParams is errors.As that takes a nil pointer inside an error for none.
func asParams(err error, bad **schema.ParamsError) bool {
	return errors.As(err, bad) && *bad != nil
}

// locate says where in the file a field's error is and what would be right.
func (d *document) locate(f schema.FieldError) *Error {
	e := &Error{Path: d.path, Key: f.Field, Message: f.Message}
	at := d.near(d.values, f.Field)
	switch f.Rule {
	case "unknown":
		at = d.near(d.keys, f.Field)
		parent, name := cutLast(f.Field)
		known := keysAt(reflect.TypeFor[Settings](), parent)
		e.Message = "unknown key"
		if e.Suggestion = plain.Nearest(name, known); e.Suggestion != "" {
			e.Hint = "did you mean " + e.Suggestion + "?"
		} else if len(known) > 0 {
			e.Hint = "known here: " + strings.Join(known, ", ")
		}
	case "unique": // its sentence can name what stands twice
		e.Message = "stands twice; keep one of them"
	case "type":
		if strings.HasPrefix(f.Message, "must be a string, not ") && !strings.HasSuffix(f.Message, "object") && !strings.HasSuffix(f.Message, "array") {
			e.Hint = "put the value in quotes"
		}
	}
	e.Line, e.Column = at.line, at.column
	return e
}

// near is the place of path or, where it is missing, of what it is missing in.
func (d *document) near(places map[string]place, path string) place {
	if at, ok := places[path]; ok {
		return at
	}
	for path != "" {
		path, _ = cutLast(path)
		if at, ok := d.values[path]; ok {
			return at
		}
	}
	return place{1, 1}
}

// cutLast splits a path before its last key or index.
func cutLast(path string) (parent, last string) {
	i := strings.LastIndexAny(path, ".[")
	if i < 0 {
		return "", path
	}
	return path[:i], strings.Trim(path[i:], ".[]")
}

// keysAt are the keys that the object at path may hold, as its type says.
func keysAt(t reflect.Type, path string) []string {
	for _, step := range strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		if t = child(t, step); t == nil {
			return nil
		}
	}
	return keysOf(t)
}

func child(t reflect.Type, step string) reflect.Type {
	t = target(t)
	switch t.Kind() {
	case reflect.Slice:
		if _, err := strconv.Atoi(step); err == nil {
			return t.Elem()
		}
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(t) {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name == step {
				return f.Type
			}
		}
	}
	return nil
}

func target(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

func keysOf(t reflect.Type) []string {
	var names []string
	if t = target(t); t.Kind() != reflect.Struct {
		return nil
	}
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "_meta" {
			names = append(names, name)
		}
	}
	return names
}
