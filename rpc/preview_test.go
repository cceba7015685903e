package rpc

import (
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/session"
)

func TestPreviewsThatAreMadeAtOnceAreBounded(t *testing.T) {
	p := servingWith(t, Options{}, session.Config{})
	require.Nil(t, p.ask("registerInjector", `{"name":"a","when":"every_turn","callback":true}`).Error)
	var ids, asked []string
	for range mostLooks + 2 {
		ids = append(ids, p.send("preview", `{"input":"hi","instructionInjectors":["a"]}`))
	}
	for range mostLooks {
		a := p.recv()
		require.Equal(t, "applyInjector", a.Method)
		asked = append(asked, string(a.ID))
	}
	assert.Empty(t, p.ask("ping", `{}`).Method, "the others wait, and hold up nobody")

	_, err := io.WriteString(p.in, replyTo(asked[0], `"result":null`)+"\n")
	require.NoError(t, err)
	var next []answered
	for range 2 {
		next = append(next, p.recv())
	}
	assert.ElementsMatch(t, []string{"", "applyInjector"}, []string{next[0].Method, next[1].Method}, "one ends, the next begins")

	left := map[string]bool{}
	for _, id := range ids {
		left[id] = true
		_, err := io.WriteString(p.in, `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":`+id+`}}`+"\n")
		require.NoError(t, err)
	}
	for _, a := range next {
		delete(left, string(a.ID))
	}
	for len(left) > 0 {
		if a := p.recv(); left[string(a.ID)] {
			assert.Equal(t, codeCancelled, a.Error.Code, "also one that waits can be cancelled")
			delete(left, string(a.ID))
		}
	}
}
