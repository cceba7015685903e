package main

import (
	"encoding/json" // quotes words
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/prism-rpc/prism-rpc/schema"
)

// typeScript declares every definition, the methods and the events.
func (g *generator) typeScript() []byte {
	var b strings.Builder
	b.WriteString("// Generated from the Go types of package schema. " + about + "\n")
	for _, name := range slices.Sorted(maps.Keys(g.defs)) {
		b.WriteString("\n" + declare(name, g.defs[name]))
	}
	b.WriteString("\n/** Every request by its method. */\nexport interface Methods {\n")
	for _, m := range schema.Methods() {
		if !m.Notification {
			fmt.Fprintf(&b, "  /** %s */\n  %s: { params: %s; result: %s };\n", m.Summary, key(m.Name), g.name(paramsMode(m), m.Params), g.tsResult(m))
		}
	}
	b.WriteString("}\n\n/** Every notification that a client may send, by its method. */\nexport interface ClientNotifications {\n")
	for _, m := range schema.Methods() {
		if m.Notification {
			fmt.Fprintf(&b, "  /** %s */\n  %s: %s;\n", m.Summary, key(m.Name), g.name(paramsMode(m), m.Params))
		}
	}
	for _, n := range schema.CancelNotifications() {
		fmt.Fprintf(&b, "  /** %s */\n  %s: %s;\n", n.Summary, key(n.Name), g.name(lenient, n.Params))
	}
	b.WriteString("}\n\n/** Every notification that the server sends, by its method. */\nexport interface ServerNotifications {\n")
	for _, n := range schema.ServerNotifications() {
		fmt.Fprintf(&b, "  /** %s */\n  %s: %s;\n", n.Summary, key(n.Name), g.tsServer(n))
	}
	b.WriteString("}\n\n/** Every request that the server may send, by its method. */\nexport interface ServerRequests {\n")
	for _, r := range schema.ServerRequests() {
		fmt.Fprintf(&b, "  /** %s */\n  %s: { params: %s; result: %s };\n", r.Summary, key(r.Name), g.name(sent, r.Params), tsType(g.answer(r), ""))
	}
	b.WriteString("}\n\n/** An event of a turn, told apart by its type. */\nexport type TurnEvent =\n")
	for _, e := range schema.Events() {
		b.WriteString("  | " + g.name(sent, e.Shape) + "\n")
	}
	return []byte(strings.TrimSuffix(b.String(), "\n") + ";\n")
}

func (g *generator) tsResult(m schema.Method) string {
	if m.Result == nil {
		return "null"
	}
	return g.name(sent, m.Result)
}

func (g *generator) tsServer(n schema.Notification) string {
	if n.Params == nil {
		return "TurnEvent"
	}
	return g.name(sent, n.Params)
}

func declare(name string, s *jsonschema.Schema) string {
	if s.Properties == nil {
		return comment("", s.Description) + "export type " + name + " = " + tsType(s, "") + ";\n"
	}
	return comment("", s.Description) + "export interface " + name + " " + tsObject(s, "") + "\n"
}

func comment(indent, text string) string {
	if text == "" {
		return ""
	}
	return indent + "/** " + strings.ReplaceAll(text, "*/", "* /") + " */\n"
}

// tsType is the type of the values that a client should send or will get.
func tsType(s *jsonschema.Schema, indent string) string {
	switch {
	case s.Ref != "":
		return s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
	case s.Const != nil:
		return word(s.Const)
	case s.Enum != nil:
		return words(s.Enum)
	case s.Properties != nil:
		return orNullType(tsObject(s, indent), s)
	case s.AnyOf != nil:
		return union(s.AnyOf, indent)
	}
	types := typesOf(s)
	for i, t := range types {
		types[i] = tsPlain(t, s, indent)
	}
	if len(types) == 0 {
		return "unknown"
	}
	return strings.Join(types, " | ")
}

func tsPlain(typ string, s *jsonschema.Schema, indent string) string {
	switch {
	case typ == "integer":
		return "number"
	case typ == "array":
		return "Array<" + tsType(s.Items, indent) + ">"
	case typ == "object" && s.AdditionalProperties != nil:
		return "Record<string, " + tsType(s.AdditionalProperties, indent) + ">"
	case typ == "object":
		return "Record<string, unknown>"
	}
	return typ
}

func typesOf(s *jsonschema.Schema) []string {
	if s.Type != "" {
		return []string{s.Type}
	}
	types, _ := s.Extras["type"].([]string)
	return slices.Clone(types)
}

func orNullType(object string, s *jsonschema.Schema) string {
	if slices.Contains(typesOf(s), "null") {
		return object + " | null"
	}
	return object
}

func tsObject(s *jsonschema.Schema, indent string) string {
	if s.Properties.Len() == 0 {
		return "{}"
	}
	var b strings.Builder
	b.WriteString("{\n")
	inner := indent + "  "
	for p := s.Properties.Oldest(); p != nil; p = p.Next() {
		mark := "?"
		if slices.Contains(s.Required, p.Key) {
			mark = ""
		}
		b.WriteString(comment(inner, p.Value.Description))
		b.WriteString(inner + key(p.Key) + mark + ": " + tsType(p.Value, inner) + ";\n")
	}
	b.WriteString(indent + "}")
	return b.String()
}

// union leaves out the empty word, which stands for an absent field.
func union(parts []*jsonschema.Schema, indent string) string {
	var out []string
	for _, p := range parts {
		if p.Const == "" {
			continue
		}
		out = append(out, tsType(p, indent))
	}
	return strings.Join(out, " | ")
}

func words(values []any) string {
	var out []string
	for _, v := range values {
		if v != "" {
			out = append(out, word(v))
		}
	}
	return strings.Join(out, " | ")
}

func word(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic("a constant is JSON: " + err.Error())
	}
	return string(b)
}

// key is a property's name, quoted where it is no identifier.
func key(name string) string {
	if strings.ContainsAny(name, "./$-") {
		return word(name)
	}
	return name
}
