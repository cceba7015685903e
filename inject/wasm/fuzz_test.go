package wasm

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/inject/bundle"
	"github.com/prism-rpc/prism-rpc/schema"
)

// No file makes the loader panic or wait.
func FuzzModule(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s)
	}
	l := New(Options{Timeout: 200 * time.Millisecond})
	f.Fuzz(func(t *testing.T, b []byte) {
		inj, err := l.Load(t.Context(), bundle.Module{Name: "fuzzed", File: "m.wasm", Read: func() ([]byte, error) { return b, nil }})
		if err != nil {
			t.Fatal(err)
		}
		p, err := inj.(*injector).ready(context.WithoutCancel(t.Context()))
		if errors.Is(err, ErrCompile) && err.Error() == ErrCompile.Error() {
			t.Fatal("the compiler panicked")
		}
		if p == nil {
			return
		}
		start := time.Now()
		_, _ = inj.Apply(t.Context(), inject.Context{Input: []schema.ContentBlock{schema.TextBlock("json")}})
		if took := time.Since(start); took > 20*time.Second {
			t.Fatal("it took", took)
		}
	})
}
