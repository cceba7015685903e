package hostile

import (
	"strings"
	"testing"

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
