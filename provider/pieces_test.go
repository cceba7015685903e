package provider_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/schema"
)

// request has a system text, a dialogue and an input, those that are given.
func request(t *testing.T, system string, said []string, input string) *provider.Request {
	t.Helper()
	r := &provider.Request{}
	if system != "" {
		r.Segments = append(r.Segments, provider.Segment{Kind: provider.SegmentSystem, Messages: []provider.Message{provider.Text("system", system)}})
	}
	var h provider.History
	for i, text := range said {
		raw, err := provider.AppendMessage(nil, schema.Message{Role: [...]schema.Role{"user", "assistant"}[i%2], Content: []schema.ContentBlock{schema.TextBlock(text)}})
		require.NoError(t, err)
		h.Append(raw)
	}
	return &provider.Request{Segments: append(r.Segments,
		provider.Segment{Kind: provider.SegmentHistory, History: h},
		provider.Segment{Kind: provider.SegmentInput, Messages: []provider.Message{provider.Text("user", input)}})}
}

func bytesOf(t *testing.T, r *provider.Request) string {
	var b strings.Builder
	for p, err := range r.Pieces() {
		require.NoError(t, err)
		b.Write(p.Bytes)
	}
	return b.String()
}

func TestPieces(t *testing.T) {
	r := request(t, "sys", []string{"q", "a"}, "in")
	assert.Equal(t, `{"role":"system","content":"sys"},{"role":"user","content":"q"},{"role":"assistant","content":"a"},{"role":"user","content":"in"},`, bytesOf(t, r))
	size, hash, err := r.Measure()
	require.NoError(t, err)
	assert.Len(t, bytesOf(t, r), size)
	assert.Len(t, hash, 64)
}

// Shared bytes are those of the two texts, whatever the pieces.
func TestSharedWith(t *testing.T) {
	long := strings.Repeat("x", 5000)
	of := func(system string, said []string, input string) *provider.Request {
		return request(t, system, said, input)
	}
	tests := map[string]struct{ earlier, now *provider.Request }{
		"the next turn goes on where the input was": {of("s", nil, "one"), of("s", []string{"one", "a"}, "two")},
		"a later turn":            {of("s", []string{"q", "a"}, "one"), of("s", []string{"q", "a", "one", long}, "two")},
		"another system text":     {of("s1", []string{"q", "a"}, "in"), of("s2", []string{"q", "a"}, "in")},
		"the same":                {of("s", []string{"q", "a"}, "in"), of("s", []string{"q", "a"}, "in")},
		"a shorter one":           {of("s", []string{"q", "a"}, "in"), of("s", nil, "q")},
		"another dialogue":        {of("s", []string{"q", long + "1"}, "in"), of("s", []string{"q", long + "2"}, "in")},
		"nothing in common":       {of("", nil, "in"), of("s", nil, "in")},
		"more dialogue than then": {of("", []string{"q", "a"}, long), of("", []string{"q", "a", long, "b"}, long)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := tt.now.SharedWith(tt.earlier)
			require.NoError(t, err)
			a, b := bytesOf(t, tt.now), bytesOf(t, tt.earlier)
			want := 0
			for want < min(len(a), len(b)) && a[want] == b[want] {
				want++
			}
			assert.Equal(t, want, got.Bytes)
			assert.Equal(t, want == len(a) || want == len(b), got.Whole)
			at := 0
			for p, err := range tt.now.Pieces() {
				require.NoError(t, err)
				if p.Segment == got.Segment && p.Message == got.Message {
					at += got.Offset
					break
				}
				at += len(p.Bytes)
			}
			if want < len(a) {
				assert.Equal(t, want, at, "the difference is where it says")
			}
		})
	}
}
