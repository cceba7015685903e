package wasm

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"

	"github.com/prism-rpc/prism-rpc/internal/wat"
)

func anyImport(string, string) bool { return true }

func hardened(b []byte) ([]byte, error) {
	return (&hardener{offered: anyImport, pages: DefaultMemoryPages}).harden(b)
}

// seeds are modules, whole and broken, that the fuzzers begin with.
func seeds(t testing.TB) [][]byte {
	example, err := os.ReadFile("../../examples/module-wat/json.wat")
	require.NoError(t, err)
	var out [][]byte
	for _, text := range []string{
		string(example),
		`(module)`,
		`(module (import "wasi_snapshot_preview1" "fd_write" (func (param i32 i32 i32 i32) (result i32))) (table 1 2 funcref) (global i32 (i32.const 1)))`,
		`(module (memory 1 2) (func $f (loop $l (br $l))) (start $f) (data (i32.const 0) "x"))`,
		`(module (memory 1) (table 2 funcref) (elem (i32.const 0) $f) (func $f (param i32) (result i64) (local i64 f32)
			(block $a (block $b (br_table $a $b (local.get 0)))) (memory.copy (i32.const 0) (i32.const 1) (i32.const 2)) (drop (call_indirect (param i32) (result i64) (i32.const 1) (i32.const 0)))
			(if (result i64) (local.get 0) (then (i64.const -9223372036854775808)) (else (i64.const 1)))))`,
	} {
		code, err := wat.Assemble(text)
		require.NoError(t, err)
		out = append(out, code, code[:len(code)/2], append(code[:len(code):len(code)], 0, 5, 4, 'n', 'a', 'm', 'e'))
	}
	header := "\x00asm\x01\x00\x00\x00"
	for _, tail := range []string{
		"", "\x0a", "\x0a\x80", "\x0a\xff\xff\xff\xff\x0f", "\x0a\xff\xff\xff\xff\xff\x01", "\x01\x05\xff\xff\xff\xff\x0f", "\x01\x04\x01\x60\xff\x7f",
		"\x05\x03\x01\x00\xff", "\x05\x06\x01\x00\xff\xff\xff\x7f", "\x04\x04\x01\x70\x00\x7f", "\x0d\x01\x00", "\x0a\x04\x01\x02\x00\x0b", "\x0a\x05\x01\x03\x00\x0b\x0b",
		"\x03\x02\x01\x00\x0a\x0a\x01\x08\x01\xff\xff\xff\xff\x0f\x7e\x0b", "\x0a\x07\x01\x05\x00\xfc\x0f\x00\x0b", "\x0a\x06\x01\x04\x00\x12\x00\x0b", "\x0a\x06\x01\x04\x00\xfd\x00\x0b",
	} {
		out = append(out, []byte(header+tail))
	}
	return out
}

func TestHarden_ChangesNothingButChecks(t *testing.T) {
	code := must(wat.Assemble(`(module (memory 1) (func (param i32) (local i64) (memory.fill (i32.const 0) (i32.const 1) (i32.const 2))))`))
	want := must(wat.Assemble(`(module (memory 1) (func (param i32) (local i64) (loop) i32.const 0 i32.const 1 i32.const 2 (loop) memory.fill))`))
	named := append(code[:len(code):len(code)], 0, 5, 4, 'n', 'a', 'm', 'e')
	for name, c := range map[string][]byte{"plain": code, "with a section of names": named} {
		got, err := hardened(c)
		require.NoError(t, err, name)
		assert.Equal(t, want, got, name)
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

func TestHarden_NamesTheImport(t *testing.T) {
	code := must(wat.Assemble(`(module (import "env" "open\n` + strings.Repeat("x", 100) + `" (func)))`))
	_, err := (&hardener{offered: func(string, string) bool { return false }}).harden(code)
	require.ErrorIs(t, err, ErrImport)
	assert.Equal(t, ErrImport.Error()+`: "open\n`+strings.Repeat("x", 59)+`"… of "env"`, err.Error())
}

// Whatever is hardened can be hardened again, and runs where the original
// would: the runtime takes it when it takes the original.
func FuzzHarden(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s)
	}
	config := wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(features).WithMemoryLimitPages(DefaultMemoryPages)
	r := wazero.NewRuntimeWithConfig(context.Background(), config)
	f.Fuzz(func(t *testing.T, b []byte) {
		before := string(b)
		hard, err := hardened(b)
		require.Equal(t, before, string(b), "the input is left alone")
		if err != nil {
			return
		}
		require.LessOrEqual(t, len(hard), 4*len(b)+16)
		if _, err := hardened(hard); err != nil {
			require.ErrorIs(t, err, ErrLimit, "only its checks may be too much")
		}
		if !taken(t, r, b) {
			return
		}
		require.True(t, taken(t, r, hard))
	})
}

func taken(t *testing.T, r wazero.Runtime, b []byte) bool {
	m, err := r.CompileModule(t.Context(), b)
	if err == nil {
		require.NoError(t, m.Close(t.Context()))
	}
	return err == nil
}
