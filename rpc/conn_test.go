package rpc

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

// talk sends all of input at once, ends it, and returns all output.
func talk(t *testing.T, o connOptions, input string) string {
	t.Helper()
	return talkFrom(t, o, strings.NewReader(input))
}

func talkFrom(t *testing.T, o connOptions, input io.Reader) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, newConn(input, &out, o).serve(t.Context()))
	return out.String()
}

// lines is talk's output cut at its newlines; each line must end in one.
func lines(t *testing.T, o connOptions, input string) []string {
	t.Helper()
	return splitLines(t, talk(t, o, input))
}

func splitLines(t *testing.T, out string) []string {
	t.Helper()
	if out == "" {
		return nil
	}
	require.True(t, strings.HasSuffix(out, "\n"), "the last line has its end")
	return strings.Split(strings.TrimSuffix(out, "\n"), "\n")
}

// client is the other end of a connection over pipes.
type client struct {
	*conn
	t    *testing.T
	in   io.WriteCloser
	out  *bufio.Reader
	outR io.Closer
	over chan error // what serve returned
}

func dial(t *testing.T, o connOptions) *client {
	t.Helper()
	return dialContext(t, t.Context(), o)
}

func dialContext(t *testing.T, ctx context.Context, o connOptions) *client {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	return attach(t, ctx, o, inR, outW, inW, outR)
}

// dialFiles is dial over pipes of the system, which hold some bytes and which
// the writer need not leave to its goroutine.
func dialFiles(t *testing.T, o connOptions) *client {
	t.Helper()
	inR, inW, err := os.Pipe()
	require.NoError(t, err)
	outR, outW, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { inR.Close(); outW.Close() })
	return attach(t, t.Context(), o, inR, outW, inW, outR)
}

func attach(t *testing.T, ctx context.Context, o connOptions, inR io.Reader, outW io.Writer, inW io.WriteCloser, outR io.ReadCloser) *client {
	t.Helper()
	c := &client{conn: newConn(inR, outW, o), t: t, in: inW, out: bufio.NewReader(outR), outR: outR, over: make(chan error, 1)}
	go func() { c.over <- c.serve(ctx) }() // the test waits on over, or its end closes the pipes
	t.Cleanup(func() { inW.Close(); outR.Close() })
	return c
}

func (c *client) send(lines ...string) {
	c.t.Helper()
	_, err := io.WriteString(c.in, strings.Join(lines, "\n")+"\n")
	require.NoError(c.t, err)
}

func (c *client) recv() string {
	c.t.Helper()
	line, err := c.out.ReadString('\n')
	require.NoError(c.t, err)
	return strings.TrimSuffix(line, "\n")
}

func request(id, method, params string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":` + params + `}`
}

func notification(method, params string) string {
	return `{"jsonrpc":"2.0","method":"` + method + `","params":` + params + `}`
}

func result(id, value string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":` + value + `}`
}

// Methods for tests.
var (
	echo begin = func(_ *call, params []byte) (reply, error) {
		return reply{result: jsontext.Value(bytes.Clone(params))}, nil
	}
	ping begin = func(*call, []byte) (reply, error) { return reply{result: struct{}{}}, nil }
	// hang waits until it is cancelled.
	hang begin = func(c *call, _ []byte) (reply, error) {
		return reply{wait: func() (any, error) { <-c.ctx.Done(); return nil, c.ctx.Err() }}, nil
	}
	slow begin = func(_ *call, params []byte) (reply, error) {
		params = bytes.Clone(params)
		return reply{wait: func() (any, error) { return jsontext.Value(params), nil }}, nil
	}
)

func testOptions() connOptions {
	return connOptions{methods: map[string]begin{"echo": echo, "ping": ping, "hang": hang, "slow": slow}}
}

const cancelledReply = `,"error":{"code":-32800,"message":"Request cancelled","data":{"kind":"cancelled"}}}`

func TestCancel_EachNameOfIt_OneAnswer(t *testing.T) {
	for name, cancel := range map[string]string{
		"LSP":                   notification("$/cancelRequest", `{"id":"a"}`),
		"ACP":                   notification("$/cancel_request", `{"requestId":"a"}`),
		"MCP with its reason":   notification("notifications/cancelled", `{"requestId":"a","reason":"user"}`),
		"with blanks around":    notification("$/cancelRequest", ` { "id" : "a" } `),
		"twice in one write":    notification("$/cancelRequest", `{"id":"a"}`) + "\n" + notification("$/cancelRequest", `{"id":"a"}`),
		"after a malformed one": notification("$/cancelRequest", `["a"]`) + "\n" + notification("$/cancelRequest", `{"id":"a"}`),
		"after one of another":  notification("$/cancelRequest", `{"id":"b"}`) + "\n" + notification("$/cancelRequest", `{"id":"a"}`),
	} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, testOptions())
			c.send(request(`"a"`, "hang", "{}"), cancel, request("2", "ping", "{}"))
			got := []string{c.recv(), c.recv()}
			assert.ElementsMatch(t, []string{`{"jsonrpc":"2.0","id":"a"` + cancelledReply, result("2", "{}")}, got)
			assert.Zero(t, c.inFlight())
		})
	}
}

func TestCancel_MissesWhatItDoesNotName(t *testing.T) {
	for name, params := range map[string]string{
		"another kind of id": `{"id":"1"}`, "another spelling": `{"id":1.0}`, "no id": `{}`, "an array": `[1]`, "null": `null`,
		"two ids": `{"id":1,"id":1}`, "an object": `{"id":{"id":1}}`, "wrong case": `{"ID":1}`,
	} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, testOptions())
			c.send(request("1", "hang", "{}"), notification("$/cancelRequest", params), request("2", "ping", "{}"))
			assert.Equal(t, result("2", "{}"), c.recv())
			assert.Equal(t, 1, c.inFlight())
		})
	}
}

func TestCancel_AsRequestIsAnswered(t *testing.T) {
	assert.Equal(t, []string{result("1", "{}")}, lines(t, testOptions(), request("1", "$/cancelRequest", `{"id":7}`)))
}

func TestDuplicateID_IsRefusedWhileInFlightOnly(t *testing.T) {
	c := dial(t, testOptions())
	c.send(request("1", "hang", "{}"), request("1", "ping", "{}"))
	assert.Contains(t, c.recv(), `"id":1,"error":{"code":-32600`)
	c.send(request("1.0", "ping", "{}"))
	assert.Equal(t, result("1.0", "{}"), c.recv())
	c.send(notification("$/cancelRequest", `{"id":1}`))
	assert.Contains(t, c.recv(), "-32800")
	c.send(request("1", "ping", "{}"))
	assert.Equal(t, result("1", "{}"), c.recv())
}

func TestID_IsFreeBeforeItsAnswerCanBeRead(t *testing.T) {
	for name, input := range map[string]string{
		"at once": ping1, "later": request("1", "slow", "1"), "in a batch": array(ping1, request("2", "slow", "1")),
	} {
		t.Run(name, func(t *testing.T) {
			c := newConn(strings.NewReader(input), io.Discard, testOptions())
			var taken []int
			c.w.try = func(b []byte) (int, error) { // runs where the answer is sent
				taken = append(taken, c.inFlight())
				return len(b), nil
			}
			require.NoError(t, c.serve(t.Context()))
			assert.Equal(t, []int{0}, taken)
		})
	}
}

func TestOrder_2000InOneWriteBeginAsTheyCame(t *testing.T) {
	const n = 2000
	var begun []string // the reading goroutine's alone until serve returns
	o := testOptions()
	o.limits.maxInFlight = n
	o.methods["mark"] = func(c *call, params []byte) (reply, error) {
		begun = append(begun, string(params))
		return slow(c, params)
	}
	var input, want strings.Builder
	for i := range n {
		fmt.Fprintln(&input, request(fmt.Sprint(i), "mark", fmt.Sprintf("[%d]", i)))
		fmt.Fprintf(&want, "[%d]", i)
	}
	assert.Len(t, lines(t, o, input.String()), n)
	assert.Equal(t, want.String(), strings.Join(begun, ""))
}

func TestReplies_ExactlyOneWhateverHappens(t *testing.T) {
	const n = 3000
	o := testOptions()
	o.limits.maxInFlight = n / 4
	o.methods["jitter"] = func(c *call, _ []byte) (reply, error) {
		return reply{wait: func() (any, error) {
			for range rand.IntN(20) {
				runtime.Gosched()
			}
			return nil, c.ctx.Err()
		}}, nil
	}
	o.methods["panic"] = func(*call, []byte) (reply, error) { panic("no") }
	o.methods["goexit"] = func(*call, []byte) (reply, error) {
		return reply{wait: func() (any, error) { runtime.Goexit(); return nil, nil }}, nil
	}
	methods := []string{"jitter", "slow", "ping", "panic", "goexit", "nothing", "hang"}
	var input strings.Builder
	for i := range n {
		method := methods[i%len(methods)]
		if i%11 == 0 {
			fmt.Fprintln(&input, notification(method, "{}")) // is not answered
			fmt.Fprintln(&input, `{"jsonrpc":"2.0","result":1,"id":5}`)
		}
		fmt.Fprintln(&input, request(fmt.Sprint(i), method, "{}"))
		if method == "hang" {
			fmt.Fprintln(&input, notification("$/cancelRequest", fmt.Sprintf(`{"id":%d}`, i)))
		}
	}
	o.drainTimeout = time.Millisecond // hanging notifications are not worth a wait
	seen := map[string]int{}
	for _, line := range lines(t, o, input.String()) {
		id, _, ok := strings.Cut(strings.TrimPrefix(line, `{"jsonrpc":"2.0","id":`), ",")
		require.True(t, ok, line)
		seen[id]++
	}
	require.Len(t, seen, n)
	for id, times := range seen {
		assert.Equal(t, 1, times, id)
	}
}

func TestPanic_IsInternalToThatRequestAndItsValueIsNotLogged(t *testing.T) {
	core, logs := observer.New(zap.DebugLevel)
	o := testOptions()
	o.logger = zap.New(core)
	var sent sync.WaitGroup
	o.methods["now"] = func(*call, []byte) (reply, error) { panic("s3cret") }
	o.methods["later"] = func(*call, []byte) (reply, error) {
		sent.Add(1)
		return reply{wait: func() (any, error) { panic(errors.New("s3cret")) }, sent: sent.Done}, nil
	}
	o.methods["sent"] = func(*call, []byte) (reply, error) { return reply{result: 1, sent: func() { panic("s3cret") }}, nil }
	out := lines(t, o, request("1", "now", "{}")+"\n"+request("2", "later", "{}")+"\n"+request("3", "sent", "{}")+"\n"+request("4", "ping", "{}"))
	sent.Wait()
	internal := `,"error":{"code":-32603,"message":"Internal error","data":{"kind":"internal","hint":"the log has the cause"}}}`
	assert.ElementsMatch(t, []string{`{"jsonrpc":"2.0","id":1` + internal, `{"jsonrpc":"2.0","id":2` + internal, result("3", "1"), result("4", "{}")}, out)
	panics := logs.FilterMessage("a method panicked").All()
	assert.Len(t, panics, 3)
	for _, entry := range logs.All() {
		assert.NotContains(t, fmt.Sprint(entry.Message, entry.ContextMap()), "s3cret")
	}
	for _, entry := range panics {
		assert.Contains(t, fmt.Sprint(entry.ContextMap()["stack"]), "TestPanic", "the stack says where")
	}
}

func TestSent_IsCalledOnceAfterTheAnswerWasQueued(t *testing.T) {
	var c *conn
	var out bytes.Buffer
	left := -1
	o := testOptions()
	o.methods["wait"] = func(*call, []byte) (reply, error) {
		return reply{wait: func() (any, error) { return nil, nil }, sent: func() { left = c.inFlight() }}, nil
	}
	c = newConn(strings.NewReader(request("1", "wait", "{}")), &out, o)
	require.NoError(t, c.serve(t.Context()))
	assert.Zero(t, left)
	assert.Equal(t, result("1", "null")+"\n", out.String())
}

func TestOverload_IsSaidAtOnceAndUrgentMethodsGetThrough(t *testing.T) {
	o := testOptions()
	o.limits.maxInFlight = 2
	o.urgent = map[string]bool{"ping": true}
	c := dial(t, o)
	c.send(request("1", "hang", "{}"), request("2", "hang", "{}"), request("3", "hang", "{}"), request("4", "ping", "{}"))
	assert.Contains(t, c.recv(), `"id":3,"error":{"code":-32009,"message":"Overloaded: 2 requests run already","data":{"kind":"overloaded"`)
	assert.Equal(t, result("4", "{}"), c.recv())
	c.send(notification("$/cancelRequest", `{"id":1}`))
	assert.Contains(t, c.recv(), `"id":1,`)
}

func TestUnencodableResult_IsAnInternalError(t *testing.T) {
	o := testOptions()
	o.methods["bad"] = func(*call, []byte) (reply, error) { return reply{result: func() {}}, nil }
	out := lines(t, o, request("1", "bad", "{}"))
	require.Len(t, out, 1)
	assert.Contains(t, out[0], `"id":1,"error":{"code":-32603`)
}

// T8: a client that writes before it reads.
func TestCancelAll_CancelsEachCall(t *testing.T) {
	c := dial(t, testOptions())
	c.send(request("1", "hang", "{}"), request("2", "hang", "{}"), request("3", "ping", "{}"))
	c.recv()
	c.cancelAll()
	assert.Contains(t, c.recv(), "-32800")
	assert.Contains(t, c.recv(), "-32800")
}

func TestDescribe_IsAskedForEachError(t *testing.T) {
	o := testOptions()
	o.describe = func(err error) *wireError {
		return &wireError{Code: -1, Message: "<" + err.Error() + "\u2028>", Data: map[string]any{"b": 1, "a": 2}}
	}
	o.methods["bad"] = func(*call, []byte) (reply, error) { return reply{}, errors.New("bad") }
	assert.Equal(t, []string{`{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"<bad\u2028>","data":{"a":2,"b":1}}}`},
		lines(t, o, request("1", "bad", "{}")))
}

func TestNotify_SendsAtItsPlace(t *testing.T) {
	c := dial(t, testOptions())
	c.opts.methods["warn"] = func(*call, []byte) (reply, error) {
		return reply{result: 1}, c.notify("notice", map[string]any{"kind": "x", "a": 1})
	}
	c.send(request("1", "warn", "{}"))
	assert.Equal(t, `{"jsonrpc":"2.0","method":"notice","params":{"a":1,"kind":"x"}}`, c.recv())
	assert.Equal(t, result("1", "1"), c.recv())
	assert.Error(t, c.notify("notice", func() {}))
}
