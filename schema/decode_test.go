package schema_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/schema"
)

// allParams lists every params type with what it needs to be right.
var allParams = map[string]struct {
	make func() any
	base map[string]any
}{
	"prompt":          {func() any { return new(schema.PromptParams) }, map[string]any{"input": "hi"}},
	"newSession":      {func() any { return new(schema.NewSessionParams) }, nil},
	"setModel":        {func() any { return new(schema.SetModelParams) }, map[string]any{"model": "m"}},
	"state":           {func() any { return new(schema.SessionParams) }, nil},
	"messages":        {func() any { return new(schema.MessagesParams) }, nil},
	"abort":           {func() any { return new(schema.AbortParams) }, nil},
	"listInjectors":   {func() any { return new(schema.ListInjectorsParams) }, nil},
	"spliceContext":   {func() any { return new(schema.SpliceContextParams) }, map[string]any{"name": "n", "content": "c"}},
	"unspliceContext": {func() any { return new(schema.UnspliceContextParams) }, map[string]any{"id": "a"}},
	"listContext":     {func() any { return new(schema.ListContextParams) }, nil},
	"initialize":      {func() any { return new(schema.InitializeParams) }, nil},
	"ping":            {func() any { return new(schema.NoParams) }, nil},
}

// kinds are values of every JSON type, none of which is right by accident.
var kinds = map[string]any{
	"string": "\x01", "number": 1.5, "boolean": true, "array": []any{[]any{}}, "object": map[string]any{"\x01": 1},
}

// takes says which types of JSON value a field may hold.
func takes(f reflect.StructField) []string {
	switch f.Tag.Get("json") {
	case "input":
		return []string{"string", "array"}
	case "instructions,omitzero":
		return []string{"string", "object", "boolean"}
	case "metadata,omitempty":
		return []string{"object"}
	case "protocolVersion,omitempty", "clientInfo,omitempty", "_meta,omitempty":
		return []string{"string", "number", "boolean", "array", "object"}
	}
	t := f.Type
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String:
		return []string{"string"}
	case reflect.Int:
		return nil // 1.5 is a number, but not this one
	case reflect.Slice:
		return []string{"array"}
	case reflect.Bool:
		return []string{"boolean"}
	}
	return []string{"object"}
}

func TestT6WrongTypeInEachFieldNamesTheField(t *testing.T) {
	for method, m := range allParams {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(m.make()).Elem()) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" {
				continue
			}
			for kind, value := range kinds {
				params := map[string]any{name: value}
				for k, v := range m.base {
					if k != name {
						params[k] = v
					}
				}
				raw, err := json.Marshal(params)
				require.NoError(t, err)
				err = schema.Decode(raw, m.make())
				if strings.Contains(strings.Join(takes(f), " "), kind) {
					continue // its own rules decide
				}
				var bad *schema.ParamsError
				if assert.ErrorAs(t, err, &bad, "%s.%s: %s", method, name, kind) {
					assert.True(t, strings.HasPrefix(bad.Errors[0].Field, name), "%s.%s: %s: %v", method, name, kind, bad.Errors)
					assert.NotEmpty(t, bad.Errors[0].Message)
				}
			}
		}
	}
}

func TestT6DecodeIsStrictAndPreviewNamesFieldsAsPromptDoes(t *testing.T) {
	for claim, c := range map[string]struct{ params, field, rule string }{
		"an unknown field":                 {`{"input":"x","instructionInjector":["a"]}`, "instructionInjector", "unknown"},
		"a key in another case":            {`{"input":"x","SessionId":"a"}`, "SessionId", "unknown"},
		"a repeated key":                   {`{"input":"x","input":"y"}`, "input", "duplicate"},
		"a repeated key deep inside":       {`{"input":"x","options":{"stop":["a"],"stop":["b"]}}`, "options.stop", "duplicate"},
		"an unknown field in a block":      {`{"input":[{"type":"text","text":"x","tool":1}]}`, "input[0].tool", "unknown"},
		"no input":                         {`{}`, "input", "required"},
		"null input":                       {`{"input":null}`, "input", "required"},
		"blank input":                      {`{"input":[{"type":"text","text":" \n"},{"type":"text","text":""}]}`, "input", "blank"},
		"an unknown kind of block":         {`{"input":[{"type":"video"}]}`, "input[0].type", "oneof"},
		"a block without a kind":           {`{"input":[{"text":"x"}]}`, "input[0].type", "required"},
		"a link without a name":            {`{"input":[{"type":"resource_link","uri":"file:///x"}]}`, "input[0]", "required"},
		"a resource without a resource":    {`{"input":[{"type":"resource"}]}`, "input[0].resource", "required"},
		"a repeated name":                  {`{"input":"x","instructionInjectors":["a","b","a"]}`, "instructionInjectors[2]", "unique"},
		"an id that could leave a folder":  {`{"input":"x","sessionId":"../x"}`, "sessionId", "sessionid"},
		"instructions: true":               {`{"input":"x","instructions":true}`, "instructions", "type"},
		"an unknown mode":                  {`{"input":"x","instructions":{"text":"y","mode":"shout"}}`, "instructions.mode", "oneof"},
		"a block of context without text":  {`{"input":"x","contextBlocks":[{"title":"t"}]}`, "contextBlocks[0].content", "required"},
		"an unknown layout":                {`{"input":"x","options":{"layout":"old"}}`, "options.layout", "oneof"},
		"an empty secret":                  {`{"input":"x","redact":[{"value":""}]}`, "redact[0].value", "required"},
		"a turn that can't be expected":    {`{"input":"x","expectedTurn":0}`, "expectedTurn", "min"},
		"a fraction where an integer goes": {`{"input":"x","expectedTurn":1.5}`, "expectedTurn", "type"},
	} {
		for _, params := range []any{new(schema.PromptParams), new(schema.PreviewParams)} {
			var bad *schema.ParamsError
			if assert.ErrorAs(t, schema.Decode([]byte(c.params), params), &bad, claim) {
				assert.Equal(t, c.field, bad.Errors[0].Field, "%s: %T", claim, params)
				assert.Equal(t, c.rule, bad.Errors[0].Rule, "%s: %T", claim, params)
			}
		}
	}
}

func TestDecodeTakes(t *testing.T) {
	for claim, params := range map[string]string{
		"a string":                     `{"input":"x"}`,
		"blocks":                       `{"input":[{"type":"text","text":"x"},{"type":"resource_link","uri":"file:///x","name":"x"},{"type":"resource","resource":{"uri":"u","text":"t"}}]}`,
		"null for what is optional":    `{"input":"x","sessionId":null,"instructionInjectors":null,"instructions":null,"metadata":null,"options":null}`,
		"_meta of any shape":           `{"input":"x","_meta":{"progressToken":[1]}}`,
		"_meta in a block":             `{"input":[{"type":"text","text":"x","_meta":{},"annotations":{"audience":["user"]}}]}`,
		"an attachment without a text": `{"input":[{"type":"resource_link","uri":"u","name":"n"}]}`,
	} {
		assert.NoError(t, schema.Decode([]byte(params), new(schema.PromptParams)), claim)
	}
}

func TestT4LoneSurrogatesBecomeReplacementCharacters(t *testing.T) {
	var p schema.PromptParams
	require.NoError(t, schema.Decode([]byte(`{"input":"a\ud800b\u2028\u0000"}`), &p))
	assert.Equal(t, "a\ufffdb\u2028\x00", p.Input[0].Text)
}

func TestP2AbsentAndEmptyListsDiffer(t *testing.T) {
	var absent, empty schema.PromptParams
	require.NoError(t, schema.Decode([]byte(`{"input":"x"}`), &absent))
	require.NoError(t, schema.Decode([]byte(`{"input":"x","instructionInjectors":[]}`), &empty))
	assert.Nil(t, absent.InstructionInjectors)
	assert.NotNil(t, empty.InstructionInjectors)
	assert.Empty(t, empty.InstructionInjectors)
}

func TestRunInstructions(t *testing.T) {
	for params, want := range map[string]schema.RunInstructions{
		`{"input":"x","instructions":"y"}`:                           {Text: "y", Mode: schema.LayerAppend},
		`{"input":"x","instructions":{"text":"y"}}`:                  {Text: "y", Mode: schema.LayerAppend},
		`{"input":"x","instructions":{"text":"y","mode":"prepend"}}`: {Text: "y", Mode: schema.LayerPrepend},
		`{"input":"x","instructions":false}`:                         {Off: true},
	} {
		var p schema.PromptParams
		require.NoError(t, schema.Decode([]byte(params), &p))
		assert.Equal(t, want, p.Instructions, params)
	}
}

func TestPastLimits(t *testing.T) {
	names := make([]string, schema.MaxSelected+1)
	for i := range names {
		names[i] = fmt.Sprint(i)
	}
	many, err := json.Marshal(map[string]any{"input": "x", "instructionInjectors": names})
	require.NoError(t, err)
	for limit, params := range map[int]string{
		schema.MaxSelected:      string(many),
		schema.MaxMetadataBytes: `{"input":"x","metadata":{"k":"` + strings.Repeat("x", schema.MaxMetadataBytes) + `"}}`,
		schema.MaxBlockBytes:    `{"input":"x","contextBlocks":[{"content":"` + strings.Repeat("x", schema.MaxBlockBytes+1) + `"}]}`,
	} {
		var bad *schema.ParamsError
		require.ErrorAs(t, schema.Decode([]byte(params), new(schema.PromptParams)), &bad)
		assert.Equal(t, limit, bad.Limit)
	}
}

func TestNames(t *testing.T) {
	for id, want := range map[string]bool{
		"a": true, "_": true, "A-b.c_9": true, strings.Repeat("x", 128): true,
		"": false, strings.Repeat("x", 129): false, ".a": false, "-a": false, "a.": false, "a/b": false, "a\\b": false,
		"con": false, "NUL.txt": false, "com1": false, "COM": true, "lpt0.x": false, "é": false, "a b": false, "a\x00": false,
	} {
		assert.Equal(t, want, schema.ValidSessionID(id), "%q", id)
	}
	for name, want := range map[string]bool{
		"json-always": true, "好 的": true, "é": true, "a/b:c": true, "true": true,
		"": false, "false": false, " a": false, "a ": false, "a\tb": false, "a\x00": false, "a\u202eb": false, "a\u200bb": false,
		"e\u0301": false, "\xff": false, strings.Repeat("x", 129): false, "\u3164": false, "\U000e0041": false, "a\ufe0f": false,
	} {
		assert.Equal(t, want, schema.ValidInjectorName(name), "%q", name)
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{``, `{}`, `{"input":[]}`, `{"input":[{"type":"text","text":"\ud800"}]}`, `[]`, `null`, `{"input":"x","instructions":{"text":1}}`, `{"input":{}}`, `{"a":{"b":[[[[`,
		`{"input":[{"type":"image","mimeType":"image/gif","data":"R0lGODlh"}]}`, `{"input":[{"type":"image","mimeType":"image/png","data":"iVBORw0KGgo=\n"}]}`, `{"input":[{"type":"image","mimeType":"image/webp","data":"="}]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var p schema.PromptParams
		err := schema.Decode(raw, &p)
		if err != nil {
			var bad *schema.ParamsError
			require.ErrorAs(t, err, &bad)
			require.NotEmpty(t, bad.Errors)
			return
		}
		again, err := json.Marshal(&p)
		require.NoError(t, err)
		var q schema.PromptParams
		require.NoError(t, schema.Decode(again, &q), "what was taken is taken again: %s", again)
		require.Equal(t, p.Input, q.Input)
	})
}

func TestEmptyIdsAreRefusedNotTakenForAbsent(t *testing.T) {
	for field, err := range map[string]error{
		"sessionId":    schema.Decode([]byte(`{"input":"x","sessionId":""}`), new(schema.PromptParams)),
		"runId":        schema.Decode([]byte(`{"runId":""}`), new(schema.AbortParams)),
		"newSessionId": schema.Decode([]byte(`{"sessionId":"a","newSessionId":""}`), new(schema.ForkSessionParams)),
	} {
		var bad *schema.ParamsError
		require.ErrorAs(t, err, &bad, field)
		assert.Equal(t, field, bad.Errors[0].Field)
	}
}

func TestU10UnknownKindOfBlockIsNamedWhateverItHolds(t *testing.T) {
	for _, input := range []string{
		`[{"type":"video","data":"AAAA","mimeType":"video/mp4"}]`,
		`[{"type":"text","text":"x"},{"data":1,"type":"audio"}]`,
	} {
		var bad *schema.ParamsError
		require.ErrorAs(t, schema.Decode([]byte(`{"input":`+input+`}`), new(schema.PromptParams)), &bad)
		assert.Regexp(t, `not (video|audio)$`, bad.Errors[0].Message)
		assert.Regexp(t, `^input\[[01]\]\.type$`, bad.Errors[0].Field)
	}
}

func TestT6NullAndEmptyNamesAreRefused(t *testing.T) {
	for _, names := range []string{`[null]`, `["a",""]`} {
		var bad *schema.ParamsError
		require.ErrorAs(t, schema.Decode([]byte(`{"input":"x","instructionInjectors":`+names+`}`), new(schema.PromptParams)), &bad)
		assert.Regexp(t, `^instructionInjectors\[[01]\]$`, bad.Errors[0].Field)
	}
}
