package rpc

import (
	"context"
	"io"
	"testing"

	conversation "github.com/prism-rpc/prism-rpc/internal/talk"
)

func TestT14_SpecificationAsConversation(t *testing.T) {
	conversation.Play(t, "../testdata/talk/spec/examples.talk", func(*testing.T, map[string][]byte) conversation.Serve {
		return func(ctx context.Context, r io.Reader, w io.Writer) error {
			return newConn(r, w, connOptions{methods: specMethods()}).serve(ctx)
		}
	})
}
