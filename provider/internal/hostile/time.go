package hostile

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/provider/internal/upstream"
)

func (wire *Wire) slowListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := wire.serve(t, upstream.Options{IdleTimeout: time.Second}, wire.whole("a", "b"))
		_, err := p.Stream(t.Context(), Asking("hi"), func(provider.Event) error {
			time.Sleep(time.Minute) // of fake time
			return nil
		})
		assert.NoError(t, err)
	})
}

func (wire *Wire) timeouts(t *testing.T) {
	for name, row := range map[string]struct {
		opts  upstream.Options
		serve http.HandlerFunc
		want  time.Duration
	}{
		"idle":                  {upstream.Options{IdleTimeout: 5 * time.Second}, Stall(Stream(wire.Text("a"))), 5 * time.Second},
		"idle by default":       {upstream.Options{}, Stall(Stream()), 60 * time.Second},
		"total":                 {upstream.Options{TotalTimeout: 100 * time.Second}, Drip(": x\n\n"), 100 * time.Second},
		"total, within a retry": {upstream.Options{TotalTimeout: 10 * time.Second}, Status(429, "", "", "Retry-After", "20"), 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				_, _, err := Ask(t.Context(), wire.serve(t, row.opts, row.serve), Asking("hi"))
				assert.Equal(t, provider.ClassTimeout, Failure(err).Class)
				assert.Equal(t, row.want, time.Since(start))
			})
		})
	}
}

// U1: a cancel ends a call in each of its phases, at once.
func (wire *Wire) cancels(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"before the header":  Stall(func(http.ResponseWriter, *http.Request) {}),
		"before the text":    Stall(Stream()),
		"within the text":    Stall(Stream(wire.Text("a"))),
		"in an error's body": Stall(Status(500, "text/plain", "x")),
		"in a retry's wait":  Status(429, "text/plain", "", "Retry-After", "50"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(3*time.Second, cancel)
				start := time.Now()
				_, _, err := Ask(ctx, wire.serve(t, upstream.Options{}, h), Asking("hi"))
				assert.ErrorIs(t, err, context.Canceled)
				assert.NotEmpty(t, Failure(err).Class)
				assert.Equal(t, 3*time.Second, time.Since(start))
			})
		})
	}
}
