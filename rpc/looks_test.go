package rpc

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/schema"
)

// A client asks for much that takes time, and reads nothing meanwhile.
func TestT8AnswersThatTakeTimeWaitWhileNobodyReads(t *testing.T) {
	const calls, size, limit = 200, 10_000, 30_000
	for claim, look := range map[string]bool{"lookups": true, "all others": false} {
		t.Run(claim, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var made atomic.Int64
				read := make(chan struct{})
				o := testOptions()
				o.limits.maxUnreadBytes = limit
				o.methods["large"] = func(*call, []byte) (reply, error) {
					return reply{look: look, wait: func() (any, error) {
						<-read
						made.Add(1)
						return jsontext.Value(of(size)), nil
					}}, nil
				}
				c := dial(t, o)
				for i := range calls {
					c.send(request(fmt.Sprint(i), "large", "{}"))
				}
				synctest.Wait()
				close(read) // each was read before one was answered
				synctest.Wait()
				c.w.mu.Lock()
				assert.LessOrEqual(t, c.w.unread, limit+2*size)
				c.w.mu.Unlock()
				if look {
					assert.LessOrEqual(t, made.Load(), int64(limit/size+1+mostLooks))
				}
				seen := map[string]int{}
				for range calls {
					line := c.recv()
					seen[line[:strings.Index(line, `,"result"`)+1]]++
				}
				assert.Len(t, seen, calls, "each has its one answer")
				c.in.Close()
				require.NoError(t, <-c.over)
			})
		})
	}
}

func TestT8WhatWaitsIsAnsweredWhenServingEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		read := make(chan struct{})
		o := testOptions()
		o.limits.maxUnreadBytes = 1000
		o.methods["large"] = func(*call, []byte) (reply, error) {
			return reply{wait: func() (any, error) {
				<-read
				return jsontext.Value(of(10_000)), nil
			}}, nil
		}
		c := dial(t, o)
		for i := range 50 {
			c.send(request(fmt.Sprint(i), "large", "{}"))
		}
		synctest.Wait()
		close(read)
		synctest.Wait()
		c.end()
		synctest.Wait()
		for range 50 {
			require.Contains(t, c.recv(), `"result"`, "what was done is told, not taken back")
		}
		require.NoError(t, <-c.over)
	})
}

func TestU9AReplayIsAnsweredAtOnce(t *testing.T) {
	p := serving(t, Options{}, strings.Repeat("x", 100_000))
	var first, again schema.TurnResult
	p.must("prompt", `{"sessionId":"s","input":"hi","requestKey":"k"}`, &first)
	p.must("prompt", `{"sessionId":"s","input":"hi","requestKey":"k"}`, &again)
	assert.True(t, again.Replayed)
	assert.Equal(t, first.Message, again.Message)
	p.must("prompt", `{"sessionId":"s","input":"next"}`, new(schema.TurnResult))
}
