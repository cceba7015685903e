package rpc

import (
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// specMethods are those of the examples in the JSON-RPC 2.0 specification.
func specMethods() map[string]begin {
	decode := func(params []byte, into any) error {
		if err := json.Unmarshal(params, into); err != nil {
			return &wireError{Code: codeInvalidParams, Message: "Invalid params"}
		}
		return nil
	}
	subtract := func(_ *call, params []byte) (reply, error) {
		var named struct{ Minuend, Subtrahend int }
		if params[0] == '[' {
			var pair [2]int
			err := decode(params, &pair)
			return reply{result: pair[0] - pair[1]}, err
		}
		err := json.Unmarshal(params, &named, json.MatchCaseInsensitiveNames(true))
		return reply{result: named.Minuend - named.Subtrahend}, err
	}
	sum := func(_ *call, params []byte) (reply, error) {
		var numbers []int
		err := decode(params, &numbers)
		total := 0
		for _, n := range numbers {
			total += n
		}
		return reply{wait: func() (any, error) { return total, nil }}, err
	}
	nothing := func(*call, []byte) (reply, error) { return reply{}, nil }
	return map[string]begin{
		"subtract": subtract, "sum": sum, "update": nothing, "notify_hello": nothing, "notify_sum": nothing,
		"get_data": func(*call, []byte) (reply, error) { return reply{result: []any{"hello", 5}}, nil },
	}
}

// specReply is a reply as the specification's examples print it: the texts of
// its messages are examples, and data is optional.
type specReply struct {
	JSONRPC string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id"`
	Result  jsontext.Value `json:"result"`
	Error   *struct {
		Code    int            `json:"code"`
		Message string         `json:"message"`
		Data    jsontext.Value `json:"data"`
	} `json:"error"`
}

func (r specReply) brief(t *testing.T) string {
	assert.Equal(t, "2.0", r.JSONRPC)
	require.NotNil(t, r.ID, "null is written too")
	if r.Error != nil {
		assert.NotEmpty(t, r.Error.Message)
		assert.Nil(t, r.Result)
		return r.ID.String() + " error " + string(jsontext.Int(int64(r.Error.Code)).String())
	}
	return r.ID.String() + " " + r.Result.String()
}

func TestT14_ExamplesOfTheSpecification(t *testing.T) {
	const batchInput = `[{"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"},{"jsonrpc": "2.0", "method": "notify_hello", "params": [7]},{"jsonrpc": "2.0", "method": "subtract", "params": [42,23], "id": "2"},{"foo": "boo"},{"jsonrpc": "2.0", "method": "foo.get", "params": {"name": "myself"}, "id": "5"},{"jsonrpc": "2.0", "method": "get_data", "id": "9"}]`
	cases := []struct {
		name, input string
		want        []string // the reply, or the replies of one array
		array       bool
	}{
		{"positional parameters", `{"jsonrpc": "2.0", "method": "subtract", "params": [42, 23], "id": 1}`, []string{"1 19"}, false},
		{"positional parameters, turned round", `{"jsonrpc": "2.0", "method": "subtract", "params": [23, 42], "id": 2}`, []string{"2 -19"}, false},
		{"named parameters", `{"jsonrpc": "2.0", "method": "subtract", "params": {"subtrahend": 23, "minuend": 42}, "id": 3}`, []string{"3 19"}, false},
		{"named parameters, turned round", `{"jsonrpc": "2.0", "method": "subtract", "params": {"minuend": 42, "subtrahend": 23}, "id": 4}`, []string{"4 19"}, false},
		{"a notification", `{"jsonrpc": "2.0", "method": "update", "params": [1,2,3,4,5]}`, nil, false},
		{"a notification without params", `{"jsonrpc": "2.0", "method": "foobar"}`, nil, false},
		{"a method that is not there", `{"jsonrpc": "2.0", "method": "foobar", "id": "1"}`, []string{`"1" error -32601`}, false},
		{"invalid JSON", `{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]`, []string{"null error -32700"}, false},
		{"an invalid request", `{"jsonrpc": "2.0", "method": 1, "params": "bar"}`, []string{"null error -32600"}, false},
		{"a batch of invalid JSON", `[{"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"},{"jsonrpc": "2.0", "method"]`, []string{"null error -32700"}, false},
		{"an empty array", `[]`, []string{"null error -32600"}, false},
		{"a batch that is invalid but not empty", `[1]`, []string{"null error -32600"}, true},
		{"an invalid batch", `[1,2,3]`, []string{"null error -32600", "null error -32600", "null error -32600"}, true},
		{"a batch", batchInput, []string{`"1" 7`, `"2" 19`, `null error -32600`, `"5" error -32601`, `"9" ["hello",5]`}, true},
		{"a batch of notifications", `[{"jsonrpc": "2.0", "method": "notify_sum", "params": [1,2,4]},{"jsonrpc": "2.0", "method": "notify_hello", "params": [7]}]`, nil, false},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			inBothFramings(t, connOptions{methods: specMethods()}, tc.input, func(replies []string) {
				if tc.want == nil {
					assert.Empty(t, replies)
					return
				}
				require.Len(t, replies, 1)
				all := make([]specReply, 1)
				into := any(&all[0])
				if tc.array {
					into = &all
				}
				require.NoError(t, json.Unmarshal([]byte(replies[0]), into))
				var got []string
				for _, r := range all {
					got = append(got, r.brief(t))
				}
				assert.Equal(t, tc.want, got)
			})
		})
	}
}
