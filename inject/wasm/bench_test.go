package wasm_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject/wasm"
)

// BenchmarkCall is what one turn pays for a module that is compiled: an
// instance of its own, the turn in, the contribution out.
func BenchmarkCall(b *testing.B) {
	for name, code := range map[string][]byte{"wat": exampleWAT(b), "go": exampleGo(b)} {
		b.Run(name, func(b *testing.B) {
			inj := loaded(b, newLoader(b, wasm.Options{Timeout: time.Minute}), code)
			turn := says("json for the release")
			_, err := inj.Apply(b.Context(), turn)
			require.NoError(b, err)
			for b.Loop() {
				if _, err := inj.Apply(b.Context(), turn); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkFirst is what the first turn pays: check, compile, call. With a
// cache on disk, the code is there already.
func BenchmarkFirst(b *testing.B) {
	for name, code := range map[string][]byte{"wat": exampleWAT(b), "go": exampleGo(b)} {
		for kept, dir := range map[string]string{"": "", "/cached": b.TempDir()} {
			b.Run(name+kept, func(b *testing.B) {
				for b.Loop() {
					l := wasm.New(wasm.Options{Timeout: time.Minute, CacheDir: dir})
					if _, err := loaded(b, l, code).Apply(b.Context(), says("hi")); err != nil {
						b.Fatal(err)
					}
					_ = l.Close(context.WithoutCancel(b.Context()))
				}
			})
		}
	}
}

// BenchmarkFirstHostile is what the first turn pays for a function that stays
// right within the bounds and is made to compile slowly.
func BenchmarkFirstHostile(b *testing.B) {
	for name, body := range map[string]string{
		"branches":     strings.Repeat(`(if (local.get $at) (then (i32.store (i32.const 0) (local.get $size))))`, 3990),
		"instructions": strings.Repeat(`(i32.store (i32.const 0) (i32.add (i32.load (i32.const 4)) (local.get $size)))`, 19_000),
		"moves":        strings.Repeat(`(memory.fill (i32.const 0) (i32.const 1) (i32.const 1))`, 790),
		"values":       strings.Repeat(`(i32.load (i32.const 4))`, 30_000) + strings.Repeat(`drop `, 30_000),
	} {
		code := assembled(b, module(body+`(i64.const 0)`))
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				l := wasm.New(wasm.Options{Timeout: time.Minute})
				if _, err := loaded(b, l, code).Apply(b.Context(), says("hi")); err != nil {
					b.Fatal(err)
				}
				_ = l.Close(context.WithoutCancel(b.Context()))
			}
		})
	}
}
