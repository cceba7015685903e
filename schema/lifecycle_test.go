package schema_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/schema"
)

// A client that gives its options twice has no secret that is not kept.
func TestOptionsOfTwoPlaces(t *testing.T) {
	for params, want := range map[string]schema.InitializeOptions{
		`{}`:                            {},
		`{"_meta":{"progressToken":1}}`: {},
		`{"redact":[{"value":"w"}],"initializationOptions":{"exclude":["a"]}}`: {Exclude: []string{"a"}, Redact: []schema.SecretValue{{Value: "w"}}},
		`{"_meta":{"prism":{"exclude":["a"],"redact":[{"value":"v"}]}}}`:       {Exclude: []string{"a"}, Redact: []schema.SecretValue{{Value: "v"}}},
		`{"initializationOptions":{"redact":[{"value":"u"}]},"_meta":{"prism":{"exclude":["a"],"redact":[{"value":"v"}]}}}`: {
			Redact: []schema.SecretValue{{Value: "u"}, {Value: "v"}},
		},
	} {
		var p schema.InitializeParams
		require.NoError(t, schema.DecodeLenient([]byte(params), &p))
		assert.Equal(t, want, p.Options(), params)
	}
}
