package hostile

import (
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/provider/internal/upstream"
)

func (wire *Wire) retries(t *testing.T) {
	good := wire.whole("ok")
	for name, row := range map[string]struct {
		opts     upstream.Options
		serve    http.HandlerFunc
		class    provider.Class // empty: it ends well
		requests int
		min, max time.Duration
	}{
		"429 once":                            {upstream.Options{}, InTurn(Status(429, "", ""), good), "", 2, 375 * time.Millisecond, 625 * time.Millisecond},
		"each wait is twice the last":         {upstream.Options{}, InTurn(Status(500, "", ""), Status(503, "", ""), Status(529, "", ""), good), "", 4, 2625 * time.Millisecond, 4375 * time.Millisecond},
		"three retries and no more":           {upstream.Options{}, Status(500, "", ""), provider.ClassOverloaded, 4, 2625 * time.Millisecond, 4375 * time.Millisecond},
		"none when none are wanted":           {upstream.Options{MaxRetries: -1}, Status(500, "", ""), provider.ClassOverloaded, 1, 0, 0},
		"Retry-After is obeyed":               {upstream.Options{}, InTurn(Status(429, "", "", "Retry-After", "60"), good), "", 2, time.Minute, time.Minute},
		"Retry-After in milliseconds":         {upstream.Options{}, InTurn(Status(429, "", "", "Retry-After-Ms", "1500", "Retry-After", "2"), good), "", 2, 1500 * time.Millisecond, 1500 * time.Millisecond},
		"Retry-After as a date":               {upstream.Options{}, InTurn(Status(503, "", "", "Retry-After", "Sat, 01 Jan 2000 00:00:30 GMT"), good), "", 2, 30 * time.Second, 30 * time.Second},
		"Retry-After past a minute":           {upstream.Options{}, Status(429, "", "", "Retry-After", "14400"), provider.ClassRateLimit, 1, 0, 0},
		"Retry-After as a date past a minute": {upstream.Options{}, Status(503, "", "", "Retry-After", "Sat, 01 Jan 2000 00:02:00 GMT"), provider.ClassOverloaded, 1, 0, 0},
		"Retry-After years ahead":             {upstream.Options{}, Status(429, "", "", "Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT"), provider.ClassRateLimit, 1, 0, 0},
		"Retry-After of years of seconds":     {upstream.Options{}, Status(429, "", "", "Retry-After", "3000000000"), provider.ClassRateLimit, 1, 0, 0},
		"Retry-After of years of ms":          {upstream.Options{}, Status(503, "", "", "Retry-After-Ms", "99999999999"), provider.ClassOverloaded, 1, 0, 0},
		"a Retry-After that is no time":       {upstream.Options{}, InTurn(Status(429, "", "", "Retry-After", "soon"), good), "", 2, 375 * time.Millisecond, 625 * time.Millisecond},
		"a Retry-After that is no number":     {upstream.Options{}, InTurn(Status(429, "", "", "Retry-After", "NaN"), good), "", 2, 375 * time.Millisecond, 625 * time.Millisecond},
		"an infinite Retry-After":             {upstream.Options{}, InTurn(Status(429, "", "", "Retry-After", "Inf"), good), "", 2, 375 * time.Millisecond, 625 * time.Millisecond},
		"no Retry-After at all":               {upstream.Options{}, InTurn(Status(429, "", "", "Retry-After", "0"), good), "", 2, 375 * time.Millisecond, 625 * time.Millisecond},
		"a negative Retry-After":              {upstream.Options{}, InTurn(Status(429, "", "", "Retry-After", "-5"), good), "", 2, 375 * time.Millisecond, 625 * time.Millisecond},
		"an absurd Retry-After":               {upstream.Options{}, InTurn(Status(429, "", "", "Retry-After", "1e30"), good), "", 2, 375 * time.Millisecond, 625 * time.Millisecond},
		"a Retry-After of a past date":        {upstream.Options{}, InTurn(Status(429, "", "", "Retry-After", "Fri, 31 Dec 1999 00:00:00 GMT"), good), "", 2, 375 * time.Millisecond, 625 * time.Millisecond},
		"a gateway's timeout":                 {upstream.Options{}, InTurn(Status(504, "", ""), good), "", 2, 375 * time.Millisecond, 625 * time.Millisecond},
		"an overload told in the stream":      {upstream.Options{}, InTurn(Stream(wire.Error("overloaded_error", "x")), good), "", 2, 375 * time.Millisecond, 625 * time.Millisecond},
		"a connection that brings nothing":    {upstream.Options{}, InTurn(Abort(func(http.ResponseWriter, *http.Request) {}), good), "", 2, 375 * time.Millisecond, 625 * time.Millisecond},
		"not for a bad key":                   {upstream.Options{}, Status(401, "", ""), provider.ClassAuth, 1, 0, 0},
		"not for a used-up quota":             {upstream.Options{}, Status(429, "", `{"error":{"type":"insufficient_quota"}}`), provider.ClassQuota, 1, 0, 0},
		"not for a bad request":               {upstream.Options{}, Status(400, "", ""), provider.ClassBadRequest, 1, 0, 0},
		"not once text came":                  {upstream.Options{}, wire.partial("par", wire.Error("overloaded_error", "x")), provider.ClassOverloaded, 1, 0, 0},
		"not once reasoning came":             {upstream.Options{}, Abort(Stream(wire.Thinking("hm"))), provider.ClassInterrupted, 1, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				requests := 0
				p := wire.serve(t, row.opts, func(w http.ResponseWriter, r *http.Request) {
					requests++
					body, err := io.ReadAll(r.Body)
					assert.NoError(t, err)
					assert.Contains(t, string(body), `"hi"`)
					row.serve(w, r)
				})
				start := time.Now()
				got, _, err := Ask(t.Context(), p, Asking("hi"))
				took := time.Since(start)
				assert.Equal(t, row.class, Failure(err).Class)
				if row.class == "" {
					require.NoError(t, err)
					assert.Equal(t, "ok", got.Text)
				}
				assert.Equal(t, row.requests, requests)
				assert.GreaterOrEqual(t, took, row.min)
				assert.LessOrEqual(t, took, row.max)
			})
		})
	}
}

func (wire *Wire) longWait(t *testing.T) {
	for asked, want := range map[string]time.Duration{
		"61":                            61 * time.Second,
		"14400":                         4 * time.Hour,
		"3000000000":                    24 * time.Hour,
		"Sat, 01 Jan 2000 04:00:00 GMT": 4 * time.Hour,
		"Fri, 31 Dec 9999 23:59:59 GMT": 24 * time.Hour,
	} {
		synctest.Test(t, func(t *testing.T) {
			_, _, err := Ask(t.Context(), wire.serve(t, upstream.Options{}, Status(429, "", "", "Retry-After", asked)), Asking("hi"))
			assert.Equal(t, want, Failure(err).RetryAfter, asked)
			assert.Zero(t, time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)), "told at once")
		})
	}
}

func (wire *Wire) toldRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := wire.serve(t, upstream.Options{}, InTurn(Status(503, "", ""), Status(429, "", "", "Retry-After", "7"), wire.whole("ok")))
		var events []provider.Event
		var at []time.Duration
		start := time.Now()
		_, err := p.Stream(t.Context(), Asking("hi"), func(e provider.Event) error {
			events, at = append(events, e), append(at, time.Since(start))
			return nil
		})
		require.NoError(t, err)
		require.Len(t, events, 3)
		first := events[0].Retry.Delay
		assert.InDelta(t, 500*time.Millisecond, first, float64(125*time.Millisecond))
		assert.Equal(t, []provider.Event{
			{Kind: provider.EventRetry, Retry: provider.Retry{Attempt: 1, Delay: first, Class: provider.ClassOverloaded}},
			{Kind: provider.EventRetry, Retry: provider.Retry{Attempt: 2, Delay: 7 * time.Second, Class: provider.ClassRateLimit}},
			{Kind: provider.EventText, Text: "ok"},
		}, events)
		assert.Equal(t, []time.Duration{0, first, first + 7*time.Second}, at)
	})
}

func (wire *Wire) endedRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		enough := errors.New("enough")
		start := time.Now()
		_, err := wire.serve(t, upstream.Options{}, Status(503, "", "")).Stream(t.Context(), Asking("hi"), func(provider.Event) error { return enough })
		assert.Equal(t, enough, err)
		assert.Zero(t, time.Since(start))
	})
}

func (wire *Wire) listenersError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		enough := errors.New("enough")
		_, err := wire.serve(t, upstream.Options{}, wire.whole("a")).Stream(t.Context(), Asking("hi"),
			func(provider.Event) error { return enough })
		assert.Equal(t, enough, err)
	})
}
