package contract_test

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/internal/contract"
)

func TestSchema_Check(t *testing.T) {
	for name, tc := range map[string]struct{ schema, right, wrong string }{
		"type":                   {`{"type":"integer"}`, `2.0`, `2.5`},
		"types":                  {`{"type":["string","null"]}`, `null`, `1`},
		"a boolean schema":       {`{"properties":{"a":true,"b":false}}`, `{"a":1}`, `{"b":1}`},
		"enum":                   {`{"enum":["a",null]}`, `null`, `"b"`},
		"const":                  {`{"const":false}`, `false`, `null`},
		"required":               {`{"required":["a"]}`, `{"a":null}`, `{}`},
		"no other fields":        {`{"properties":{"a":true},"additionalProperties":false}`, `{"a":1}`, `{"b":1}`},
		"other fields of a type": {`{"additionalProperties":{"type":"number"}}`, `{"b":1}`, `{"b":"1"}`},
		"items":                  {`{"items":{"type":"number"}}`, `[1]`, `[1,"2"]`},
		"contains":               {`{"contains":{"type":"number"}}`, `["2",1]`, `["2"]`},
		"maxItems":               {`{"maxItems":1}`, `[1]`, `[1,2]`},
		"minItems":               {`{"minItems":1}`, `[1]`, `[]`},
		"uniqueItems":            {`{"uniqueItems":true}`, `[1,"1"]`, `[1,2,1]`},
		"maxLength in runes":     {`{"maxLength":2}`, `"éé"`, `"ééé"`},
		"minLength":              {`{"minLength":1}`, `"é"`, `""`},
		"pattern":                {`{"pattern":"^a"}`, `"ab"`, `"ba"`},
		"minimum":                {`{"minimum":1}`, `1`, `0.5`},
		"maximum":                {`{"maximum":1}`, `1`, `1.5`},
		"anyOf":                  {`{"anyOf":[{"type":"string"},{"type":"number"}]}`, `1`, `true`},
		"oneOf":                  {`{"oneOf":[{"minimum":1},{"maximum":2}]}`, `3`, `1.5`},
		"not":                    {`{"not":{"const":1}}`, `2`, `1`},
		"$ref":                   {`{"$ref":"#/$defs/number"}`, `2`, `"2"`},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := contract.Parse(`{"$defs":{"number":{"type":"number"},"it":` + tc.schema + `}}`)
			require.NoError(t, err)
			assert.NoError(t, s.Check("it", []byte(tc.right)))
			assert.Error(t, s.Check("it", []byte(tc.wrong)))
		})
	}
}

func TestParse_RefusesWhatCheckWouldNotSee(t *testing.T) {
	for name, doc := range map[string]string{
		"an unknown keyword":           `{"$defs":{"it":{"multipleOf":2}}}`,
		"one inside":                   `{"$defs":{"it":{"items":{"anyOf":[{"multipleOf":2}]}}}}`,
		"a reference to nothing":       `{"$defs":{"it":{"properties":{"a":{"$ref":"#/$defs/other"}}}}}`,
		"a pattern that doesn't parse": `{"$defs":{"it":{"pattern":"("}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := contract.Parse(doc)
			assert.Error(t, err)
		})
	}
}

func TestConversation(t *testing.T) {
	const event = `{"jsonrpc":"2.0","method":"event","params":{"sessionId":"s","runId":"r","turn":1,"seq":1,"type":`
	for name, tc := range map[string]struct {
		in, out string
		right   bool
	}{
		"a reply of the method":           {`{"id":1,"method":"abort"}`, `{"jsonrpc":"2.0","id":1,"result":{"aborted":true}}`, true},
		"with a field of a later version": {`{"id":1,"method":"abort"}`, `{"jsonrpc":"2.0","id":1,"result":{"aborted":true,"new":1}}`, true},
		"of another method":               {`{"id":1,"method":"state"}`, `{"jsonrpc":"2.0","id":1,"result":{"aborted":true}}`, false},
		"of no call":                      {`{"id":"1","method":"abort"}`, `{"jsonrpc":"2.0","id":1,"result":{"aborted":true}}`, false},
		"null where it should be":         {`{"id":1,"method":"shutdown"}`, `{"jsonrpc":"2.0","id":1,"result":null}`, true},
		"null where it should not":        {`{"id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"result":null}`, false},
		"a batch":                         {`[{"id":1,"method":"ping"},{"id":2,"method":"abort"}]`, `[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{"aborted":false}}]`, true},
		"a batch with one wrong":          {`[{"id":1,"method":"ping"},{"id":2,"method":"abort"}]`, `[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{}}]`, false},
		"a reply with both":               {`{"id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":-32603,"message":"","data":{"kind":"internal"}}}`, false},
		"an error":                        {``, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"","data":{"kind":"parse_error","offset":1}}}`, true},
		"an error without data":           {``, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":""}}`, false},
		"an unknown kind":                 {``, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"","data":{"kind":"oops"}}}`, false},
		"a kind with another's code":      {``, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"","data":{"kind":"parse_error"}}}`, false},
		"an event":                        {``, event + `"message_delta","text":"x"}}`, true},
		"an event without a field":        {``, event + `"message_delta"}}`, false},
		"an event of no known type":       {``, event + `"oops"}}`, false},
		"an error in an event":            {``, event + `"turn_ended","committed":false,"error":{"code":-32600,"message":"","data":{"kind":"internal"}}}}`, false},
		"an unknown notification":         {``, `{"jsonrpc":"2.0","method":"oops","params":{}}`, false},
		"no JSON":                         {``, `oops`, false},
		"another version":                 {`{"id":1,"method":"ping"}`, `{"jsonrpc":"1.0","id":1,"result":{}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := contract.NewConversation()
			require.NoError(t, err)
			_, err = io.Copy(io.Discard, c.Input(strings.NewReader(tc.in+"\n")))
			require.NoError(t, err)
			var passed strings.Builder
			_, err = io.Copy(c.Output(&passed), strings.NewReader(tc.out+"\n"))
			require.NoError(t, err)
			assert.Equal(t, tc.out+"\n", passed.String())
			assert.Equal(t, tc.right, c.Err() == nil, "%v", c.Err())
			assert.Positive(t, c.Checked())
		})
	}
}
