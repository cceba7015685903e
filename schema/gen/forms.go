package main

import (
	"fmt"
	"reflect"

	"github.com/prism-rpc/prism-rpc/schema"
)

type formOf struct {
	mode mode
	typ  reflect.Type
}

// forms describes the types that have a JSON form of their own.
var forms = map[formOf]string{
	{sent, reflect.TypeFor[schema.Input]()}: `{"type": "array", "items": {"$ref": "#/$defs/ContentBlock"}}`,

	{taken, reflect.TypeFor[schema.Input]()}: `{"anyOf": [
		{"type": "string"},
		{"type": "array", "items": {"$ref": "#/$defs/ContentBlockParam"}}]}`,

	{taken, reflect.TypeFor[schema.RunInstructions]()}: `{"anyOf": [
		{"type": "string"},
		{"const": false},
		{"type": "object", "additionalProperties": false, "properties": {
			"text": {"anyOf": [{"type": "string"}, {"type": "null"}]},
			"mode": {"anyOf": [{"$ref": "#/$defs/LayerMode"}, {"enum": ["", null]}]}}}]}`,
}

// alsoUsed are types that only the forms above name.
var alsoUsed = []formOf{
	{sent, reflect.TypeFor[schema.ContentBlock]()},
	{taken, reflect.TypeFor[schema.ContentBlock]()},
	{taken, reflect.TypeFor[schema.LayerMode]()},
}

type fieldOf struct {
	mode mode
	name string // Type.field
}

// A fieldForm describes a field that its Go type and its tags don't.
type fieldForm struct {
	schema   string
	required bool
}

// rawFields describes the fields that may hold any JSON, by their names.
var rawFields = map[string]string{
	"_meta":           `{}`,
	"annotations":     `{}`,
	"clientInfo":      `{}`,
	"metadata":        `{"type": "object"}`,
	"protocolVersion": `{}`,
	"reason":          `{}`,
	"requestId":       requestID,
}

const requestID = `{"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "null"}]}`

// notBlank matches what is not white space alone. The characters stand for
// themselves, since not every dialect has escapes for them.
const notBlank = "[^\\\\t\\\\n\\\\v\\\\f\\\\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"

// fields holds the rules of check methods that concern one field, and what a
// field of type any holds. Bounds on bytes are not among them: JSON Schema
// counts characters.
var fields = map[fieldOf]fieldForm{
	{taken, "PromptParams.input"}: {`{"$ref": "#/$defs/InputParam", "anyOf": [
		{"type": "string", "pattern": "` + notBlank + `"},
		{"type": "array", "contains": {"anyOf": [
			{"type": "object", "properties": {"type": {"enum": ["resource_link", "resource"]}}},
			{"type": "object", "properties": {"text": {"type": "string", "pattern": "` + notBlank + `"}}, "required": ["text"]}]}}]}`, true},
	{taken, "PromptParams.instructionInjectors"}:        {namesList, false},
	{taken, "NewSessionParams.instructionInjectors"}:    {namesList, false},
	{taken, "UpdateSessionParams.title"}:                {orNullForm(fmt.Sprintf(`{"type": "string", "maxLength": %d}`, schema.MaxTitleBytes)), false},
	{taken, "UpdateSessionParams.instructions"}:         {orNullForm(`{"type": "string"}`), false},
	{taken, "UpdateSessionParams.instructionInjectors"}: {orNullForm(namesList), false},
	{taken, "UpdateSessionParams.model"}:                {orNullForm(fmt.Sprintf(`{"type": "string", "maxLength": %d}`, schema.MaxModelBytes)), false},
	{taken, "UpdateSessionParams.metadata"}:             {orNullForm(`{"type": "object"}`), false},
	{taken, "ContextBlock.content"}:                     {`{"$ref": "#/$defs/InputParam"}`, true},
	{taken, "ContentBlock.type"}:                        {`{"type": "string", "enum": ["text", "resource_link", "resource"]}`, true},
	{lenient, "CancelRequestParams.id"}:                 {requestID, true},
	{lenient, "CancelledParams.requestId"}:              {requestID, true},
	{sent, "EventError.data"}:                           {`{"$ref": "#/$defs/ErrorData"}`, true},
}

func orNullForm(form string) string { return `{"anyOf": [` + form + `, {"type": "null"}]}` }

var namesList = fmt.Sprintf(`{"type": "array", "items": {"type": "string", "minLength": 1}, "maxItems": %d, "uniqueItems": true}`, schema.MaxSelected)

// wholes holds the rules of check methods that concern a whole object.
var wholes = map[formOf]string{
	{taken, reflect.TypeFor[schema.ContentBlock]()}: `{"anyOf": [
		{"properties": {"type": {"const": "text"}}},
		{"properties": {"type": {"const": "resource_link"}, "uri": {"type": "string", "minLength": 1}, "name": {"type": "string", "minLength": 1}}, "required": ["uri", "name"]},
		{"properties": {"type": {"const": "resource"}, "resource": {"type": "object", "properties": {"uri": {"type": "string", "minLength": 1}}, "required": ["uri"]}}, "required": ["resource"]}]}`,

	{taken, reflect.TypeFor[schema.MessagesParams]()}: `{"anyOf": [
		{"properties": {"turn": {"type": "integer"}, "afterTurn": {"enum": [0, null]}, "limit": {"enum": [0, null]}}, "required": ["turn"]},
		{"properties": {"turn": {"type": "null"}, "offset": {"type": "null"}, "role": {"enum": ["", null]}}}]}`,
}
