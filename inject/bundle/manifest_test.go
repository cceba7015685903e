package bundle_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject/bundle"
)

func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func TestP19_types_of_a_manifest_are_strict(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"a word for a switch":   {`{"enabled":"true"}`, "enabled: must be true or false"},
		"a number for a switch": {`{"enabled":1}`, "enabled: must be true or false"},
		"a number for a name":   {`{"name":1}`, "name: must be a string"},
		"a word for a number":   {`{"maxBytes":"10"}`, "maxBytes: must be an integer"},
		"a fraction":            {`{"maxBytes":1.5}`, "maxBytes: must be an integer"},
		"a list for metadata":   {`{"metadata":[]}`, "metadata: must be an object"},
		"an object for blocks":  {`{"contextBlocks":{}}`, "contextBlocks: must be an array"},
		"another kind":          {`{"kind":"skill"}`, "kind: must be one of: instructions, instructionInjector"},
		"an unknown placement":  {`{"placement":"top"}`, "placement: must be one of"},
		"an unknown scope":      {`{"scope":"turn"}`, "scope: must be one of"},
		"an unknown position":   {`{"position":"mid"}`, "position: must be one of"},
		"an unknown failure":    {`{"onError":"ignore"}`, "onError: must be one of"},
		"too few bytes":         {`{"maxBytes":0}`, "maxBytes: must be at least 1"},
		"a key twice":           {"{\"name\":\"a\",\n \"name\":\"b\"}", "a key stands twice: /name, at line 2"},
		"a key twice inside":    {`{"metadata":{"a":1,"a":2}}`, "a key stands twice: /metadata/a"},
		"a list":                {`[]`, "is no JSON object"},
		"null":                  {`null`, "is no JSON object"},
		"nothing":               {``, "is no JSON object"},
		"two values":            {`{} {}`, "something stands behind the JSON value, at line 1, column 3"},
		"bad UTF-8":             {"{\"name\":\"\xff\"}", "is not valid JSON, at line 1, column 10"},
		"a comment":             {`{/*x*/}`, "is not valid JSON, at line 1, column 2"},
		"deep":                  {`{"metadata":` + strings.Repeat("[", 32) + strings.Repeat("]", 32) + `}`, "nests deeper than 32"},
		"NUL in a path":         {`{"resource":"a\u0000"}`, "resource: holds a NUL"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, err := bundle.ParseManifest([]byte(tt.text))
			require.Error(t, err)
			assert.Contains(t, err.Error(), tt.want)
		})
	}
}

func TestP19_null_says_nothing(t *testing.T) {
	m, warnings, err := bundle.ParseManifest([]byte("\ufeff" + `{"enabled":null,"when":null,"metadata":null,"maxBytes":null}`))
	require.NoError(t, err)
	assert.Empty(t, warnings)
	assert.Nil(t, m.Enabled)
	assert.Empty(t, m.When)
}
