package hostile

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/provider/internal/upstream"
)

// BenchmarkRelay reads a stream of 2,000 deltas; the floor reads the same bytes
// and finds the lines.
func BenchmarkRelay(b *testing.B, stream string, open func(upstream.Options) (provider.Provider, error)) {
	b.Run("floor", func(b *testing.B) {
		for b.Loop() {
			n := 0
			for line := range strings.Lines(stream) {
				n += len(line)
			}
			if n != len(stream) {
				b.Fatal(n)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/2000, "ns/delta")
	})
	b.Run("adapter", func(b *testing.B) {
		p, err := open(upstream.Options{Transport: Canned(stream)})
		require.NoError(b, err)
		req := Asking("hi")
		for b.Loop() {
			if _, err := p.Stream(b.Context(), req, func(provider.Event) error { return nil }); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/2000, "ns/delta")
	})
}

// BenchmarkLoopback relays a stream of a real connection, an event a write. The
// floor is a bare client that reads its lines. It tells the time for a delta,
// and how long after it was written the first one is passed on, at the median.
func BenchmarkLoopback(b *testing.B, stream string, open func(upstream.Options) (provider.Provider, error)) {
	var written atomic.Int64 // when the first event was
	seen := make(chan struct{}, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		time.Sleep(time.Millisecond) // what comes then finds its reader waiting
		for i, e := range strings.SplitAfter(stream, "\n\n") {
			if i == 0 {
				written.Store(time.Now().UnixNano())
			}
			_, _ = io.WriteString(w, e)
			w.(http.Flusher).Flush()
			if i == 0 {
				<-seen // or its reader competes with those of the others
			}
		}
	}))
	defer server.Close()
	transport := upstream.NewTransport(nil)
	defer transport.CloseIdleConnections()
	p, err := open(upstream.Options{BaseURL: server.URL, Transport: transport})
	require.NoError(b, err)
	for name, relay := range map[string]func(first func()) error{
		"floor":   func(first func()) error { return bare(transport, server.URL, first) },
		"adapter": func(first func()) error { return relayed(b, p, first) },
	} {
		b.Run(name, func(b *testing.B) {
			var firsts []time.Duration
			for b.Loop() {
				if err := relay(func() {
					firsts = append(firsts, time.Duration(time.Now().UnixNano()-written.Load()))
					seen <- struct{}{}
				}); err != nil {
					b.Fatal(err)
				}
			}
			slices.Sort(firsts)
			b.ReportMetric(float64(firsts[len(firsts)/2].Microseconds()), "µs-to-first-p50")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/2000, "ns/delta")
		})
	}
}

func relayed(b *testing.B, p provider.Provider, first func()) error {
	begun := false
	_, err := p.Stream(b.Context(), Asking("hi"), func(provider.Event) error {
		if !begun {
			first()
		}
		begun = true
		return nil
	})
	return err
}

func bare(transport http.RoundTripper, url string, first func()) error {
	c := http.Client{Transport: transport}
	res, err := c.Post(url, "application/json", strings.NewReader("{}"))
	if err != nil {
		return err
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for n := 0; lines.Scan(); n++ {
		if n == 0 {
			first()
		}
	}
	return lines.Err()
}
