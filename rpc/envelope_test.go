package rpc

import (
	"bytes"
	"encoding/json" // the older package is the oracle here
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestT1_UnknownMethodEchoesEachKindOfID(t *testing.T) {
	ids := []string{`"a"`, `0`, `-1`, `-0`, `1.5`, `1e3`, `1E+400`, `12345678901234567890`, `null`, `""`, `"1"`,
		`"\u0061"`, `"\/"`, `"\ud800"`, `"\udc00\ud800"`, `"\u0000"`, "\"\u2028\u2029\u0085\"", `"😀"`, `"\ud83d\ude00"`}
	for _, id := range ids {
		t.Run(id, func(t *testing.T) {
			inBothFramings(t, testOptions(), `{"jsonrpc":"2.0","id":`+id+`,"method":"nothing"}`, func(replies []string) {
				require.Len(t, replies, 1)
				want := `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32601,"message":"Method not found: nothing","data":{"kind":"method_not_found",`
				assert.Equal(t, want, replies[0][:min(len(want), len(replies[0]))])
			})
		})
	}
}

func TestEnvelope(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	const tooDeep, longID = "-32600 too_deep", "null -32600 id_too_long"
	cases := map[string]struct{ message, want string }{
		"an id that is an object":            {`{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`, invalid},
		"an id that is an array":             {`{"jsonrpc":"2.0","id":[1],"method":"ping"}`, invalid},
		"an id that is true":                 {`{"jsonrpc":"2.0","id":true,"method":"ping"}`, invalid},
		"an id that is false":                {`{"jsonrpc":"2.0","id":false,"method":"ping"}`, invalid},
		"an id of 1 KiB":                     {`{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 1022) + `","method":"ping"}`, `"` + strings.Repeat("x", 1022) + `" {}`},
		"an id over 1 KiB":                   {`{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 1023) + `","method":"ping"}`, longID},
		"no version":                         {`{"id":1,"method":"ping"}`, "1 -32600 invalid_request"},
		"another version":                    {`{"jsonrpc":"1.0","id":1,"method":"ping"}`, "1 -32600 invalid_request"},
		"a version that is a number":         {`{"jsonrpc":2.0,"id":1,"method":"ping"}`, "1 -32600 invalid_request"},
		"an escaped version":                 {`{"jsonrpc":"\u0032.0","id":1,"method":"ping"}`, pong1},
		"a bad notification":                 {`{"jsonrpc":"1.0","method":"ping"}`, invalid},
		"no method":                          {`{"jsonrpc":"2.0","id":1}`, "1 -32600 invalid_request"},
		"a method that is null":              {`{"jsonrpc":"2.0","id":1,"method":null}`, "1 -32600 invalid_request"},
		"an empty method":                    {`{"jsonrpc":"2.0","id":1,"method":""}`, "1 -32601 method_not_found"},
		"T4: an escaped method":              {`{"jsonrpc":"2.0","id":1,"method":"\u0070in\u0067"}`, pong1},
		"T4: odd characters in a method":     {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\u2028\\u0000\\ud800\"}", "1 -32601 method_not_found"},
		"escaped keys":                       {`{"\u006asonrpc":"2.0","\u0069d":1,"m\u0065thod":"ping"}`, pong1},
		"members in another order":           {`{"params":{},"method":"ping","id":1,"jsonrpc":"2.0"}`, pong1},
		"blanks everywhere":                  {` { "jsonrpc" : "2.0" , "id" : 1 , "method" : "ping" , "params" : [ ] } `, pong1},
		"other members":                      {`{"jsonrpc":"2.0","id":1,"method":"ping","meta":{"id":2},"":0,"x":[{"method":"y"}]}`, pong1},
		"other members twice":                {`{"jsonrpc":"2.0","id":1,"method":"ping","x":1,"x":2}`, pong1},
		"T13: two ids":                       {`{"jsonrpc":"2.0","id":1,"method":"ping","id":2}`, invalid},
		"T13: the same id twice":             {`{"jsonrpc":"2.0","id":1,"method":"ping","id":1}`, invalid},
		"T13: two ids, one of them escaped":  {`{"jsonrpc":"2.0","id":1,"method":"ping","\u0069d":2}`, invalid},
		"T13: two methods":                   {`{"jsonrpc":"2.0","id":1,"method":"ping","method":"hang"}`, "1 -32600 invalid_request"},
		"T13: two params":                    {`{"jsonrpc":"2.0","id":1,"method":"ping","params":{},"params":{}}`, "1 -32600 invalid_request"},
		"T13: two versions":                  {`{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"ping"}`, "1 -32600 invalid_request"},
		"T13: METHOD is another member":      {`{"jsonrpc":"2.0","id":1,"METHOD":"hang","method":"ping"}`, pong1},
		"T13: METHOD alone is none":          {`{"jsonrpc":"2.0","id":1,"METHOD":"ping"}`, "1 -32600 invalid_request"},
		"T13: ID makes a notification":       {`{"jsonrpc":"2.0","ID":1,"method":"ping"}`, ""},
		"T13: Params are none":               {`{"jsonrpc":"2.0","id":1,"method":"echo","Params":{"a":1},"params":{"b":2}}`, `1 {"b":2}`},
		"a reply to what was never asked":    {`{"jsonrpc":"2.0","id":1,"result":{}}`, ""},
		"an error that was never asked for":  {`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}`, ""},
		"a reply with faults":                {`{"id":[],"result":{},"result":1}`, ""},
		"a request and a reply in one":       {`{"jsonrpc":"2.0","id":1,"method":"ping","result":1}`, "1 -32600 invalid_request"},
		"a request with the reply's nulls":   {`{"jsonrpc":"2.0","id":1,"method":"ping","result":null,"error":null}`, pong1},
		"an empty object":                    {`{}`, invalid},
		"a number with no digit behind .":    {`{"jsonrpc":"2.0","id":1.,"method":"ping"}`, unparsed},
		"a leading zero":                     {`{"jsonrpc":"2.0","id":01,"method":"ping"}`, unparsed},
		"NaN":                                {`{"jsonrpc":"2.0","id":NaN,"method":"ping"}`, unparsed},
		"a comma too many":                   {`{"jsonrpc":"2.0","id":1,"method":"ping",}`, unparsed},
		"single quotes":                      {`{'jsonrpc':'2.0'}`, unparsed},
		"a comment":                          {ping1 + ` // hello`, unparsed},
		"an unfinished escape":               {`{"jsonrpc":"2.0","id":"\u12","method":"ping"}`, unparsed},
		"params passed on as they were sent": {`{"jsonrpc":"2.0","id":1,"method":"echo","params":{"z":1.50,"a":"\u00e9\ud800","z2":1e400}}`, `1 {"z":1.50,"a":"\u00e9\ud800","z2":1e400}`},
		"512 levels":                         {`{"jsonrpc":"2.0","id":1,"method":"ping","params":` + deep(511) + `}`, pong1},
		"513 levels":                         {`{"jsonrpc":"2.0","id":1,"method":"ping","params":` + deep(512) + `}`, "1 " + tooDeep},
		"513 levels before the id":           {`{"jsonrpc":"2.0","params":` + deep(512) + `,"method":"ping","id":1}`, "1 " + tooDeep},
		"513 levels in another member":       {`{"jsonrpc":"2.0","x":` + deep(512) + `,"method":"ping","id":1}`, "1 " + tooDeep},
		"100,000 levels":                     {`{"jsonrpc":"2.0","id":1,"method":"ping","params":` + deep(100_000) + `}`, "1 " + tooDeep},
		"a million open brackets":            {strings.Repeat("[", 1_000_000), unparsed},
		"a million open braces":              {strings.Repeat(`{"a":`, 1_000_000), unparsed},
		"513 levels of arrays":               {deep(513), notObjects(1)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			inBothFramings(t, testOptions(), tc.message, func(replies []string) {
				if tc.want == "" {
					assert.Empty(t, replies)
					return
				}
				if strings.HasPrefix(tc.want, "[") {
					assert.Equal(t, []string{tc.want}, replies)
					return
				}
				assert.Equal(t, []string{tc.want}, brief(t, replies))
			})
		})
	}
}

// notObjects is an array of n replies to what is no object.
func notObjects(n int) string {
	one := string(appendError(nil, nil, invalidRequest("a message must be an object", ""), maxErrorBytes))
	return "[" + strings.Repeat(","+one, n)[1:] + "]"
}

func TestUnknownMethod_IsNamedPlainAndShort(t *testing.T) {
	out := lines(t, testOptions(), request("1", `\u001b[31m\u202e`+strings.Repeat("x", 9000), "{}"))
	require.Len(t, out, 1)
	assert.Contains(t, out[0], `Method not found: \\u001b[31m\\u202exxx`)
	assert.Less(t, len(out[0]), maxErrorMessage+maxErrorText+300)
}

func TestParams_ReachTheMethodRaw(t *testing.T) {
	for _, params := range []string{"null", "[]", "[ ]", "{}", "[1,2]", `"x"`, "7", "true"} {
		t.Run(params, func(t *testing.T) {
			assert.Equal(t, []string{result("1", params)}, lines(t, testOptions(), request("1", "echo", params)))
		})
	}
	o := testOptions()
	o.methods["none"] = func(_ *call, params []byte) (reply, error) { return reply{result: params == nil}, nil }
	assert.Equal(t, []string{result("1", "true")}, lines(t, o, `{"jsonrpc":"2.0","id":1,"method":"none"}`))
}

func TestParseError_SaysWhere(t *testing.T) {
	out := lines(t, testOptions(), `{"jsonrpc":"2.0",]`)
	require.Len(t, out, 1)
	var got struct {
		ID    any
		Error struct {
			Code int
			Data struct {
				Kind, Hint string
				Offset     int
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(out[0]), &got))
	assert.Equal(t, 17, got.Error.Data.Offset)
	assert.NotEmpty(t, got.Error.Data.Hint)
}

func FuzzEnvelope(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"x","params":[1]}`, `{"a":{},"result":null,"error":{"code":1}}`, "{\"\\u0069d\":1}", "{\"\\ud800\":1}",
		`{}`, `{"id":1,"id":2}`, `{"id" :1 , "method": "a"}`, `{"id":1,}`, `{,}`, `{"id"}`, `{"params":{"a":[{}]}}`, `{"`, `{"id":"\"}`, `{"x":1}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) == 0 || b[0] != '{' || tooDeepForOracle(b) {
			return
		}
		e, end, err := scanEnvelope(b, 0, new(nesting))
		valid := err == nil && skipWS(b, end) == len(b)
		require.Equal(t, json.Valid(b), valid)
		if !valid || e.repeated != "" {
			return
		}
		var want map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(b, &want))
		for name, got := range members(e) {
			assert.Equal(t, string(want[name]), string(got), name)
		}
		again := printed(e)
		e2, end, err := scanEnvelope(again, 0, new(nesting))
		require.NoError(t, err, "%s", again)
		require.Len(t, again, end)
		assert.Equal(t, members(e), members(e2), "what was parsed, printed and parsed again")
	})
}

func members(e envelope) map[string][]byte {
	return map[string][]byte{"jsonrpc": e.version, "id": e.id, "method": e.method, "params": e.params, "result": e.result, "error": e.err}
}

// printed is a message of what was parsed of one.
func printed(e envelope) []byte {
	out := []byte("{")
	for name, value := range members(e) {
		if value != nil {
			out = append(append(append(out, `"`+name+`":`...), value...), ',')
		}
	}
	return append(bytes.TrimSuffix(out, []byte(",")), '}')
}

// FuzzConnection feeds junk and then one good call, which must be answered.
func FuzzConnection(f *testing.F) {
	for _, seed := range []string{
		"{", "[", `"`, "Content-Length: 5\r\n\r\nhello", "Content-Length: 0\r\n\r\n", "C\r\n\r\n", "\x00\xff", "[[]]", "[1,{}]", ping1 + "\n" + ping1,
		`[{"jsonrpc":"2.0","id":1,"method":"hang"},{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}`,
		"\xEF\xBB\xBFContent-Length: 2\r\n\r\n{}", "content-length:content-length:", request(`"good"`, "hang", "{}"), "c\nc: \n\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, junk []byte) {
		good := request(`"the good one"`, "ping", "{}")
		if strings.Contains(string(junk), "good") || swallows(junk) {
			return
		}
		o := testOptions()
		o.onEOF = EOFCancel
		o.limits = limits{maxFrame: 1000, maxDepth: 20, maxIDBytes: 30, maxBatch: 10, maxInFlight: 5, maxUnreadBytes: 1 << 20}
		out := talk(t, o, string(junk)+"\n"+good+"\n"+headed(good))
		assert.Contains(t, out, result(`"the good one"`, "{}"))
		checkReplies(t, out)
	})
}

// swallows says whether the junk announces a frame that reaches past it.
func swallows(junk []byte) bool {
	return strings.Contains(strings.ToLower(string(junk)), contentLength) && strings.ContainsAny(string(junk), "0123456789")
}

// checkReplies holds that all output is whole messages.
func checkReplies(t *testing.T, out string) {
	t.Helper()
	if strings.HasPrefix(out, "Content-Length") {
		out = strings.Join(unframe(t, out), "\n")
	}
	for line := range strings.Lines(out) {
		require.True(t, jsontext.Value(line).IsValid(jsontext.AllowInvalidUTF8(true)), line)
	}
}

func tooDeepForOracle(b []byte) bool {
	return strings.Count(string(b), "[")+strings.Count(string(b), "{") > 9000
}
