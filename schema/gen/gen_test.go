package main

import (
	"os"
	"os/exec"
	"reflect"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/invopop/jsonschema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDocuments_AreThoseOfTheTypes(t *testing.T) {
	t.Chdir("..")
	files, err := documents(".")
	require.NoError(t, err)
	require.Len(t, files, 3)
	for name, want := range files {
		got, err := os.ReadFile(name)
		require.NoError(t, err)
		assert.True(t, string(want) == string(got), "%s is not what the Go types say; run: go generate ./schema/...", name)
	}
}

func TestDocuments_AreTheSameEachTime(t *testing.T) {
	t.Chdir("..")
	first, err := documents(".")
	require.NoError(t, err)
	for range 5 {
		again, err := documents(".")
		require.NoError(t, err)
		require.Equal(t, first, again)
	}
}

// reflected describes a type as the params of a method.
func reflected(t *testing.T, typ reflect.Type) (*jsonschema.Schema, []error) {
	g := &generator{enums: map[string][]string{}, types: map[string]reflect.Type{}, used: map[any]bool{}}
	s := (&jsonschema.Reflector{Mapper: func(t reflect.Type) *jsonschema.Schema { return g.special(taken, t) }, ExpandedStruct: true, Anonymous: true}).ReflectFromType(typ)
	g.finish(taken, typ, s)
	return s, g.errs
}

func TestGenerator_RefusesWhatItCannotSay(t *testing.T) {
	for name, typ := range map[string]reflect.Type{
		"a rule without a keyword": reflect.TypeFor[struct {
			A string `json:"a" validate:"hostname"`
		}](),
		"one behind dive": reflect.TypeFor[struct {
			A []string `json:"a" validate:"max=3,dive,hostname"`
		}](),
		"a bound on a bool": reflect.TypeFor[struct {
			A bool `json:"a" validate:"max=3"`
		}](),
		"a required number": reflect.TypeFor[struct {
			A int `json:"a" validate:"required"`
		}](),
		"an optional number from 1, zero being absent": reflect.TypeFor[struct {
			A int `json:"a" validate:"omitempty,min=1"`
		}](),
		"a field of any JSON": reflect.TypeFor[struct {
			A jsontext.Value `json:"a"`
		}](),
		"a type with a JSON form of its own": reflect.TypeFor[struct {
			A ownForm `json:"a"`
		}](),
	} {
		t.Run(name, func(t *testing.T) {
			_, errs := reflected(t, typ)
			assert.NotEmpty(t, errs)
		})
	}
}

type ownForm struct{}

func (*ownForm) UnmarshalJSONFrom(*jsontext.Decoder) error { return nil }

func TestGenerator_MapsRules(t *testing.T) {
	type embedded struct {
		E string `json:"e" validate:"max=2"`
	}
	s, errs := reflected(t, reflect.TypeFor[struct {
		A string   `json:"a" validate:"required,max=4"`
		B *int     `json:"b,omitempty" validate:"omitempty,min=1,lte=9"`
		C string   `json:"c,omitempty" validate:"omitempty,oneof=x y"`
		D []string `json:"d,omitempty" validate:"unique,max=3,dive,min=2"`
		embedded
	}]())
	require.Empty(t, errs)
	got, err := s.MarshalJSON()
	require.NoError(t, err)
	assert.JSONEq(t, `{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "additionalProperties": false, "required": ["a"], "properties": {
		"a": {"type": "string", "minLength": 1, "maxLength": 4},
		"b": {"type": ["integer", "null"], "minimum": 1, "maximum": 9},
		"c": {"type": ["string", "null"], "enum": ["x", "y", "", null]},
		"d": {"type": ["array", "null"], "items": {"type": "string", "minLength": 2}, "maxItems": 3, "uniqueItems": true},
		"e": {"type": ["string", "null"], "maxLength": 2}}}`, string(got))
}

func TestGenerator_IsNotLinkedIntoTheProgram(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "../../cmd/prism-rpc").Output()
	require.NoError(t, err)
	assert.NotContains(t, string(out), "invopop/jsonschema")
	assert.NotContains(t, string(out), "prism-rpc/internal/contract")
}
