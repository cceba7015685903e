package schema_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/internal/contract"
	"github.com/prism-rpc/prism-rpc/schema"
)

// What the published schema takes is what the server takes: random params of
// every method, most of them nearly right, are judged the same by both, but for
// bounds on bytes, which JSON Schema can't say.
func TestParams_SchemaAndDecodeAgree_T6(t *testing.T) {
	s, err := contract.Parse(schema.JSONSchema())
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, m := range schema.Methods() {
		name := m.Params.Name()
		if seen[name] {
			continue
		}
		seen[name] = true
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := &values{schema: s, rand: rand.New(rand.NewPCG(1, 2))}
			tries, right, wrong := 500*m.Params.NumField(), 0, 0
			for range tries {
				raw, err := json.Marshal(g.object(s.Definition(name).(map[string]any), 0), json.Deterministic(true))
				require.NoError(t, err)
				bySchema, byDecode := s.Check(name, raw), decode(m, raw)
				if pastBytes(byDecode) {
					continue
				}
				require.Equal(t, bySchema == nil, byDecode == nil, "%s\nschema: %v\ndecode: %v", raw, bySchema, byDecode)
				if byDecode == nil {
					right++
				} else {
					wrong++
				}
			}
			assert.Greater(t, right, tries/50, "too few right ones to tell anything")
			assert.Greater(t, wrong, tries/50, "too few wrong ones to tell anything")
		})
	}
}

func decode(m schema.Method, raw []byte) error {
	p := reflect.New(m.Params).Interface()
	if m.Lenient {
		return schema.DecodeLenient(raw, p)
	}
	return schema.Decode(raw, p)
}

// pastBytes tells whether params were refused for a bound on bytes alone, or
// for how a name is composed.
func pastBytes(err error) bool {
	bad, ok := errors.AsType[*schema.ParamsError](err)
	return ok && (bad.Limit > 0 && strings.Contains(bad.Errors[0].Message, " bytes") || bad.Errors[0].Rule == "injectorname")
}

// values makes random JSON along a schema, now and then off it.
type values struct {
	schema *contract.Schema
	rand   *rand.Rand
}

func (g *values) oneIn(n int) bool { return g.rand.IntN(n) == 0 }

var words = []string{
	"", " ", "\u2003\n", "\u00a0\u0085", "\ufeff", "\u180e", "a", "b", "text", "s-1.x", "s.", "-s", ".s", "con", "Com7.log", "COM10", "nul", "nulx", "a\n", "\u0130",
	"iVBORw0KGgo=", "iVBORw0KGgoAAA==", "R0lGODlh", "/9j/", "image/png", "image/gif", strings.Repeat("0f", 32),
	strings.Repeat("x", 128), strings.Repeat("é", 128), strings.Repeat("x", 129), strings.Repeat("é", 256), strings.Repeat("x", 257), strings.Repeat("y", 65),
}

var numbers = []float64{-1, 0, 1, 2, 3, 0.5, 1000, 1001, 1 << 40}

func (g *values) value(schema any, depth int) any {
	object, ok := schema.(map[string]any)
	if !ok || g.oneIn(40) {
		return g.any()
	}
	if ref, ok := object["$ref"].(string); ok {
		return g.value(g.schema.Definition(strings.TrimPrefix(ref, "#/$defs/")), depth)
	}
	if enum, ok := object["enum"].([]any); ok && !g.oneIn(8) {
		return enum[g.rand.IntN(len(enum))]
	}
	if c, ok := object["const"]; ok {
		return c
	}
	if parts, ok := object["anyOf"].([]any); ok && object["properties"] == nil {
		return g.value(parts[g.rand.IntN(len(parts))], depth)
	}
	types, _ := object["type"].([]any)
	if types == nil {
		types = []any{object["type"]}
	}
	return g.ofType(types[g.rand.IntN(len(types))], object, depth)
}

func (g *values) ofType(typ any, schema map[string]any, depth int) any {
	switch typ {
	case "string":
		if g.oneIn(2) {
			return "hello"
		}
		return words[g.rand.IntN(len(words))]
	case "integer":
		return float64(int(numbers[g.rand.IntN(len(numbers))]))
	case "number":
		return numbers[g.rand.IntN(len(numbers))]
	case "boolean":
		return g.oneIn(2)
	case "array":
		return g.array(schema, depth)
	case "object":
		return g.object(schema, depth)
	case "null":
		return nil
	}
	return g.any()
}

// array has no null as an entry: Go reads it as the zero value, which the
// schema does not advertise. A long one repeats one entry, so that its length
// is what decides.
func (g *values) array(schema map[string]any, depth int) []any {
	n := g.rand.IntN(4)
	if most, ok := schema["maxItems"].(float64); ok && g.oneIn(3) {
		n = int(most) + g.rand.IntN(2)
	}
	out, v := []any{}, g.value(schema["items"], depth+1)
	for i := range n {
		if n <= 4 {
			v = g.value(schema["items"], depth+1)
		}
		switch s, ok := v.(string); {
		case ok && n > 4 && len(s) < 10:
			out = append(out, fmt.Sprint(s, i))
		case v != nil:
			out = append(out, v)
		}
	}
	return out
}

func (g *values) object(schema map[string]any, depth int) map[string]any {
	required, _ := schema["required"].([]any)
	properties, _ := schema["properties"].(map[string]any)
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if slices.Contains(required, any(name)) && !g.oneIn(15) || g.oneIn(4) {
			out[name] = g.value(properties[name], depth+1)
		}
	}
	if g.oneIn(15) {
		out[[]string{"nope", "Input", "sessionid", "_Meta"}[g.rand.IntN(4)]] = g.any()
	}
	return out
}

func (g *values) any() any {
	return []any{nil, true, false, 1.0, -2.5, "x", "", []any{}, []any{"x"}, map[string]any{}, map[string]any{"x": 1.0}}[g.rand.IntN(11)]
}
