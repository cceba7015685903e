package rpc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEndOfInput_WaitsForAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := testOptions()
		o.methods["nap"] = func(*call, []byte) (reply, error) {
			return reply{wait: func() (any, error) { time.Sleep(20 * time.Second); return 1, nil }}, nil
		}
		start := time.Now()
		out := lines(t, o, request("1", "nap", "{}")+"\n"+request("2", "ping", "{}"))
		assert.Equal(t, []string{result("2", "{}"), result("1", "1")}, out)
		assert.Equal(t, 20*time.Second, time.Since(start))
	})
}

func TestEndOfInput_CancelsWhatLastsTooLong(t *testing.T) {
	for name, change := range map[string]func(*connOptions){
		"after the drain timeout": func(o *connOptions) { o.drainTimeout = 5 * time.Second },
		"at once when asked to":   func(o *connOptions) { o.onEOF = EOFCancel },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := testOptions()
				change(&o)
				start := time.Now()
				out := lines(t, o, request("1", "hang", "{}"))
				assert.Equal(t, []string{`{"jsonrpc":"2.0","id":1` + cancelledReply}, out)
				if o.onEOF == EOFCancel {
					assert.Zero(t, time.Since(start))
				} else {
					assert.Equal(t, 5*time.Second, time.Since(start))
				}
			})
		})
	}
}

func TestContextEnds_EachPendingIDIsAnsweredInTime(t *testing.T) {
	t.Run("a method that says that it was cancelled", func(t *testing.T) { contextEnds(t, "hang") })
	t.Run("a method that says what cancelled it", func(t *testing.T) { contextEnds(t, "why") })
}

// contextEnds ends the server's context while this method and another wait.
func contextEnds(t *testing.T, method string) {
	synctest.Test(t, func(t *testing.T) {
		signal := errors.New("a signal")
		ctx, cancel := context.WithCancelCause(t.Context())
		o := testOptions()
		deaf := make(chan struct{})
		o.methods["deaf"] = func(*call, []byte) (reply, error) {
			return reply{wait: func() (any, error) { <-deaf; return nil, nil }}, nil
		}
		o.methods["why"] = func(c *call, _ []byte) (reply, error) {
			return reply{wait: func() (any, error) { <-c.ctx.Done(); return nil, fmt.Errorf("asking: %w", context.Cause(c.ctx)) }}, nil
		}
		c := dialContext(t, ctx, o)
		c.send(request("1", method, "{}"), `[`+request("2", "deaf", "{}")+`,`+request("3", "ping", "{}")+`]`, request("4", "ping", "{}"))
		assert.Equal(t, result("4", "{}"), c.recv())
		start := time.Now()
		cancel(signal)
		assert.Equal(t, `{"jsonrpc":"2.0","id":1`+cancelledReply, c.recv())
		assert.Equal(t, `[{"jsonrpc":"2.0","id":2`+cancelledReply+`,`+result("3", "{}")+`]`, c.recv())
		assert.ErrorIs(t, <-c.over, signal)
		assert.LessOrEqual(t, time.Since(start), 1500*time.Millisecond)
		close(deaf) // its late answer goes nowhere
		synctest.Wait()
		_, err := io.WriteString(c.in, request("5", "ping", "{}"))
		assert.Error(t, err, "the input was closed")
	})
}

func TestEnd_CancelsAndFlushes(t *testing.T) {
	c := dial(t, testOptions())
	c.opts.methods["exit"] = func(*call, []byte) (reply, error) { c.end(); c.end(); return reply{}, nil }
	c.send(request("1", "hang", "{}"), notification("exit", "{}"))
	assert.Contains(t, c.recv(), `"id":1,"error":{"code":-32800`)
	assert.NoError(t, <-c.over)
}

func TestBrokenOutput_EndsServing(t *testing.T) {
	c := dial(t, testOptions())
	c.send(request("1", "hang", "{}"))
	broken := errors.New("broken")
	c.w.dst.(*io.PipeWriter).CloseWithError(broken)
	c.send(request("2", "ping", "{}"))
	err := <-c.over
	assert.ErrorIs(t, err, ErrOutput)
}

func TestUnreadOutput_DoesNotKeepTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, testOptions())
		c.send(request("1", "ping", "{}"))
		c.in.Close()
		assert.ErrorIs(t, <-c.over, ErrOutput)
	})
}

func TestReadError_IsReturnedAfterTheAnswers(t *testing.T) {
	broken := errors.New("broken")
	var out bytes.Buffer
	in := io.MultiReader(strings.NewReader(request("1", "slow", "[1]")+"\n"), failingReader{broken})
	c := newConn(in, &out, testOptions())
	assert.ErrorIs(t, c.serve(t.Context()), broken)
	assert.Equal(t, result("1", "[1]")+"\n", out.String())
}

type failingReader struct{ err error }

func (r failingReader) Read([]byte) (int, error) { return 0, r.err }

func TestFiles_ClosedOutputEndsServing(t *testing.T) {
	c := dialFiles(t, testOptions())
	c.send(request("1", "hang", "{}"), ping2)
	c.recv()
	require.NoError(t, c.outR.Close())
	c.send(ping3)
	assert.ErrorIs(t, <-c.over, ErrOutput)
}

// Whoever sees that nobody reads ends ctx: nothing waits for what can't be
// written any more.
func TestContextEnds_NobodyReads_EndsAtOnce(t *testing.T) {
	for name, work := range map[string][]string{"idle": nil, "while a call runs": {request("1", "hang", "{}")}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				c := dialContext(t, ctx, testOptions())
				c.send(append(work, ping2)...)
				c.recv()
				nobody := errors.New("nobody reads")
				start := time.Now()
				require.NoError(t, c.outR.Close())
				cancel(nobody)
				err := <-c.over
				assert.ErrorIs(t, err, nobody)
				assert.Equal(t, work != nil, errors.Is(err, ErrOutput), "an answer was still to be written")
				assert.Zero(t, time.Since(start))
			})
		})
	}
}
