package main

import (
	"encoding/json" // invopop's Number
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"
)

// finish adds to an object's schema what invopop does not know: which fields
// are required, which may be null, and the rules of validator tags.
func (g *generator) finish(m mode, t reflect.Type, s *jsonschema.Schema) {
	s.Required = nil
	for f := range jsonFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		p, ok := s.Properties.Get(name)
		if !ok {
			continue
		}
		p, required, err := g.field(m, t, f, name, options, p)
		if err != nil {
			g.errs = append(g.errs, fmt.Errorf("%s.%s: %w", t, f.Name, err))
		}
		s.Properties.Set(name, p)
		if required {
			s.Required = append(s.Required, name)
		}
	}
	if whole, ok := wholes[formOf{m, t}]; ok {
		g.used[formOf{m, t}] = true
		s.AnyOf = g.parse(whole).AnyOf
	}
}

// jsonFields are a struct's fields and those of the structs embedded in it, also
// where an embedded struct has the name of its field.
func jsonFields(t reflect.Type) iter.Seq[reflect.StructField] {
	return func(yield func(reflect.StructField) bool) {
		for f := range t.Fields() {
			if !f.Anonymous {
				if !yield(f) {
					return
				}
				continue
			}
			for inner := range jsonFields(f.Type) {
				if !yield(inner) {
					return
				}
			}
		}
	}
}

// field completes the schema of one field and tells whether it is required.
func (g *generator) field(m mode, t reflect.Type, f reflect.StructField, name, options string, p *jsonschema.Schema) (*jsonschema.Schema, bool, error) {
	form, described := fields[fieldOf{m, t.Name() + "." + name}]
	if raw, ok := rawFields[name]; !described && p.Comments == rawValue {
		if !ok {
			return p, false, fmt.Errorf("a field of any JSON; describe it in rawFields")
		}
		g.used[name] = true
		p = g.describe(p, raw)
	}
	if described {
		g.used[fieldOf{m, t.Name() + "." + name}] = true
		p = g.describe(p, form.schema)
	}
	if inner := pointee(f.Type); inner.Kind() == reflect.Struct && inner.Name() == "" {
		g.finish(m, inner, p)
	}
	if m == sent {
		required := form.required || !strings.Contains(options, "omit")
		if required && !described && f.Type.Kind() == reflect.Pointer {
			p = orNull(p)
		}
		return p, required, nil
	}
	required, err := g.rules(f.Type, p, f.Tag.Get("validate"))
	if required = required || form.required; !required {
		p = orNull(p)
	}
	return p, required, err
}

// describe replaces a schema by one written by hand and keeps its description.
func (g *generator) describe(p *jsonschema.Schema, text string) *jsonschema.Schema {
	out := g.parse(text)
	out.Description = p.Description
	return out
}

func pointee(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// rules folds a validator tag into the schema of a field of type t.
func (g *generator) rules(t reflect.Type, s *jsonschema.Schema, tag string) (required bool, err error) {
	if tag == "" || tag == "-" {
		return false, nil
	}
	rules := strings.Split(tag, ",")
	optional := slices.Contains(rules, "omitempty") && t.Kind() != reflect.Pointer
	for i, rule := range rules {
		word, arg, _ := strings.Cut(rule, "=")
		switch word {
		case "omitempty":
		case "injectorname":
			required = true
			err = g.rule(t, s, word, arg)
		case "required":
			required = true
			err = nonZero(t, s)
		case "dive":
			_, err = g.rules(t.Elem(), s.Items, strings.Join(rules[i+1:], ","))
			return required, err
		default:
			err = g.rule(pointee(t), s, word, arg)
		}
		if err != nil {
			return required, fmt.Errorf("rule %s: %w", rule, err)
		}
	}
	if optional {
		err = allowZero(t, s)
	}
	return required, err
}

// rule maps one rule; a rule that it does not know is an error, so that the
// documents can't fall behind the tags.
func (g *generator) rule(t reflect.Type, s *jsonschema.Schema, word, arg string) error {
	switch word {
	case "min", "gte":
		return bound(t, arg, &s.MinLength, &s.MinItems, &s.Minimum)
	case "max", "lte":
		return bound(t, arg, &s.MaxLength, &s.MaxItems, &s.Maximum)
	case "unique":
		s.UniqueItems = true
	case "oneof":
		return g.oneOf(t, s, strings.Fields(arg))
	case "sessionid":
		s.Pattern = `^[A-Za-z0-9_]([A-Za-z0-9._-]{0,126}[A-Za-z0-9_-])?$`
		s.Not = &jsonschema.Schema{Type: "string", Pattern: `^([Cc][Oo][Nn]|[Pp][Rr][Nn]|[Aa][Uu][Xx]|[Nn][Uu][Ll]|([Cc][Oo][Mm]|[Ll][Pp][Tt])[0-9])(\.|$)`}
	case "producer":
		s.Pattern = `^[A-Za-z0-9@][A-Za-z0-9._/@-]{0,63}$`
		s.Not = &jsonschema.Schema{Const: "plugin"}
	case "spliceid":
		s.Pattern = `^[!-~]{1,128}$`
	case "injectorname": // how it is composed is beyond JSON Schema
		one, most := uint64(1), uint64(128)
		s.MinLength, s.MaxLength = &one, &most
		s.Not = &jsonschema.Schema{Const: "false"}
	default:
		return fmt.Errorf("no JSON Schema keyword stands for it")
	}
	return nil
}

// bound sets the keyword for t's kind. Strings are counted in characters on
// both sides.
func bound(t reflect.Type, arg string, length, items **uint64, number *json.Number) error {
	switch t.Kind() {
	case reflect.Int, reflect.Int64, reflect.Float64:
		*number = json.Number(arg)
		return nil
	case reflect.String, reflect.Slice:
		n, err := strconv.ParseUint(arg, 10, 64)
		if err != nil {
			return err
		}
		if t.Kind() == reflect.String {
			*length = &n
		} else {
			*items = &n
		}
		return nil
	}
	return fmt.Errorf("no bound for a %s", t.Kind())
}

// oneOf lists the words, unless the field's own type has just these.
func (g *generator) oneOf(t reflect.Type, s *jsonschema.Schema, words []string) error {
	if s.Ref == "" {
		for _, w := range words {
			s.Enum = append(s.Enum, w)
		}
		return nil
	}
	if !slices.Equal(g.enums[t.Name()], words) {
		return fmt.Errorf("the constants of %s are %q", t.Name(), g.enums[t.Name()])
	}
	return nil
}

func nonZero(t reflect.Type, s *jsonschema.Schema) error {
	if t.Kind() != reflect.String {
		return fmt.Errorf("no keyword for a %s that is not zero", t.Kind())
	}
	if s.MinLength == nil {
		one := uint64(1)
		s.MinLength = &one
	}
	return nil
}

// allowZero lets a field without a pointer be empty, as omitempty does.
func allowZero(t reflect.Type, s *jsonschema.Schema) error {
	switch {
	case s.MinLength != nil || s.MinItems != nil || s.Minimum != "":
		return fmt.Errorf("omitempty beside a lower bound needs a pointer")
	case t.Kind() != reflect.String:
	case s.Ref != "":
		*s = jsonschema.Schema{Description: s.Description, AnyOf: []*jsonschema.Schema{{Ref: s.Ref}, {Const: ""}}}
	case s.Enum != nil:
		s.Enum = append(s.Enum, "")
	case s.Pattern != "":
		s.Pattern = "^$|" + s.Pattern
	}
	return nil
}

// orNull is the schema that also takes null.
func orNull(s *jsonschema.Schema) *jsonschema.Schema {
	null := &jsonschema.Schema{Type: "null"}
	switch {
	case s.Type != "":
		s.Extras = map[string]any{"type": []string{s.Type, "null"}}
		s.Type = ""
		if s.Enum != nil {
			s.Enum = append(s.Enum, nil)
		}
	case s.Ref != "":
		return &jsonschema.Schema{Description: s.Description, AnyOf: []*jsonschema.Schema{{Ref: s.Ref}, null}}
	case s.AnyOf != nil:
		s.AnyOf = append(s.AnyOf, null)
	}
	return s
}
