package rpc

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestT8_WritesWithoutReadingThenACancel(t *testing.T) {
	o := testOptions()
	o.limits.maxInFlight = 1 << 20
	t.Run("memory pipes", func(t *testing.T) { writeThenCancel(t, dial(t, o)) })
	t.Run("system pipes", func(t *testing.T) { writeThenCancel(t, dialFiles(t, o)) })
}

func writeThenCancel(t *testing.T, c *client) {
	cancelled := make(chan struct{})
	c.opts.methods["watch"] = func(c *call, _ []byte) (reply, error) {
		return reply{wait: func() (any, error) { <-c.ctx.Done(); close(cancelled); return nil, c.ctx.Err() }}, nil
	}
	c.send(request(`"w"`, "watch", "{}"))
	const n = 1 << 20 / 80
	var big strings.Builder
	for i := range n {
		fmt.Fprintln(&big, request(fmt.Sprint(i), []string{"slow", "ping"}[i%2], `{"pad":"......................."}`))
	}
	require.GreaterOrEqual(t, big.Len(), 1<<20)
	c.send(strings.TrimSuffix(big.String(), "\n"))
	c.send(notification("$/cancelRequest", `{"id":"w"}`))
	<-cancelled
	replies := map[string]bool{}
	for range n + 1 {
		line := c.recv()
		require.False(t, replies[line])
		replies[line] = true
	}
}

func TestFiles_SlowReaderGetsAllInOrder(t *testing.T) {
	c := dialFiles(t, testOptions())
	const n = 300
	go func() { // ends when all is written
		for i := range n {
			_, err := fmt.Fprintln(c.in, request(fmt.Sprint(i), "echo", `["`+strings.Repeat("x", i*50)+`"]`))
			assert.NoError(t, err)
		}
		c.in.Close()
	}()
	for i := range n {
		if i%10 == 0 {
			for range 1000 {
				runtime.Gosched()
			}
		}
		require.Equal(t, result(fmt.Sprint(i), `["`+strings.Repeat("x", i*50)+`"]`), c.recv())
	}
	assert.NoError(t, <-c.over)
}

func TestUnreadReplies_PauseReadingUntilTheyAreRead(t *testing.T) {
	o := testOptions()
	o.limits.maxUnreadBytes = 1000
	c := dial(t, o)
	written := make(chan int, 1)
	go func() { // ends with the input, which the test reads to its end
		n := 0
		for ; n < 200; n++ {
			if _, err := io.WriteString(c.in, request(fmt.Sprint(n), "echo", `["`+strings.Repeat("x", 4096)+`"]`)+"\n"); err != nil {
				break
			}
		}
		c.in.Close()
		written <- n
	}()
	for i := range 200 {
		require.Contains(t, c.recv(), fmt.Sprintf(`"id":%d,`, i))
	}
	assert.Equal(t, 200, <-written)
	assert.NoError(t, <-c.over)
}
