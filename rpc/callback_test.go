package rpc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// asking has a method that asks the client, with a deadline of ten seconds, and
// answers with what came of it.
func asking(c *client) {
	c.opts.methods["ask"] = func(call *call, params []byte) (reply, error) {
		params = bytes.Clone(params)
		return reply{wait: func() (any, error) {
			ctx, cancel := context.WithTimeout(call.ctx, 10*time.Second)
			defer cancel()
			got, err := c.conn.call(ctx, "question", jsontext.Value(params))
			if err != nil {
				return fmt.Sprintf("%T %v", err, err), nil
			}
			return got, nil
		}}, nil
	}
}

// waiting counts the calls for which a reply may still come.
func waiting(c *client) int {
	c.callbacks.mu.Lock()
	defer c.callbacks.mu.Unlock()
	return len(c.callbacks.waiting)
}

const question1 = `{"jsonrpc":"2.0","id":"server-1","method":"question","params":{"q":"<&>\u2028"}}`

func replyTo(id, rest string) string { return `{"jsonrpc":"2.0","id":` + id + `,` + rest + `}` }

func TestCall_TakesTheClientsReply(t *testing.T) {
	bad := `"*errors.errorString the client's reply is malformed"`
	for name, tc := range map[string]struct{ reply, want string }{
		"a result":                     {replyTo(`"server-1"`, `"result":{"b":1.50,"a":"\u0061<"}`), `{"b":1.50,"a":"\u0061<"}`},
		"null":                         {replyTo(`"server-1"`, `"result":null`), `null`},
		"an id in another spelling":    {replyTo(`"\u0073erver-1"`, `"result":1`), `1`},
		"a null error beside it":       {replyTo(`"server-1"`, `"result":1,"error":null`), `1`},
		"an error":                     {replyTo(`"server-1"`, `"error":{"code":-7,"message":"no","data":{"a":1}}`), `"*rpc.peerError the client answered with error -7"`},
		"an error that is no object":   {replyTo(`"server-1"`, `"error":"no"`), bad},
		"an error without a code":      {replyTo(`"server-1"`, `"error":{"message":"no"}`), bad},
		"an error with a fraction":     {replyTo(`"server-1"`, `"error":{"code":1.5,"message":"no"}`), bad},
		"a null error alone":           {replyTo(`"server-1"`, `"error":null`), bad},
		"both":                         {replyTo(`"server-1"`, `"result":1,"error":{"code":1,"message":"no"}`), bad},
		"two results":                  {replyTo(`"server-1"`, `"result":1,"result":2`), bad},
		"another version":              {`{"jsonrpc":"1.0","id":"server-1","result":1}`, bad},
		"too deep":                     {replyTo(`"server-1"`, `"result":`+strings.Repeat("[", 600)+strings.Repeat("]", 600)), bad},
		"in a batch":                   {array(replyTo(`7`, `"result":0`), replyTo(`"server-1"`, `"result":1`), replyTo(`"server-1"`, `"result":2`)), `1`},
		"in a batch with notification": {array(notification("nothing", "{}"), replyTo(`"server-1"`, `"result":1`)), `1`},
		"after ones of foreign ids":    {replyTo(`1`, `"result":0`) + "\n" + replyTo(`"server-2"`, `"result":0`) + "\n" + replyTo(`null`, `"result":0`) + "\n" + replyTo(`"server-1"`, `"result":1`), `1`},
		"twice":                        {replyTo(`"server-1"`, `"result":1`) + "\n" + replyTo(`"server-1"`, `"result":2`), `1`},
	} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, testOptions())
			asking(c)
			c.send(request("1", "ask", `{"q":"<&>\u2028"}`))
			assert.Equal(t, question1, c.recv())
			c.send(tc.reply)
			assert.Equal(t, result("1", tc.want), c.recv())
			c.send(ping2)
			assert.Equal(t, result("2", "{}"), c.recv(), "nothing else was answered")
			assert.Zero(t, waiting(c))
		})
	}
}

func TestCall_NeverAnswered_TellsTheClientAndForgets(t *testing.T) {
	for name, tc := range map[string]struct {
		end  func(c *client)
		want string
	}{
		"its deadline passes": {func(*client) { time.Sleep(10 * time.Second) }, `"context.deadlineExceededError context deadline exceeded"`},
		"its request is cancelled": {func(c *client) { c.send(notification("$/cancelRequest", `{"id":1}`)) },
			`"*errors.errorString context canceled"`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := dial(t, testOptions())
				asking(c)
				c.send(request("1", "ask", `{}`))
				c.recv()
				tc.end(c)
				assert.Equal(t, `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"server-1"}}`, c.recv())
				assert.Equal(t, result("1", tc.want), c.recv())
				assert.Zero(t, waiting(c))
				c.send(replyTo(`"server-1"`, `"result":"late"`), request("2", "ask", "{}"))
				assert.Contains(t, c.recv(), `"id":"server-2"`)
				c.send(replyTo(`"server-2"`, `"result":2`))
				assert.Equal(t, result("2", "2"), c.recv())
				c.in.Close()
				assert.NoError(t, <-c.over)
			})
		})
	}
}

func TestCall_TheConnectionsEndFailsAll(t *testing.T) {
	for name, tc := range map[string]struct {
		end  func(c *client)
		want string
	}{
		"the input ends":           {func(c *client) { c.in.Close() }, `"*errors.errorString the connection is ending"`},
		"the server is told to go": {func(c *client) { c.send(notification("exit", "{}")) }, `"*errors.errorString the connection is ending"`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := dial(t, testOptions())
				asking(c)
				c.opts.methods["exit"] = func(*call, []byte) (reply, error) { c.end(); return reply{}, nil }
				c.send(request("1", "ask", `{}`), request("2", "ask", `{}`))
				c.recv()
				c.recv()
				start := time.Now()
				tc.end(c)
				got := []string{c.recv(), c.recv()}
				assert.ElementsMatch(t, []string{result("1", tc.want), result("2", tc.want)}, got)
				assert.NoError(t, <-c.over)
				assert.Zero(t, time.Since(start))
				_, err := c.conn.call(t.Context(), "question", 1)
				assert.ErrorIs(t, err, errClosing)
			})
		})
	}
}

func TestCall_AsManyAsMayWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := testOptions()
		o.limits.maxCallbacks = 2
		c := dial(t, o)
		asking(c)
		c.send(request("1", "ask", `{"n":1}`), request("2", "ask", `{"n":2}`))
		c.recv()
		c.recv()
		c.send(request("3", "ask", `{"n":3}`), request("4", "ping", "{}"))
		assert.Equal(t, result("4", "{}"), c.recv(), "the third one is not sent yet")
		c.send(replyTo(`"server-1"`, `"result":1`))
		got := []string{c.recv(), c.recv()}
		assert.Contains(t, strings.Join(got, "\n"), `"id":"server-3"`)
		time.Sleep(10 * time.Second)
		for range 4 {
			c.recv() // the cancellations, and what the calls are answered with
		}
		assert.Zero(t, waiting(c))
		c.in.Close()
		assert.NoError(t, <-c.over)
	})
}

func TestCall_RefusesWhatIsTooLargeOrHasNoEncoding(t *testing.T) {
	o := testOptions()
	o.limits.maxMessage = 4096
	c := dial(t, o)
	c.send(ping1)
	c.recv()
	_, err := c.conn.call(t.Context(), "question", strings.Repeat("x", 4096-60))
	assert.ErrorIs(t, err, errTooLarge)
	_, err = c.conn.call(t.Context(), "question", func() {})
	assert.ErrorAs(t, err, new(*encodingError))
	assert.Zero(t, waiting(c))
}

// Many questions at once, some answered out of order, some never.
func TestCall_ManyAtOnce(t *testing.T) {
	const n = 200
	synctest.Test(t, func(t *testing.T) {
		o := testOptions()
		o.limits.maxCallbacks = n
		c := dial(t, o)
		c.send(ping1)
		c.recv()
		var done sync.WaitGroup
		var mu sync.Mutex
		late := 0
		for i := range n {
			done.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				got, err := c.conn.call(ctx, "question", i)
				if errors.Is(err, context.DeadlineExceeded) {
					mu.Lock()
					defer mu.Unlock()
					late++
					return
				}
				assert.NoError(t, err)
				assert.Equal(t, fmt.Sprint(i), string(got))
			})
		}
		var replies []string
		for range n {
			var id, q string
			_, err := fmt.Sscanf(strings.NewReplacer(`{"jsonrpc":"2.0","id":`, "", `,"method":"question","params":`, " ", "}", "").Replace(c.recv()), "%s %s", &id, &q)
			require.NoError(t, err)
			if len(replies) < n/2 {
				replies = append([]string{replyTo(id, `"result":`+q)}, replies...)
			}
		}
		c.send(replies...)
		for range n / 2 {
			assert.Contains(t, c.recv(), "$/cancelRequest")
		}
		done.Wait()
		assert.Equal(t, n/2, late)
		assert.Zero(t, waiting(c))
		assert.Len(t, c.callbacks.slots, n)
		c.in.Close()
		assert.NoError(t, <-c.over)
	})
}

// The library keeps a call that was never answered; how many is bounded.
func TestCall_NeverAnswered_TheLibraryKeepsABoundedNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := testOptions()
		o.limits.maxCallbacks = 4
		c := dial(t, o)
		c.send(ping1)
		c.recv()
		for range 20 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			go func() { c.recv(); c.recv() }() // the question, and that it is cancelled
			_, err := c.conn.call(ctx, "question", strings.Repeat("x", 1000))
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			cancel()
			synctest.Wait()
		}
		assert.LessOrEqual(t, reflect.ValueOf(c.conn.rpc).Elem().FieldByName("pending").Len(), 4)
		c.in.Close()
		assert.NoError(t, <-c.over)
	})
}
