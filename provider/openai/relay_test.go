package openai

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/provider/internal/hostile"
)

// Whatever a server sends: no panic, valid text, and either a result after a
// terminal event or an error of a class.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		"", "data: [DONE]\n\n", "data: " + text("a") + "\n\ndata: " + finish("stop") + "\n\n", "data: " + text(`\ud83d`) + "\n\ndata: [DONE]\n\n",
		"data: " + text("\xe2\x82") + "\n\n", "data: {\"choices\":[{\"delta\":{\"content\":5}}]}\n\n", "data: {\"error\":{\"error\":[{\"code\":\"429\"}]}}\n\n",
		"event: error\ndata: \xff\n\n", "data: {\"usage\":{\"prompt_tokens\":1e400}}\n\n", "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":-1}]}}]}\n\n",
		"data: {\"choices\":[{\"finish_reason\":\"abort\"}]}\n\n", "data: {\"choices\":[{\"index\":1e9,\"delta\":{\"reasoning\":{}}}]}\n\n", "data: null\n\ndata: 1\n\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		p, err := New(Options{Transport: hostile.Canned(in), MaxRetries: -1})
		require.NoError(t, err)
		res, err := p.Stream(t.Context(), hostile.Asking("hi"), func(e provider.Event) error {
			assert.True(t, utf8.ValidString(e.Text))
			assert.NotEmpty(t, e.Text)
			return nil
		})
		if err != nil {
			var failed *provider.Error
			require.True(t, errors.As(err, &failed))
			assert.True(t, failed.Class.Valid())
			assert.Nil(t, res)
			return
		}
		assert.Condition(t, func() bool {
			return strings.Contains(in, "[DONE]") || strings.Contains(in, "finish_reason") || strings.Contains(in, `\u`)
		})
	})
}

// 2,000 deltas of 20 bytes.
func BenchmarkRelay(b *testing.B) {
	stream := strings.Repeat("data: "+text("twenty bytes of text")+"\n\n", 2000) + "data: " + finish("stop") + "\n\ndata: [DONE]\n\n"
	hostile.BenchmarkRelay(b, stream, open)
	b.Run("loopback", func(b *testing.B) { hostile.BenchmarkLoopback(b, stream, open) })
}
