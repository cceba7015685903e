package rpc

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func array(messages ...string) string { return "[" + strings.Join(messages, ",") + "]" }

func TestBatch(t *testing.T) {
	many := make([]string, 1001)
	for i := range many {
		many[i] = notification("ping", "{}")
	}
	cases := map[string]struct {
		input string
		want  []string
	}{
		"replies stand in the order of requests": {array(request("1", "slow", "1"), ping2, request("3", "slow", "3")), []string{array(result("1", "1"), result("2", "{}"), result("3", "3"))}},
		"notifications have no place":            {array(notification("ping", "{}"), ping2, notification("nothing", "{}")), []string{array(result("2", "{}"))}},
		"replies have no place":                  {array(`{"jsonrpc":"2.0","id":1,"result":1}`, ping2), []string{array(result("2", "{}"))}},
		"replies alone":                          {array(`{"jsonrpc":"2.0","id":1,"result":1}`), nil},
		"one request":                            {array(ping1), []string{array(result("1", "{}"))}},
		"blanks":                                 {" [ " + ping1 + " , " + ping2 + " ] ", []string{array(result("1", "{}"), result("2", "{}"))}},
		"then a single one":                      {array(notification("ping", "{}")) + "\n" + ping2, []string{result("2", "{}")}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, lines(t, testOptions(), tc.input))
		})
	}
	for name, tc := range map[string]struct{ input, want string }{
		"bad JSON runs nothing":           {array(ping1, `{"jsonrpc":"2.0"`), unparsed},
		"a comma too many runs nothing":   {"[" + ping1 + ",]", unparsed},
		"something behind it":             {array(ping1) + "]", unparsed},
		"blank":                           {"[ ]", invalid},
		"over 1,000 messages run nothing": {array(many...), "null -32600 batch_too_large"},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, []string{tc.want}, brief(t, lines(t, testOptions(), tc.input)))
		})
	}
	t.Run("1,000 messages run", func(t *testing.T) {
		assert.Empty(t, lines(t, testOptions(), array(many[:1000]...)))
	})
}

func TestBatch_FaultsAreAnsweredInPlace(t *testing.T) {
	out := lines(t, testOptions(), array(ping1, `[]`, `{"jsonrpc":"2.0","id":2}`, ping1, `7`, ping3))
	require.Len(t, out, 1)
	var got []string
	for part := range strings.SplitSeq(strings.Trim(out[0], "[]"), `,{"jsonrpc"`) {
		got = append(got, `{"jsonrpc"`+strings.TrimPrefix(part, `{"jsonrpc"`))
	}
	assert.Equal(t, []string{pong1, invalid, "2 -32600 invalid_request", "1 -32600 duplicate_id", invalid, pong3}, brief(t, got))
}

func TestBatch_IDsAreInFlightUntilItIsSent(t *testing.T) {
	c := dial(t, testOptions())
	c.send(array(ping1, request("2", "hang", "{}")), ping1)
	assert.Contains(t, c.recv(), `"kind":"duplicate_id"`)
	c.send(notification("$/cancelRequest", `{"id":2}`))
	assert.Equal(t, array(result("1", "{}"), `{"jsonrpc":"2.0","id":2`+cancelledReply), c.recv())
	c.send(ping1)
	assert.Equal(t, result("1", "{}"), c.recv())
}

func TestBatch_CancelInItsOwnBatch(t *testing.T) {
	out := lines(t, testOptions(), array(request("1", "hang", "{}"), notification("$/cancelRequest", `{"id":1}`)))
	assert.Equal(t, []string{array(`{"jsonrpc":"2.0","id":1` + cancelledReply)}, out)
}
