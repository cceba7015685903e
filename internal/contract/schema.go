// Package contract holds values and messages against the documents that
// package schema embeds. Only tests use it.
package contract

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A Schema is a JSON Schema document of the keywords that are used here.
type Schema struct {
	root     map[string]any
	patterns map[string]*regexp.Regexp
}

// Parse reads a document. Keywords that Check does not know are refused: they
// would not be checked.
func Parse(doc string) (*Schema, error) {
	s := &Schema{patterns: map[string]*regexp.Regexp{}}
	if err := json.Unmarshal([]byte(doc), &s.root); err != nil {
		return nil, err
	}
	return s, s.prepare("", s.root)
}

// Definitions are the names of what Check knows.
func (s *Schema) Definitions() []string {
	defs, _ := s.root["$defs"].(map[string]any)
	return slices.Sorted(maps.Keys(defs))
}

// Definition is the schema of that name, as decoded JSON.
func (s *Schema) Definition(name string) any {
	defs, _ := s.root["$defs"].(map[string]any)
	return defs[name]
}

// Check tells why raw is not what the definition says, nil when it is.
func (s *Schema) Check(definition string, raw []byte) error {
	schema := s.Definition(definition)
	if schema == nil {
		return fmt.Errorf("there is no definition %q", definition)
	}
	var v any
	if err := json.Unmarshal(raw, &v, jsontext.AllowInvalidUTF8(true)); err != nil {
		return err
	}
	return s.check("", schema, v)
}

// subschemas and maps of them, among the keywords.
var (
	single = []string{"items", "contains", "not", "additionalProperties"}
	listed = []string{"anyOf", "oneOf"}
	named  = []string{"properties", "$defs"}
	plain  = []string{
		"$schema", "$ref", "title", "description", "type", "enum", "const", "required", "minItems", "maxItems", "uniqueItems",
		"minLength", "maxLength", "pattern", "minimum", "maximum",
	}
)

func (s *Schema) prepare(at string, schema any) error {
	object, ok := schema.(map[string]any)
	if !ok {
		if _, ok := schema.(bool); ok {
			return nil
		}
		return fmt.Errorf("%s: %T is no schema", at, schema)
	}
	var errs []error
	for word, v := range object {
		errs = append(errs, s.keyword(at+"/"+word, word, v))
	}
	return errors.Join(errs...)
}

func (s *Schema) keyword(at, word string, v any) error {
	var errs []error
	switch {
	case word == "$ref":
		if s.target(v.(string)) == nil {
			return fmt.Errorf("%s: %v leads nowhere", at, v)
		}
	case word == "pattern":
		re, err := regexp.Compile(v.(string))
		s.patterns[v.(string)] = re
		return err
	case slices.Contains(single, word):
		return s.prepare(at, v)
	case slices.Contains(listed, word):
		for _, part := range v.([]any) {
			errs = append(errs, s.prepare(at, part))
		}
	case slices.Contains(named, word):
		for name, part := range v.(map[string]any) {
			errs = append(errs, s.prepare(at+"/"+name, part))
		}
	case !slices.Contains(plain, word):
		return fmt.Errorf("%s: unknown keyword", at)
	}
	return errors.Join(errs...)
}

func (s *Schema) target(ref string) any {
	return s.Definition(strings.TrimPrefix(ref, "#/$defs/"))
}

func (s *Schema) check(at string, schema, v any) error {
	object, ok := schema.(map[string]any)
	if !ok {
		if schema == true {
			return nil
		}
		return fmt.Errorf("%s: may not be here", at)
	}
	for word, arg := range object {
		if err := s.checkKeyword(at, word, arg, object, v); err != nil {
			return err
		}
	}
	return nil
}

func (s *Schema) checkKeyword(at, word string, arg any, object map[string]any, v any) error {
	switch word {
	case "$ref":
		return s.check(at, s.target(arg.(string)), v)
	case "anyOf", "oneOf":
		return s.some(at, word, arg.([]any), v)
	case "not":
		return unless(s.check(at, arg, v) != nil, at, word, arg)
	case "type":
		return unless(isType(arg, v), at, word, arg)
	case "const":
		return unless(reflect.DeepEqual(arg, v), at, word, arg)
	case "enum":
		return unless(slices.ContainsFunc(arg.([]any), func(e any) bool { return reflect.DeepEqual(e, v) }), at, word, arg)
	}
	switch v := v.(type) {
	case string:
		return s.checkString(at, word, arg, v)
	case float64:
		return unless((word != "minimum" || v >= arg.(float64)) && (word != "maximum" || v <= arg.(float64)), at, word, arg)
	case []any:
		return s.checkArray(at, word, arg, v)
	case map[string]any:
		return s.checkObject(at, word, arg, object, v)
	}
	return nil
}

func unless(holds bool, at, word string, arg any) error {
	if holds {
		return nil
	}
	return fmt.Errorf("%s: breaks %s %v", at, word, arg)
}

func (s *Schema) some(at, word string, parts []any, v any) error {
	var errs []error
	for _, part := range parts {
		if err := s.check(at, part, v); err != nil {
			errs = append(errs, err)
		}
	}
	fit := len(parts) - len(errs)
	if fit == 0 || word == "oneOf" && fit > 1 {
		return fmt.Errorf("%s: %d of %s hold: %w", at, fit, word, errors.Join(errs...))
	}
	return nil
}

func isType(arg, v any) bool {
	if list, ok := arg.([]any); ok {
		return slices.ContainsFunc(list, func(t any) bool { return isType(t, v) })
	}
	switch v := v.(type) {
	case nil:
		return arg == "null"
	case bool:
		return arg == "boolean"
	case string:
		return arg == "string"
	case float64:
		return arg == "number" || arg == "integer" && v == math.Trunc(v)
	case []any:
		return arg == "array"
	}
	return arg == "object"
}

func (s *Schema) checkString(at, word string, arg any, v string) error {
	switch word {
	case "pattern":
		return unless(s.patterns[arg.(string)].MatchString(v), at, word, arg)
	case "minLength":
		return unless(utf8.RuneCountInString(v) >= int(arg.(float64)), at, word, arg)
	case "maxLength":
		return unless(utf8.RuneCountInString(v) <= int(arg.(float64)), at, word, arg)
	}
	return nil
}

func (s *Schema) checkArray(at, word string, arg any, v []any) error {
	switch word {
	case "minItems":
		return unless(len(v) >= int(arg.(float64)), at, word, arg)
	case "maxItems":
		return unless(len(v) <= int(arg.(float64)), at, word, arg)
	case "uniqueItems":
		return unless(arg == false || unique(v), at, word, arg)
	case "contains":
		return unless(slices.ContainsFunc(v, func(e any) bool { return s.check(at, arg, e) == nil }), at, word, arg)
	case "items":
		for i, e := range v {
			if err := s.check(fmt.Sprintf("%s[%d]", at, i), arg, e); err != nil {
				return err
			}
		}
	}
	return nil
}

func unique(v []any) bool {
	for i := range v {
		if slices.ContainsFunc(v[:i], func(e any) bool { return reflect.DeepEqual(e, v[i]) }) {
			return false
		}
	}
	return true
}

func (s *Schema) checkObject(at, word string, arg any, object, v map[string]any) error {
	switch word {
	case "required":
		for _, name := range arg.([]any) {
			if _, ok := v[name.(string)]; !ok {
				return fmt.Errorf("%s.%s: is missing", at, name)
			}
		}
	case "properties":
		for name, part := range arg.(map[string]any) {
			if field, ok := v[name]; ok {
				if err := s.check(at+"."+name, part, field); err != nil {
					return err
				}
			}
		}
	case "additionalProperties":
		known, _ := object["properties"].(map[string]any)
		for name, field := range v {
			if _, ok := known[name]; !ok {
				if err := s.check(at+"."+name, arg, field); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
