package wasm_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/inject/bundle"
	"github.com/prism-rpc/prism-rpc/inject/wasm"
	"github.com/prism-rpc/prism-rpc/internal/wat"
	"github.com/prism-rpc/prism-rpc/schema"
)

// loaded is the injector of a module that is in memory.
func loaded(t testing.TB, l *wasm.Loader, code []byte) inject.Injector {
	t.Helper()
	inj, err := l.Load(t.Context(), bundle.Module{Name: "pinned", File: "m.wasm", Read: func() ([]byte, error) { return code, nil }})
	require.NoError(t, err)
	return inj
}

func newLoader(t testing.TB, o wasm.Options) *wasm.Loader {
	l := wasm.New(o)
	t.Cleanup(func() { _ = l.Close(context.WithoutCancel(t.Context())) })
	return l
}

func assembled(t testing.TB, text string) []byte {
	t.Helper()
	code, err := wat.Assemble(text)
	require.NoError(t, err)
	return code
}

// exampleWAT is the module that examples/module-wat holds as text.
func exampleWAT(t testing.TB) []byte {
	text, err := os.ReadFile("../../examples/module-wat/json.wat")
	require.NoError(t, err)
	return assembled(t, string(text))
}

// exampleGo is the module that the go tool makes of examples/module-go.
func exampleGo(t testing.TB) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "release.wasm")
	build := exec.CommandContext(t.Context(), "go", "build", "-buildmode=c-shared", "-o", out, ".")
	build.Dir = "../../examples/module-go"
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=")
	printed, err := build.CombinedOutput()
	require.NoError(t, err, "%s", printed)
	code, err := os.ReadFile(out)
	require.NoError(t, err)
	return code
}

func says(text string) inject.Context {
	return inject.Context{SessionID: "s", RunID: "r", Turn: 1, Step: 1, Input: []schema.ContentBlock{schema.TextBlock(text)}}
}

func TestP20_ModuleWrittenByHand(t *testing.T) {
	inj := loaded(t, newLoader(t, wasm.Options{}), exampleWAT(t))
	assert.Equal(t, "pinned", inj.Name())

	c, err := inj.Apply(t.Context(), says("give me json"))
	require.NoError(t, err)
	assert.Equal(t, inject.Contribution{Instructions: "Answer in JSON."}, c)

	c, err = inj.Apply(t.Context(), says("give me text"))
	require.NoError(t, err)
	assert.Equal(t, inject.Contribution{}, c, "not now")

	c, err = inj.Apply(t.Context(), says(strings.Repeat("x", 1<<20)+" json"))
	require.NoError(t, err)
	assert.Equal(t, "Answer in JSON.", c.Instructions, "memory that the module grew")
}

func TestP20_ModuleWrittenInGo(t *testing.T) {
	inj := loaded(t, newLoader(t, wasm.Options{Timeout: 10 * time.Minute}), exampleGo(t))
	turn := says("Prepare the release.")
	turn.Metadata = []byte(`{"branch":"v2"}`)
	c, err := inj.Apply(t.Context(), turn)
	require.NoError(t, err)
	assert.Equal(t, "Write the changelog before you tag a release.", c.Instructions)
	require.Len(t, c.ContextBlocks, 1)
	assert.Equal(t, "Branch:\nv2", inject.Render(c.ContextBlocks[0]))

	c, err = inj.Apply(t.Context(), says("Prepare lunch."))
	require.NoError(t, err)
	assert.Equal(t, inject.Contribution{}, c, "not now")
}

func TestP20_TurnsAtOnceShareNothing(t *testing.T) {
	l := newLoader(t, wasm.Options{Timeout: time.Minute})
	// It counts its calls in its memory, and says so once it sees a second one.
	inj := loaded(t, l, assembled(t, `(module (memory (export "memory") 1)
		(global $calls (mut i32) (i32.const 0))
		(data (i32.const 16) "{\22instructions\22:\22first\22}")
		(func (export "prism_alloc") (param i32) (result i32) (i32.const 1024))
		(func (export "apply") (param i32 i32) (result i64)
			(global.set $calls (i32.add (global.get $calls) (i32.const 1)))
			(i32.store (i32.const 512) (i32.add (i32.load (i32.const 512)) (i32.const 1)))
			(if (i32.ne (i32.add (global.get $calls) (i32.load (i32.const 512))) (i32.const 2)) (then unreachable))
			(i64.or (i64.shl (i64.const 16) (i64.const 32)) (i64.const 24))))`))
	var turns sync.WaitGroup
	for range 50 {
		turns.Go(func() {
			c, err := inj.Apply(t.Context(), says("hi"))
			assert.NoError(t, err)
			assert.Equal(t, "first", c.Instructions)
		})
	}
	turns.Wait()
}
