package main

import (
	"bytes"
	stdjson "encoding/json" // invopop's methods
	"errors"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/invopop/jsonschema"

	"github.com/prism-rpc/prism-rpc/schema"
)

const about = "What crosses the wire of prism-rpc. Params are strict. Results, events and the data of errors may get further fields, types and words in later versions; clients ignore those that they don't know."

// schemaDocument is the JSON Schema of all definitions.
func (g *generator) schemaDocument() ([]byte, error) {
	raw, err := stdjson.Marshal(&jsonschema.Schema{
		Version: jsonschema.Version, Title: "prism-rpc", Description: about, Definitions: g.defs,
	})
	if err != nil {
		return nil, err
	}
	out, err := jsontext.AppendFormat(nil, raw, jsontext.Multiline(true), jsontext.WithIndent("  "))
	return append(ascii(out), '\n'), err
}

// ascii escapes all other characters of a JSON document, some of which end a
// line for some readers.
func ascii(doc []byte) []byte {
	var out []byte
	for _, r := range string(doc) {
		if r < utf8.RuneSelf {
			out = append(out, byte(r))
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			out = fmt.Appendf(out, `\u%04x`, unit)
		}
	}
	return out
}

// The objects of the OpenRPC specification, as far as they are used here.
type (
	openDocument struct {
		OpenRPC       string             `json:"openrpc"`
		Info          info               `json:"info"`
		Methods       []method           `json:"methods"`
		Components    components         `json:"components"`
		Notifications map[string]descr   `json:"x-clientNotifications"`
		FromServer    map[string]message `json:"x-serverNotifications"`
		Asked         map[string]asked   `json:"x-serverRequests"`
	}
	info struct {
		Title       string `json:"title"`
		Description string `json:"description"`
		Version     string `json:"version"`
	}
	method struct {
		Name           string           `json:"name"`
		Summary        string           `json:"summary"`
		ParamStructure string           `json:"paramStructure"`
		Params         []descr          `json:"params"`
		Result         *descr           `json:"result,omitempty"`
		Errors         []jsontext.Value `json:"errors,omitempty"`
		Examples       []pairing        `json:"examples,omitempty"`
		Whole          jsontext.Value   `json:"x-paramsSchema"` // all params as one object
	}
	descr struct {
		Name     string         `json:"name"`
		Summary  string         `json:"summary,omitempty"`
		Required bool           `json:"required,omitzero"`
		Schema   jsontext.Value `json:"schema"`
	}
	message struct {
		Summary string         `json:"summary"`
		Schema  jsontext.Value `json:"schema"`
	}
	asked struct {
		Summary string         `json:"summary"`
		Params  jsontext.Value `json:"params"`
		Result  jsontext.Value `json:"result"`
	}
	components struct {
		Schemas jsontext.Value       `json:"schemas"`
		Errors  map[string]openError `json:"errors"`
	}
	openError struct {
		Code    int               `json:"code"`
		Message string            `json:"message"`
		Data    map[string]string `json:"data"`
	}
)

// openRPC is the OpenRPC document, on one line.
func (g *generator) openRPC() ([]byte, error) {
	doc := openDocument{
		OpenRPC:       "1.3.2",
		Info:          info{"prism-rpc", about, strconv.Itoa(schema.ProtocolVersion) + ".0.0"},
		Components:    components{Schemas: g.raw(g.defs), Errors: map[string]openError{}},
		Notifications: map[string]descr{}, FromServer: map[string]message{}, Asked: map[string]asked{},
	}
	for _, m := range schema.Methods() {
		doc.Methods = append(doc.Methods, g.method(m))
	}
	for _, row := range schema.ErrorKinds() {
		doc.Components.Errors[string(row.Kind)] = openError{row.Code, row.Meaning, map[string]string{"kind": string(row.Kind)}}
	}
	for _, n := range schema.CancelNotifications() {
		doc.Notifications[n.Name] = descr{Name: n.Name, Summary: n.Summary, Schema: g.raw(ref(g.name(lenient, n.Params)))}
	}
	for _, n := range schema.ServerNotifications() {
		doc.FromServer[n.Name] = message{n.Summary, g.raw(g.serverParams(n))}
	}
	for _, r := range schema.ServerRequests() {
		doc.Asked[r.Name] = asked{r.Summary, g.raw(ref(g.name(sent, r.Params))), g.raw(g.answer(r))}
	}
	if err := errors.Join(g.errs...); err != nil {
		return nil, err
	}
	out, err := json.Marshal(doc, json.Deterministic(true))
	return ascii(out), err
}

func (g *generator) serverParams(n schema.Notification) *jsonschema.Schema {
	if n.Params != nil {
		return ref(g.name(sent, n.Params))
	}
	out := new(jsonschema.Schema)
	for _, e := range schema.Events() {
		out.OneOf = append(out.OneOf, ref(g.name(sent, e.Shape)))
	}
	return out
}

// answer is what the client may say to a request of the server's.
func (g *generator) answer(r schema.ServerRequest) *jsonschema.Schema {
	result := ref(g.name(lenient, r.Result))
	if r.Null {
		return orNull(result)
	}
	return result
}

func (g *generator) method(m schema.Method) method {
	name := g.name(paramsMode(m), m.Params)
	out := method{
		Name: m.Name, Summary: m.Summary, ParamStructure: "by-name", Params: g.params(g.defs[name]), Result: g.result(m),
		Examples: examples[m.Name], Whole: g.raw(ref(name)),
	}
	if m.Notification {
		return out
	}
	for _, kind := range append(m.Errors, schema.CommonErrors()...) {
		out.Errors = append(out.Errors, jsontext.Value(`{"$ref":"#/components/errors/`+kind+`"}`))
	}
	return out
}

// params are the fields of an object, one by one; its required ones first, as
// the specification wants it.
func (g *generator) params(object *jsonschema.Schema) []descr {
	required, optional := []descr{}, []descr{}
	for p := object.Properties.Oldest(); p != nil; p = p.Next() {
		d := descr{Name: p.Key, Summary: p.Value.Description, Schema: g.raw(p.Value)}
		for _, name := range object.Required {
			d.Required = d.Required || name == p.Key
		}
		if d.Required {
			required = append(required, d)
		} else {
			optional = append(optional, d)
		}
	}
	return append(required, optional...)
}

func (g *generator) result(m schema.Method) *descr {
	switch {
	case m.Notification:
		return nil
	case m.Result == nil:
		return &descr{Name: "null", Schema: g.raw(&jsonschema.Schema{Type: "null"})}
	}
	name := g.name(sent, m.Result)
	return &descr{Name: name, Summary: g.defs[name].Description, Schema: g.raw(ref(name))}
}

// raw encodes a schema for the OpenRPC document, where definitions stand
// elsewhere.
func (g *generator) raw(s any) jsontext.Value {
	raw, err := stdjson.Marshal(s)
	if err == nil {
		raw, err = jsontext.AppendFormat(nil, raw)
	}
	if err != nil {
		g.errs = append(g.errs, err)
	}
	return bytes.ReplaceAll(raw, []byte(`"#/$defs/`), []byte(`"#/components/schemas/`))
}
