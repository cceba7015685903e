package hostile

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/provider/internal/upstream"
	"github.com/prism-rpc/prism-rpc/redact"
)

func (wire *Wire) models(t *testing.T) {
	long := strings.Repeat("x", 600)
	for name, row := range map[string]struct {
		serve http.HandlerFunc
		want  []provider.Model
		class provider.Class
	}{
		"as OpenAI lists them":    {Status(200, js, `{"object":"list","data":[{"id":"b","object":"model","owned_by":"x"},{"id":"a"}]}`), []provider.Model{{ID: "b"}, {ID: "a"}}, ""},
		"as Anthropic lists them": {Status(200, js, `{"data":[{"type":"model","id":"c","display_name":"Claude C","max_input_tokens":200000}],"has_more":false}`), []provider.Model{{ID: "c", Name: "Claude C", ContextTokens: 200000}}, ""},
		"as others do":            {Status(200, js, `{"data":[{"id":"v","max_model_len":32768},{"id":"g","context_window":8192},{"id":"o/r","name":"O: R","context_length":131072}]}`), []provider.Model{{ID: "v", ContextTokens: 32768}, {ID: "g", ContextTokens: 8192}, {ID: "o/r", Name: "O: R", ContextTokens: 131072}}, ""},
		"what makes no sense":     {Status(200, js, `{"data":[{"id":5},{"id":""},{"id":"`+long+`"},{"id":"a","name":[],"context_length":-1},{}]}`), []provider.Model{{ID: "a"}}, ""},
		"none":                    {Status(200, js, `{"data":[]}`), []provider.Model{}, ""},
		"no list":                 {Status(200, js, `{"data":5}`), nil, provider.ClassBadRequest},
		"a page":                  {Status(200, "text/html", html), nil, provider.ClassBadRequest},
		"a list without an end":   {Endless(strings.Repeat("x", 1<<16)), nil, provider.ClassTooLarge},
		"a list that breaks off":  {Abort(Stream("{")), nil, provider.ClassInterrupted},
		"silence":                 {Stall(func(http.ResponseWriter, *http.Request) {}), nil, provider.ClassTimeout},
		"one byte each second":    {Drip(" "), nil, provider.ClassTimeout},
		"what is no object":       {Status(200, js, `{"data":[1,"x",null,[],{"id":"a"},{"id":{}}]}`), []provider.Model{{ID: "a"}}, ""},
		"silence within":          {Stall(Stream("{")), nil, provider.ClassTimeout},
		"a bad key":               {Status(401, js, `{"error":{"message":"no"}}`), nil, provider.ClassAuth},
		"a redirect":              {Status(302, "", "", "Location", "http://elsewhere"), nil, provider.ClassBadRequest},
		"a server in trouble":     {Status(503, "", ""), nil, provider.ClassOverloaded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := wire.serve(t, upstream.Options{Key: redact.NewSecret("k-1")}, func(w http.ResponseWriter, r *http.Request) {
					assert.Equal(t, "GET /v1/models", r.Method+" "+r.URL.Path)
					assert.Equal(t, wire.KeyPrefix+"k-1", r.Header.Get(wire.KeyHeader))
					row.serve(w, r)
				})
				lister, ok := p.(provider.Lister)
				require.True(t, ok)
				got, err := lister.Models(t.Context())
				assert.Equal(t, row.class, Failure(err).Class)
				assert.Equal(t, row.want, got)
			})
		})
	}
}
