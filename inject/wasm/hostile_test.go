package wasm_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/inject/bundle"
	"github.com/prism-rpc/prism-rpc/inject/wasm"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
)

// module is a module whose apply is body; further fields may follow it.
func module(body string, fields ...string) string {
	return `(module (memory (export "memory") 1)
		(func (export "prism_alloc") (param i32) (result i32) (i32.const 1024))
		(func (export "apply") (param $at i32) (param $size i32) (result i64) ` + body + `)` + strings.Join(fields, "\n") + `)`
}

// answering is a module that gives text.
func answering(text string) string {
	return module(fmt.Sprintf(`(i64.or (i64.shl (i64.const 16) (i64.const 32)) (i64.const %d))`, len(text)),
		fmt.Sprintf(`(data (i32.const 16) "%s")`, quoted(text)))
}

func quoted(text string) string {
	var out strings.Builder
	for i := range len(text) {
		fmt.Fprintf(&out, `\%02x`, text[i])
	}
	return out.String()
}

// applied is one turn with the modules, in order, each under the bundle's
// name, and behind them an injector that always works.
func applied(t *testing.T, o wasm.Options, code ...[]byte) ([]inject.Applied, inject.Decisions) {
	t.Helper()
	l := newLoader(t, o)
	var selected []inject.Resolved
	for i, c := range code {
		selected = append(selected, inject.Resolved{Name: fmt.Sprint("module ", i), Injector: loaded(t, l, c), Origin: schema.OriginBundle})
	}
	selected = append(selected, inject.Resolved{Name: "last", Injector: inject.Static("last", inject.Contribution{Instructions: "The turn goes on."})})
	red, err := redact.New()
	require.NoError(t, err)
	decisions, err := inject.Apply(t.Context(), selected, says("hi"), red, nil, inject.Options{Timeout: time.Minute})
	require.NoError(t, err)
	done, skipped := decisions.Applied(), decisions.Skipped()
	require.NotEmpty(t, done)
	require.Equal(t, "last", done[len(done)-1].Name)
	return done[:len(done)-1], skipped
}

func TestP10_HostileModuleIsSkipped(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		err  error
	}{
		"traps":                            {module(`unreachable`), wasm.ErrTrap},
		"divides by zero":                  {module(`(i64.extend_i32_u (i32.div_u (i32.const 1) (i32.const 0)))`), wasm.ErrTrap},
		"reads past its memory":            {module(`(i64.load (i32.const 65535))`), wasm.ErrTrap},
		"recurses without end":             {module(`(call $f (local.get $at))`, `(func $f (param i32) (result i64) (i64.add (call $f (local.get 0)) (i64.const 1)))`), wasm.ErrTrap},
		"calls through an empty table":     {module(`(call_indirect (result i64) (i32.const 3))`, `(table 4 funcref)`), wasm.ErrTrap},
		"traps when it starts":             {module(`(i64.const 0)`, `(func $s unreachable)`, `(start $s)`), wasm.ErrTrap},
		"traps when it is initialized":     {module(`(i64.const 0)`, `(func (export "_initialize") unreachable)`), wasm.ErrTrap},
		"gives no room":                    {strings.Replace(module(`(i64.const 0)`), "i32.const 1024", "i32.const 0", 1), wasm.ErrTrap},
		"gives room outside of its memory": {strings.Replace(module(`(i64.const 0)`), "i32.const 1024", "i32.const 65530", 1), wasm.ErrTrap},
		"gives room at a negative place":   {strings.Replace(module(`(i64.const 0)`), "i32.const 1024", "i32.const -1", 1), wasm.ErrTrap},
		"ends itself": {`(module (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32))) (memory (export "memory") 1)
			(func (export "prism_alloc") (param i32) (result i32) (i32.const 1024))
			(func (export "apply") (param i32 i32) (result i64) (call $exit (i32.const 0)) (i64.const 0)))`, wasm.ErrExited},

		"has a result outside of its memory": {module(`(i64.or (i64.shl (i64.const 65530) (i64.const 32)) (i64.const 20))`), wasm.ErrResult},
		"has a result past all memory":       {module(`(i64.const -1)`), wasm.ErrResult},
		"has a result over 256 KiB":          {module(`(i64.const 262145)`), wasm.ErrResult},
		"gives bytes that are no UTF-8":      {answering("{\"instructions\":\"caf\xe9\"}"), wasm.ErrResult},
		"gives no JSON":                      {answering(`instructions: x`), nil},
		"gives a list":                       {answering(`[]`), nil},
		"gives half a value":                 {answering(`{"instructions":"x"`), nil},
		"gives a number for instructions":    {answering(`{"instructions":1}`), nil},
		"gives blocks that are none":         {answering(`{"contextBlocks":[{"title":1}]}`), nil},
		"gives NUL":                          {answering(`{"instructions":"a\u0000b"}`), inject.ErrNUL},
		"gives an unknown timing":            {answering(`{"instructions":"x","when":"sometimes"}`), nil},

		"imports another function":  {`(module (import "env" "system" (func (param i32) (result i32))))`, wasm.ErrImport},
		"imports what WASI has not": {`(module (import "wasi_snapshot_preview1" "sock_connect" (func (param i32) (result i32))))`, wasm.ErrImport},
		"imports with another type": {module(`(i64.const 0)`)[:8] + `(import "wasi_snapshot_preview1" "proc_exit" (func (param i64) (result i64)))` + module(`(i64.const 0)`)[8:], wasm.ErrTrap},
		"exports no memory":         {strings.Replace(module(`(i64.const 0)`), `(export "memory")`, "", 1), wasm.ErrExport},
		"exports no prism_alloc":    {strings.Replace(module(`(i64.const 0)`), `(export "prism_alloc")`, "", 1), wasm.ErrExport},
		"exports no apply":          {strings.Replace(module(`(i64.const 0)`), `(export "apply")`, "", 1), wasm.ErrExport},
		"exports another apply":     {`(module (memory (export "memory") 1) (func (export "prism_alloc") (param i32) (result i32) (i32.const 1)) (func (export "apply") (param i32 i32) (result i32) (i32.const 0)))`, wasm.ErrExport},

		"declares too much memory":  {strings.Replace(module(`(i64.const 0)`), `(export "memory") 1`, `(export "memory") 257`, 1), wasm.ErrLimit},
		"declares a huge table":     {module(`(i64.const 0)`, `(table 1000000 funcref)`), wasm.ErrLimit},
		"grows a table":             {module(`(drop (table.grow (ref.null) (i32.const 1))) (i64.const 0)`, `(table 4 funcref)`), wasm.ErrLimit},
		"has a function too large":  {module(strings.Repeat("nop ", 256<<10) + `(i64.const 0)`), wasm.ErrLimit},
		"has too many branches":     {module(strings.Repeat(`(if (local.get $at) (then nop))`, 4001) + `(i64.const 0)`), wasm.ErrLimit},
		"branches too much in all":  {module(`(i64.const 0)`, strings.Repeat(`(func `+strings.Repeat(`(loop)`, 4000)+`)`, 7)), wasm.ErrLimit},
		"has too many locals":       {module(`(i64.const 0)`, `(func `+strings.Repeat(`(local i64)`, 5001)+`)`), wasm.ErrLimit},
		"nests its blocks too deep": {module(strings.Repeat("block ", 2000) + strings.Repeat("end ", 2000) + `(i64.const 0)`), wasm.ErrLimit},
		"has too many functions":    {module(`(i64.const 0)`, strings.Repeat("(func)", 50_001)), wasm.ErrLimit},
		"has too many imports":      {`(module ` + strings.Repeat(`(import "wasi_snapshot_preview1" "sched_yield" (func (result i32)))`, 1001) + `)`, wasm.ErrLimit},
		"has types that don't fit":  {module(`(i32.const 0)`), wasm.ErrCompile},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			done, skipped := applied(t, wasm.Options{Timeout: time.Minute}, assembled(t, c.text))
			assert.Empty(t, done)
			require.Len(t, skipped, 1)
			assert.Equal(t, schema.ReasonError, skipped[0].Reason)
			if c.err != nil {
				assert.ErrorIs(t, skipped[0].Err, c.err)
			}
			assert.NotContains(t, skipped[0].Err.Error(), "\n")
			assert.Less(t, len(skipped[0].Err.Error()), 400)
		})
	}
}

func TestP10_ModuleThatDoesNotEndIsSkippedInTime(t *testing.T) {
	for name, text := range map[string]string{
		"loops for ever":                    module(`(loop $l (br $l)) unreachable`),
		"loops when it is initialized":      module(`(i64.const 0)`, `(func (export "_initialize") (loop $l (br $l)))`),
		"loops when it starts":              module(`(i64.const 0)`, `(func $s (loop $l (br $l)))`, `(start $s)`),
		"loops when it is asked for room":   strings.Replace(module(`(i64.const 0)`), "(i32.const 1024)", "(loop $l (br $l)) unreachable", 1),
		"calls itself twice, without loops": module(`(call $f (i32.const 62)) (i64.const 0)`, `(func $f (param i32) (if (local.get 0) (then (call $f (i32.sub (local.get 0) (i32.const 1))) (call $f (i32.sub (local.get 0) (i32.const 1))))))`),
		"fills memory, without loops":       module(`(drop (memory.grow (i32.const 250)))`+strings.Repeat(`(call $f)`, 50)+`(i64.const 0)`, `(func $f `+strings.Repeat(`(memory.fill (i32.const 0) (i32.const 1) (i32.const 16000000))`, 700)+`)`),
		"sleeps in a loop": `(module (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32))) (memory (export "memory") 1)
			(data (i32.const 64) "\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\01\00\00\00\00\00\00\00\00\00\a0\dc\7f\00\00\00")
			(func (export "prism_alloc") (param i32) (result i32) (i32.const 1024))
			(func (export "apply") (param i32 i32) (result i64) (loop $l (drop (call $poll (i32.const 64) (i32.const 256) (i32.const 1) (i32.const 512))) (br $l)) unreachable))`,
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			done, skipped := applied(t, wasm.Options{Timeout: 300 * time.Millisecond}, assembled(t, text))
			assert.Less(t, time.Since(start), 20*time.Second)
			assert.Empty(t, done)
			require.Len(t, skipped, 1)
			assert.Equal(t, "module 0", skipped[0].Name)
			assert.Equal(t, schema.ReasonTimeout, skipped[0].Reason)
			assert.ErrorIs(t, skipped[0].Err, inject.ErrTimeout)
		})
	}
}

// The collector waits for all goroutines; what the compiler makes of a module
// can't be stopped but where it looks at its time.
func TestModuleThatDoesNotEndLetsTheCollectorRun(t *testing.T) {
	inj := loaded(t, newLoader(t, wasm.Options{Timeout: time.Minute}), assembled(t, module(
		`(drop (memory.grow (i32.const 250)))
		(loop $l (memory.fill (i32.const 0) (i32.const 1) (i32.const 16000000)) (call $f (i32.const 16)) (br $l)) unreachable`,
		`(func $f (param i32) (if (local.get 0) (then (call $f (i32.sub (local.get 0) (i32.const 1))) (call $f (i32.sub (local.get 0) (i32.const 1))))))`)))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := inj.Apply(ctx, says("hi"))
		ended <- err
	}()
	for range 20 {
		start := time.Now()
		runtime.GC()
		assert.Less(t, time.Since(start), 10*time.Second)
	}
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
}

func TestP9_CancelledTurnCancelsTheModule(t *testing.T) {
	inj := loaded(t, newLoader(t, wasm.Options{Timeout: time.Hour}), assembled(t, module(`(loop $l (br $l)) unreachable`)))
	stop := errors.New("the user")
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan error)
	go func() {
		_, err := inj.Apply(ctx, says("hi"))
		ended <- err
	}()
	cancel(stop)
	require.ErrorIs(t, <-ended, stop)
}

func TestModuleThatHogsMemoryGetsNoMore(t *testing.T) {
	done, skipped := applied(t, wasm.Options{Timeout: time.Minute}, assembled(t, module(
		`(if (i32.ne (memory.grow (i32.const 65000)) (i32.const -1)) (then unreachable))
		(drop (memory.grow (i32.const 255)))
		(if (i32.ne (memory.grow (i32.const 1)) (i32.const -1)) (then unreachable))
		(if (i32.ne (memory.size) (i32.const 256)) (then unreachable))
		(i64.const 0)`)))
	assert.Empty(t, done)
	assert.Empty(t, skipped, "growing was refused where it had to be")
}

func TestP7_ModuleGrantsNothing(t *testing.T) {
	done, skipped := applied(t, wasm.Options{Timeout: time.Minute},
		assembled(t, answering(`{"instructions":"x","tools":["bash"],"permissions":{"all":true},"execute":"rm","model":"big","apiKey":"k"}`)),
		assembled(t, answering(`{"instructions":"x"}`)))
	assert.Empty(t, skipped)
	require.Len(t, done, 2)
	assert.Equal(t, done[1].Instructions, done[0].Instructions)
	assert.Equal(t, []string{"apiKey", "execute", "model", "permissions", "tools"}, done[0].Ignored)
}

func TestModuleSays_NotNow(t *testing.T) {
	done, skipped := applied(t, wasm.Options{Timeout: time.Minute}, assembled(t, answering(`null`)), assembled(t, answering(`{}`)), assembled(t, module(`(i64.const 0)`)))
	assert.Empty(t, done)
	assert.Empty(t, skipped)
}

func TestP8_ModuleSaysWhen(t *testing.T) {
	inj := loaded(t, newLoader(t, wasm.Options{Timeout: time.Minute}), assembled(t, answering(`{"instructions":"x","when":"first_turn"}`)))
	c, err := inj.Apply(t.Context(), says("hi"))
	require.NoError(t, err)
	assert.Equal(t, schema.WhenFirstTurn, c.When)
}

// A module's world is the same each time: clock, randomness, arguments,
// environment and folders give it nothing.
func TestP20_ModuleSeesNothingOfTheHost(t *testing.T) {
	wasi := func(name, params string) string {
		return `(import "wasi_snapshot_preview1" "` + name + `" (func $` + name + ` (param ` + params + `) (result i32)))`
	}
	code := assembled(t, `(module `+
		wasi("args_sizes_get", "i32 i32")+wasi("environ_sizes_get", "i32 i32")+wasi("clock_time_get", "i32 i64 i32")+
		wasi("random_get", "i32 i32")+wasi("fd_prestat_get", "i32 i32")+wasi("fd_read", "i32 i32 i32 i32")+wasi("sock_accept", "i32 i32 i32")+`
		(memory (export "memory") 1)
		(func $hex (param $at i32) (param $to i32) (param $n i32)
			(loop $l
				(i32.store8 (local.get $to) (i32.add (i32.const 97) (i32.shr_u (i32.load8_u (local.get $at)) (i32.const 4))))
				(i32.store8 offset=1 (local.get $to) (i32.add (i32.const 97) (i32.and (i32.load8_u (local.get $at)) (i32.const 15))))
				(local.set $at (i32.add (local.get $at) (i32.const 1)))
				(local.set $to (i32.add (local.get $to) (i32.const 2)))
				(local.set $n (i32.sub (local.get $n) (i32.const 1)))
				(br_if $l (local.get $n))))
		(func (export "prism_alloc") (param i32) (result i32) (i32.const 8192))
		(data (i32.const 4096) "{\22instructions\22:\22                                                                                                \22}")
		(func (export "apply") (param i32 i32) (result i64)
			(i32.store (i32.const 0) (call $args_sizes_get (i32.const 4) (i32.const 64)))
			(i32.store (i32.const 8) (call $environ_sizes_get (i32.const 12) (i32.const 64)))
			(drop (call $clock_time_get (i32.const 0) (i64.const 1) (i32.const 16)))
			(drop (call $random_get (i32.const 24) (i32.const 8)))
			(i32.store (i32.const 32) (call $fd_prestat_get (i32.const 3) (i32.const 64)))
			(i32.store (i32.const 64) (i32.const 128)) (i32.store (i32.const 68) (i32.const 16))
			(drop (call $fd_read (i32.const 0) (i32.const 64) (i32.const 1) (i32.const 36)))
			(i32.store (i32.const 40) (call $sock_accept (i32.const 3) (i32.const 0) (i32.const 64)))
			(call $hex (i32.const 0) (i32.const 4113) (i32.const 48))
			(i64.or (i64.shl (i64.const 4096) (i64.const 32)) (i64.const 115))))`)
	inj := loaded(t, newLoader(t, wasm.Options{Timeout: time.Minute}), code)
	var seen []string
	for range 2 {
		c, err := inj.Apply(t.Context(), says("hi"))
		require.NoError(t, err)
		require.Len(t, c.Instructions, 96)
		seen = append(seen, c.Instructions)
	}
	assert.Equal(t, seen[0], seen[1], "clock and randomness start anew")
	words := slices.Collect(slices.Chunk([]byte(seen[0]), 8))
	for i, what := range map[int]string{0: "args_sizes_get", 1: "arguments", 2: "environ_sizes_get", 3: "variables", 9: "bytes of input"} {
		assert.Equal(t, "aaaaaaaa", string(words[i]), what)
	}
	const badf = "aiaaaaaa" // WASI's error 8
	assert.Equal(t, badf, string(words[8]), "no folder")
	assert.Equal(t, badf, string(words[10]), "no socket")
}

func TestLoad_LooksAtNameAndSizeAlone(t *testing.T) {
	l := newLoader(t, wasm.Options{})
	read := func() ([]byte, error) { panic("read when loading") }
	for name, m := range map[string]bundle.Module{
		"another kind of file": {File: "index.js", Read: read},
		"no file":              {File: "m.wasm", Path: t.TempDir() + "/m.wasm", Read: read},
	} {
		_, err := l.Load(t.Context(), m)
		assert.Error(t, err, name)
	}
	_, err := l.Load(t.Context(), bundle.Module{File: "m.WASM", Read: read})
	assert.NoError(t, err)
}

func TestModuleFileIsJunk(t *testing.T) {
	whole := exampleWAT(t)
	files := map[string][]byte{
		"nothing":                 nil,
		"text":                    []byte("export function apply() {}"),
		"another version":         append([]byte("\x00asm\x0d\x00\x01\x00"), whole[8:]...),
		"a header alone":          whole[:8],
		"over 8 MiB":              append(slices.Clone(whole), make([]byte, 8<<20)...),
		"a second memory section": append(slices.Clone(whole), 5, 3, 1, 0, 1),
		"an unknown section":      append(slices.Clone(whole), 13, 1, 0),
		"a section past the end":  append(slices.Clone(whole), 11, 0xff, 0xff, 0xff, 0xff, 0x0f),
	}
	for n := range len(whole) {
		files[fmt.Sprint("cut at ", n)] = whole[:n]
	}
	l := newLoader(t, wasm.Options{Timeout: time.Minute})
	for name, file := range files {
		_, err := loaded(t, l, bytes.Clone(file)).Apply(t.Context(), says("json"))
		assert.Error(t, err, name)
	}
	inj, err := l.Load(t.Context(), bundle.Module{File: "m.wasm", Read: func() ([]byte, error) { return nil, fs.ErrPermission }})
	require.NoError(t, err)
	_, err = inj.Apply(t.Context(), says("hi"))
	assert.ErrorIs(t, err, fs.ErrPermission)
	inj, err = l.Load(t.Context(), bundle.Module{File: "m.wasm", Read: func() ([]byte, error) { panic("a fault of ours") }})
	require.NoError(t, err)
	_, err = inj.Apply(t.Context(), says("hi"))
	assert.ErrorIs(t, err, wasm.ErrCompile)
}

func TestLoader_ClosedWhileAModuleRuns(t *testing.T) {
	l := wasm.New(wasm.Options{Timeout: time.Hour})
	inj := loaded(t, l, assembled(t, module(`(loop $l (br $l)) unreachable`)))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := inj.Apply(ctx, says("hi"))
		ended <- err
	}()
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := l.Close(stopped); err != nil { // the call may not have begun
		require.ErrorIs(t, err, context.Canceled)
	}
	cancel()
	require.Error(t, <-ended)
	require.NoError(t, l.Close(t.Context()))
	for _, again := range []inject.Injector{inj, loaded(t, l, exampleWAT(t))} {
		_, err := again.Apply(t.Context(), says("json"))
		assert.Error(t, err)
	}
}
