package schema_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/internal/contract"
	"github.com/prism-rpc/prism-rpc/schema"
)

// openRPC is the document as the OpenRPC specification 1.3 lays it out.
type openRPC struct {
	OpenRPC    string                          `json:"openrpc"`
	Info       struct{ Title, Version string } `json:"info"`
	Methods    []openMethod                    `json:"methods"`
	Components struct {
		Schemas map[string]jsontext.Value `json:"schemas"`
		Errors  map[string]openError      `json:"errors"`
	} `json:"components"`
}

type openMethod struct {
	Name           string       `json:"name"`
	Summary        string       `json:"summary"`
	ParamStructure string       `json:"paramStructure"`
	Params         []descriptor `json:"params"`
	Result         *descriptor  `json:"result"`
	Errors         []struct {
		Ref string `json:"$ref"`
	} `json:"errors"`
	Examples []struct {
		Name   string    `json:"name"`
		Params []example `json:"params"`
		Result example   `json:"result"`
	} `json:"examples"`
}

type descriptor struct {
	Name     string         `json:"name"`
	Required bool           `json:"required"`
	Schema   jsontext.Value `json:"schema"`
}

type example struct {
	Name  string         `json:"name"`
	Value jsontext.Value `json:"value"`
}

type openError struct {
	Code    *int   `json:"code"`
	Message string `json:"message"`
	Data    struct {
		Kind schema.ErrorKind `json:"kind"`
	} `json:"data"`
}

func document(t *testing.T) openRPC {
	var doc openRPC
	require.NoError(t, json.Unmarshal([]byte(schema.OpenRPC()), &doc, json.MatchCaseInsensitiveNames(true)))
	return doc
}

func TestOpenRPC_HoldsWhatTheSpecificationAsksFor(t *testing.T) {
	doc := document(t)
	assert.Regexp(t, `^1\.3\.\d+$`, doc.OpenRPC)
	assert.NotEmpty(t, doc.Info.Title)
	assert.NotEmpty(t, doc.Info.Version)
	assert.False(t, strings.ContainsAny(schema.OpenRPC(), "\n\r\u0085\u2028\u2029"), "one line, for every reader of lines")

	var names []string
	for _, m := range doc.Methods {
		t.Run(m.Name, func(t *testing.T) {
			require.NotEmpty(t, m.Name)
			assert.NotContains(t, names, m.Name, "names are unique")
			assert.NotEmpty(t, m.Summary)
			assert.Equal(t, "by-name", m.ParamStructure)
			assert.NotNil(t, m.Params, "params is required, if only as an empty list")
			checkParams(t, m.Params)
			if m.Result != nil {
				assert.NotEmpty(t, m.Result.Name)
				assert.NotEmpty(t, m.Result.Schema)
			}
			for _, e := range m.Errors {
				kind, found := strings.CutPrefix(e.Ref, "#/components/errors/")
				assert.True(t, found)
				assert.Contains(t, doc.Components.Errors, kind)
			}
		})
		names = append(names, m.Name)
	}
}

func checkParams(t *testing.T, params []descriptor) {
	seen, optional := map[string]bool{}, false
	for _, p := range params {
		assert.NotEmpty(t, p.Name)
		assert.NotEmpty(t, p.Schema)
		assert.False(t, seen[p.Name], "%s stands twice", p.Name)
		assert.False(t, p.Required && optional, "%s: required ones come first", p.Name)
		seen[p.Name], optional = true, optional || !p.Required
	}
	assert.True(t, seen["_meta"], "_meta is always allowed")
}

func TestOpenRPC_ListsMethodsAndErrorsAsTheTables(t *testing.T) {
	doc := document(t)
	for i, m := range schema.Methods() {
		require.Less(t, i, len(doc.Methods))
		assert.Equal(t, m.Name, doc.Methods[i].Name)
		assert.Equal(t, m.Notification, doc.Methods[i].Result == nil, "%s: what has no result is a notification", m.Name)
	}
	assert.Len(t, doc.Components.Errors, len(schema.ErrorKinds()))
	for _, row := range schema.ErrorKinds() {
		e := doc.Components.Errors[string(row.Kind)]
		require.NotNil(t, e.Code, row.Kind)
		assert.Equal(t, row.Code, *e.Code)
		assert.Equal(t, row.Meaning, e.Message)
		assert.Equal(t, row.Kind, e.Data.Kind)
	}
}

func TestOpenRPC_ExamplesFitTheSchema(t *testing.T) {
	s, err := contract.Parse(schema.JSONSchema())
	require.NoError(t, err)
	methods := schema.Methods()
	shown := map[string]bool{}
	for i, m := range document(t).Methods {
		for _, e := range m.Examples {
			params := map[string]jsontext.Value{}
			for _, p := range e.Params {
				params[p.Name] = p.Value
			}
			raw, err := json.Marshal(params)
			require.NoError(t, err)
			assert.NoError(t, s.Check(methods[i].Params.Name(), raw), e.Name)
			assert.NoError(t, s.Check(methods[i].Result.Name(), e.Result.Value), e.Name)
			shown[m.Name] = true
		}
	}
	assert.True(t, shown["prompt"] && shown["followUp"])
}

// The two documents hold the same definitions, and every reference in either
// leads somewhere.
func TestDocuments_HoldTheSameDefinitions(t *testing.T) {
	s, err := contract.Parse(schema.JSONSchema())
	require.NoError(t, err)
	doc := document(t)
	var names []string
	for name := range doc.Components.Schemas {
		names = append(names, name)
	}
	assert.ElementsMatch(t, s.Definitions(), names)

	moved := strings.ReplaceAll(schema.OpenRPC(), `"#/components/schemas/`, `"#/$defs/`)
	for part := range strings.SplitSeq(moved, `"#/$defs/`) {
		name, _, _ := strings.Cut(part, `"`)
		if !strings.HasPrefix(part, "{") {
			assert.NotNil(t, s.Definition(name), name)
		}
	}
	for _, name := range names {
		assert.Regexp(t, `(interface|type) `+name+` `, schema.TypeScript())
	}
}

func TestEvents_AreThoseThatAreSent(t *testing.T) {
	var types []schema.EventType
	for _, e := range schema.Events() {
		types = append(types, e.Type)
	}
	assert.Equal(t, schema.EventTypes(), types)
}

func TestErrorKinds_HaveOneCodeEach(t *testing.T) {
	s, err := contract.Parse(schema.JSONSchema())
	require.NoError(t, err)
	var kinds []any
	for _, row := range schema.ErrorKinds() {
		assert.NotContains(t, kinds, any(string(row.Kind)))
		kinds = append(kinds, string(row.Kind))
	}
	assert.ElementsMatch(t, s.Definition("ErrorKind").(map[string]any)["enum"], kinds, "every constant has its row")
	for _, kind := range schema.CommonErrors() {
		assert.True(t, slices.Contains(kinds, any(string(kind))))
	}
}
