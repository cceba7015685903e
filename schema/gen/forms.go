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

	{lenient, reflect.TypeFor[schema.Input]()}: `{"anyOf": [
		{"type": "string"},
		{"type": "array", "items": {"$ref": "#/$defs/ContentBlockOpen"}}]}`,

	{lenient, reflect.TypeFor[schema.Registrations]()}: `{"type": "array", "items": {"$ref": "#/$defs/RegisterInjectorParams"}}`,

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
	{lenient, reflect.TypeFor[schema.ContentBlock]()},
	{taken, reflect.TypeFor[schema.LayerMode]()},
	{taken, reflect.TypeFor[schema.ReminderRow]()},
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

// paddedBase64 matches base64 in which no bit is lost.
const paddedBase64 = "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$"

// imageForm is an image whose base64 begins like that.
func imageForm(mimeType, begins string) string {
	return `{"properties": {"type": {"const": "image"}, "mimeType": {"const": "` + mimeType + `"}, "data": {"type": "string", "pattern": "^` + begins + `"}}, "required": ["mimeType", "data"]}`
}

const noData = `"data": {"enum": ["", null]}`

// heading matches one line without control characters.
const heading = `^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]+$`

// fields holds the rules of check methods that concern one field, and what a
// field of type any holds. Bounds on bytes are not among them: JSON Schema
// counts characters.
var fields = map[fieldOf]fieldForm{
	{taken, "PromptParams.input"}:                       {turnInput, true},
	{taken, "PreviewParams.input"}:                      {turnInput, true},
	{taken, "PreviewParams.instructionInjectors"}:       {namesList, false},
	{taken, "PromptParams.instructionInjectors"}:        {namesList, false},
	{taken, "NewSessionParams.instructionInjectors"}:    {namesList, false},
	{taken, "UpdateSessionParams.title"}:                {orNullForm(fmt.Sprintf(`{"type": "string", "maxLength": %d}`, schema.MaxTitleBytes)), false},
	{taken, "UpdateSessionParams.instructions"}:         {orNullForm(`{"type": "string"}`), false},
	{taken, "UpdateSessionParams.instructionInjectors"}: {orNullForm(namesList), false},
	{taken, "UpdateSessionParams.model"}:                {orNullForm(fmt.Sprintf(`{"type": "string", "maxLength": %d}`, schema.MaxModelBytes)), false},
	{taken, "UpdateSessionParams.metadata"}:             {orNullForm(`{"type": "object"}`), false},
	{taken, "UpdateSessionParams.contextInjections"}:    {orNullForm(`{"type": "boolean"}`), false},
	{taken, "SpliceContextParams.name"}:                 {fmt.Sprintf(`{"type": "string", "pattern": "%s", "maxLength": %d}`, heading, schema.MaxTitleBytes), true},
	{taken, "SpliceContextParams.content"}:              {`{"type": "string"}`, true},
	{taken, "SetRemindersParams.enabled"}:               {orNullForm(`{"type": "boolean"}`), false},
	{taken, "SetRemindersParams.skipTrivial"}:           {orNullForm(`{"type": "boolean"}`), false},
	{taken, "SetRemindersParams.producer"}:              {orNullForm(producerForm), false},
	{taken, "SetRemindersParams.prompts"}:               {orNullForm(fmt.Sprintf(`{"type": "array", "maxItems": %d, "items": {"$ref": "#/$defs/ReminderRow"}}`, schema.MaxReminders)), false},
	{taken, "ReminderRow.text"}:                         {`{"type": "string"}`, true},
	{taken, "ReminderRow.trigger"}:                      {`{"enum": ["everyTurn", "postCompaction", "every_turn", "post_compaction", "", null]}`, false},
	{taken, "ReminderRow.producer"}:                     {`{"anyOf": [` + producerForm + `, {"enum": ["", null]}]}`, false},
	{taken, "ReminderRow.retention"}:                    {`{"enum": ["turn", "keep", "", null]}`, false},
	{taken, "ContextBlock.content"}:                     {`{"$ref": "#/$defs/InputParam"}`, true},
	{taken, "ContentBlock.type"}:                        {`{"type": "string", "enum": ["text", "resource_link", "resource", "image"]}`, true},
	{taken, "ContentBlock.data"}:                        {`{"type": "string", "pattern": "` + paddedBase64 + `"}`, false},
	{taken, "ContentBlock.sha256"}:                      {`{"enum": ["", null]}`, false},
	{taken, "ContentBlock.bytes"}:                       {`{"enum": [0, null]}`, false},
	{taken, "MessagesParams.attachment"}:                {`{"type": "string", "pattern": "^([0-9a-f]{64})?$"}`, false},
	{lenient, "ContextBlock.content"}:                   {`{"$ref": "#/$defs/InputOpen"}`, true},
	{lenient, "ContentBlock.type"}:                      {`{"type": "string", "enum": ["text", "resource_link", "resource", "image"]}`, true},
	{taken, "RegisterInjectorParams.when"}:              {`{"$ref": "#/$defs/When"}`, true},
	{lenient, "PermitReadResult.allow"}:                 {`{"type": "boolean"}`, true},
	{lenient, "ContentBlock.data"}:                      {`{"type": "string", "pattern": "` + paddedBase64 + `"}`, false},
	{lenient, "ContentBlock.sha256"}:                    {`{"enum": ["", null]}`, false},
	{lenient, "ContentBlock.bytes"}:                     {`{"enum": [0, null]}`, false},
	{lenient, "CancelRequestParams.id"}:                 {requestID, true},
	{lenient, "CancelledParams.requestId"}:              {requestID, true},
	{sent, "EventError.data"}:                           {`{"$ref": "#/$defs/ErrorData"}`, true},
}

// turnInput is what Input.check takes.
const turnInput = `{"$ref": "#/$defs/InputParam", "anyOf": [
		{"type": "string", "pattern": "` + notBlank + `"},
		{"type": "array", "contains": {"anyOf": [
			{"type": "object", "properties": {"type": {"enum": ["resource_link", "resource", "image"]}}},
			{"type": "object", "properties": {"text": {"type": "string", "pattern": "` + notBlank + `"}}, "required": ["text"]}]}}]}`

func orNullForm(form string) string { return `{"anyOf": [` + form + `, {"type": "null"}]}` }

const producerForm = `{"type": "string", "pattern": "^[A-Za-z0-9@][A-Za-z0-9._/@-]{0,63}$", "not": {"const": "plugin"}}`

var namesList = fmt.Sprintf(`{"type": "array", "items": {"type": "string", "minLength": 1}, "maxItems": %d, "uniqueItems": true}`, schema.MaxSelected)

const noNotices = `"notices": {"enum": [false, null]}, "text": {"enum": [false, null]}`

// wholes holds the rules of check methods that concern a whole object.
var wholes = map[formOf]string{
	{taken, reflect.TypeFor[schema.RegisterInjectorParams]()}: `{"anyOf": [
		{"properties": {"callback": {"const": true}, "instructions": {"enum": ["", null]}, "contextBlocks": {"type": "null"}}, "required": ["callback"]},
		{"properties": {"callback": {"enum": [false, null]}, "wants": {"anyOf": [{"type": "array", "maxItems": 0}, {"type": "null"}]},
			"instructions": {"type": "string", "pattern": "` + notBlank + `"}}, "required": ["instructions"]},
		{"properties": {"callback": {"enum": [false, null]}, "wants": {"anyOf": [{"type": "array", "maxItems": 0}, {"type": "null"}]},
			"placement": {"enum": ["system", "context", "", null]}, "contextBlocks": {"type": "array", "minItems": 1}}, "required": ["contextBlocks"]}]}`,

	{lenient, reflect.TypeFor[schema.ContentBlock]()}: blockKinds,
	{taken, reflect.TypeFor[schema.ContentBlock]()}:   blockKinds,

	{taken, reflect.TypeFor[schema.MessagesParams]()}: `{"anyOf": [
		{"properties": {"turn": {"type": "integer"}, "afterTurn": {"enum": [0, null]}, "limit": {"enum": [0, null]}, "attachment": {"enum": ["", null]}, ` + noNotices + `}, "required": ["turn"]},
		{"properties": {"attachment": {"type": "string", "minLength": 1}, "turn": {"type": "null"}, "role": {"enum": ["", null]}, "afterTurn": {"enum": [0, null]}, "limit": {"enum": [0, null]}, ` + noNotices + `}, "required": ["attachment"]},
		{"properties": {"turn": {"type": "null"}, "offset": {"type": "null"}, "role": {"enum": ["", null]}, "attachment": {"enum": ["", null]}},
			"anyOf": [{"properties": {"text": {"enum": [false, null]}}}, {"properties": {"notices": {"const": true}}, "required": ["notices"]}]}]}`,
}

// blockKinds say what each kind of block needs.
var blockKinds = `{"anyOf": [
		{"properties": {"type": {"const": "text"}, ` + noData + `}},
		` + imageForm("image/png", "iVBORw0KGg[o-r]") + `,
		` + imageForm("image/jpeg", "/9j/") + `,
		` + imageForm("image/gif", "R0lGOD[dl]h") + `,
		` + imageForm("image/webp", "UklGR[g-v]([A-Za-z0-9+/]){4}[BFJNRVZdhlptx159]XRUJQ") + `,
		{"properties": {"type": {"const": "resource_link"}, ` + noData + `, "uri": {"type": "string", "minLength": 1}, "name": {"type": "string", "minLength": 1}}, "required": ["uri", "name"]},
		{"properties": {"type": {"const": "resource"}, ` + noData + `, "resource": {"type": "object", "properties": {"uri": {"type": "string", "minLength": 1}}, "required": ["uri"]}}, "required": ["resource"]}]}`
