package session_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
)

// lasting answers every call after d, the greedy session's after its own time.
func lasting(d, greedy time.Duration) provider.Provider {
	return quiet{&model{answer: func(_ context.Context, req *provider.Request, emit func(provider.Event) error) (*provider.Result, error) {
		if req.SessionID == "greedy" {
			time.Sleep(greedy)
		} else {
			time.Sleep(d)
		}
		return &provider.Result{StopReason: schema.StopEndTurn}, emit(provider.Event{Text: "yes"})
	}}}
}

// A crowd is many sessions that ask for a turn each, now and then, and perhaps
// a greedy one whose queue is never empty.
type crowd struct {
	t        testing.TB
	manager  *session.Manager
	sessions int
	rounds   int
	pause    time.Duration // between a session's turns
}

// greed keeps the queue of one session full until turns have been run or stop
// is closed, and tells how many were.
func (c *crowd) greed(turns int, stop <-chan struct{}) (ran int) {
	const ahead = 200
	var waiting []*session.Run
	for asked := 0; asked < turns || len(waiting) > 0; {
		select {
		case <-stop:
			turns = asked
		default:
		}
		if asked < turns && len(waiting) < ahead {
			waiting = append(waiting, c.begin("greedy"))
			asked++
			continue
		}
		_, err := waiting[0].Wait()
		assert.NoError(c.t, err)
		waiting[0].Settle()
		waiting = waiting[1:]
		ran++
	}
	return ran
}

func (c *crowd) begin(id string) *session.Run {
	run, err := c.manager.Begin(c.t.Context(), session.Start{SessionID: id, Input: input("hi"), Queue: true, Create: true})
	require.NoError(c.t, err)
	return run
}

// waits is how long each turn of the many took, shortest first.
func (c *crowd) waits() []time.Duration {
	var mu sync.Mutex
	var all []time.Duration
	var wg sync.WaitGroup
	for i := range c.sessions {
		wg.Go(func() {
			time.Sleep(c.pause * time.Duration(i) / time.Duration(c.sessions))
			for range c.rounds {
				began := time.Now()
				run := c.begin(fmt.Sprint("s", i))
				_, err := run.Wait()
				assert.NoError(c.t, err)
				run.Settle()
				took := time.Since(began)
				mu.Lock()
				all = append(all, took)
				mu.Unlock()
				time.Sleep(c.pause)
			}
		})
	}
	wg.Wait()
	slices.Sort(all)
	return all
}

func p99(sorted []time.Duration) time.Duration { return sorted[len(sorted)*99/100] }

// One session that keeps its queue full takes one place of those that run at
// once, and no more.
func TestAGreedySessionLeavesOthersTheirTurns(t *testing.T) {
	for _, running := range []int{1, 2, 8} {
		t.Run(fmt.Sprint(running, " at once"), func(t *testing.T) {
			measure := func(greedy bool) (p time.Duration, ran int) {
				synctest.Test(t, func(t *testing.T) {
					m := newManager(t, session.Config{Provider: lasting(10*time.Millisecond, 10*time.Millisecond), Limits: session.Limits{MaxRunning: running}})
					// As many as fill half of the places that are left.
					c := &crowd{t: t, manager: m, sessions: 20, rounds: 10, pause: 20 * 2 * 10 * time.Millisecond / time.Duration(running)}
					stop, ended := make(chan struct{}), make(chan int, 1)
					if greedy {
						go func() { ended <- c.greed(1_000_000, stop) }() // read below
						synctest.Wait()
					}
					p = p99(c.waits())
					close(stop)
					if greedy {
						ran = <-ended
					}
				})
				return p, ran
			}
			alone, _ := measure(false)
			beside, ran := measure(true)
			assert.LessOrEqual(t, beside, alone+20*time.Millisecond, "at most the greedy turn that runs, and one more")
			assert.Greater(t, ran, 100, "the greedy one is served too")
		})
	}
}

// BenchmarkFairness is the p99 of the waits of 1,000 sessions that have a turn
// to run all the time, beside one that keeps its queue full through 20,000
// turns, as a ratio to the same without it.
func BenchmarkFairness(b *testing.B) {
	measure := func(greedy bool) time.Duration {
		m, err := session.NewManager(session.Config{Provider: lasting(time.Millisecond, 0)})
		require.NoError(b, err)
		defer m.Close()
		c := &crowd{t: b, manager: m, sessions: 1000, rounds: 30}
		var wg sync.WaitGroup
		if greedy {
			wg.Go(func() { c.greed(20_000, nil) })
		}
		p := p99(c.waits())
		wg.Wait()
		return p
	}
	for b.Loop() {
		alone, beside := measure(false), measure(true)
		b.ReportMetric(float64(alone.Microseconds())/1000, "alone-p99-ms")
		b.ReportMetric(float64(beside.Microseconds())/1000, "beside-p99-ms")
		b.ReportMetric(float64(beside)/float64(alone), "ratio")
	}
}
