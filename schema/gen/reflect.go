package main

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/invopop/jsonschema"

	"github.com/prism-rpc/prism-rpc/schema"
)

// A mode says who writes values of a type, and so how strictly it is described.
type mode int

const (
	sent    mode = iota // by the server: later versions may add fields
	taken               // by the client, strictly: no other fields; null counts as none
	lenient             // by the client, where unknown fields are ignored
)

// suffixes tell apart the definitions of a type in several modes. The first
// mode in which a type is met has the plain name.
var suffixes = [...]string{"", "Param", "Open"}

type generator struct {
	comments map[string]string
	enums    map[string][]string

	defs   jsonschema.Definitions
	modeOf map[string]mode         // by the type's name: who has the plain one
	types  map[string]reflect.Type // by the definition's name
	used   map[any]bool            // the keys of what forms.go holds
	errs   []error
}

func newGenerator(dir string) (*generator, error) {
	c, err := comments(dir)
	if err != nil {
		return nil, err
	}
	e, err := enums(dir)
	if err != nil {
		return nil, err
	}
	return &generator{comments: c, enums: e, defs: jsonschema.Definitions{}, modeOf: map[string]mode{}, types: map[string]reflect.Type{}, used: map[any]bool{}}, nil
}

// collect defines all that crosses the wire. What the server sends comes
// first, then what is read strictly, so that these have the plain names.
func (g *generator) collect() error {
	for _, m := range schema.Methods() {
		if m.Result != nil {
			g.define(sent, m.Result)
		}
	}
	for _, e := range schema.Events() {
		name := g.define(sent, e.Shape)
		g.defs[name].Properties.Set("type", &jsonschema.Schema{Const: string(e.Type)})
	}
	for _, n := range schema.ServerNotifications() {
		if n.Params != nil {
			g.define(sent, n.Params)
		}
	}
	for _, r := range schema.ServerRequests() {
		g.define(sent, r.Params)
	}
	g.define(sent, reflect.TypeFor[schema.ErrorData]())
	for _, f := range alsoUsed {
		g.define(f.mode, f.typ)
	}
	for _, lax := range []bool{false, true} {
		for _, m := range schema.Methods() {
			if m.Lenient == lax {
				g.define(paramsMode(m), m.Params)
			}
		}
	}
	for _, n := range schema.CancelNotifications() {
		g.define(lenient, n.Params)
	}
	for _, r := range schema.ServerRequests() {
		g.define(lenient, r.Result)
	}
	g.errs = append(g.errs, unused(g.used, forms), unused(g.used, fields), unused(g.used, rawFields), unused(g.used, wholes))
	return errors.Join(g.errs...)
}

// unused reports what is described and does not exist any more.
func unused[K comparable, V any](used map[any]bool, described map[K]V) error {
	var errs []error
	for key := range described {
		if !used[key] {
			errs = append(errs, fmt.Errorf("forms.go describes %v, which is not met", key))
		}
	}
	return errors.Join(errs...)
}

func paramsMode(m schema.Method) mode {
	if m.Lenient {
		return lenient
	}
	return taken
}

// define describes a type and what it reaches, and returns its definition's
// name.
func (g *generator) define(m mode, t reflect.Type) string {
	r := &jsonschema.Reflector{
		Anonymous:                 true,
		AllowAdditionalProperties: m != taken,
		CommentMap:                g.comments,
		Namer:                     func(t reflect.Type) string { return g.name(m, t) },
		Mapper:                    func(t reflect.Type) *jsonschema.Schema { return g.special(m, t) },
	}
	for name, def := range r.ReflectFromType(t).Definitions {
		if _, done := g.defs[name]; !done {
			g.finish(m, g.types[name], def)
			g.defs[name] = def
		}
	}
	return g.name(m, t)
}

// name is that of a type's definition. Types without a name have none.
func (g *generator) name(m mode, t reflect.Type) string {
	if t.PkgPath() != schemaPath {
		return t.Name()
	}
	name := t.Name()
	if first, ok := g.modeOf[name]; !ok {
		g.modeOf[name] = m
	} else if first != m {
		name += suffixes[m]
	}
	g.types[name] = t
	return name
}

// rawValue marks a field that may hold any JSON, until finish describes it.
const rawValue = "raw"

// special describes the types whose JSON is not that of their Go kind.
func (g *generator) special(m mode, t reflect.Type) *jsonschema.Schema {
	if t == reflect.TypeFor[jsontext.Value]() || isPatch(t) {
		return &jsonschema.Schema{Comments: rawValue}
	}
	if words := g.enums[t.Name()]; t.PkgPath() == schemaPath && t.Kind() == reflect.String && words != nil {
		return g.enum(t, words)
	}
	form, ok := forms[formOf{m, t}]
	switch {
	case ok:
		g.used[formOf{m, t}] = true
		name := g.name(m, t)
		if g.defs[name] == nil {
			g.defs[name] = g.parse(form)
			g.defs[name].Description = g.comments[schemaPath+"."+t.Name()]
		}
		return ref(name)
	case hasOwnForm(t):
		g.errs = append(g.errs, fmt.Errorf("%s has a JSON form of its own; describe it in forms.go", t))
	}
	return nil
}

// enum defines a string type of a few words, the same in all modes.
func (g *generator) enum(t reflect.Type, words []string) *jsonschema.Schema {
	def := &jsonschema.Schema{Type: "string", Description: g.comments[schemaPath+"."+t.Name()]}
	for _, w := range words {
		def.Enum = append(def.Enum, w)
	}
	g.defs[t.Name()] = def
	return ref(t.Name())
}

// isPatch tells whether t is a schema.Patch, whose form depends on its field.
func isPatch(t reflect.Type) bool {
	return t.PkgPath() == schemaPath && strings.HasPrefix(t.Name(), "Patch[")
}

func hasOwnForm(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.UnmarshalerFrom]()) || p.Implements(reflect.TypeFor[json.MarshalerTo]()) ||
		p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[json.Marshaler]())
}

func ref(name string) *jsonschema.Schema { return &jsonschema.Schema{Ref: "#/$defs/" + name} }

// parse reads a schema written by hand.
func (g *generator) parse(text string) *jsonschema.Schema {
	s := new(jsonschema.Schema)
	if err := s.UnmarshalJSON([]byte(text)); err != nil {
		g.errs = append(g.errs, fmt.Errorf("%s: %w", text, err))
	}
	return s
}
