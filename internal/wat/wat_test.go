package wat_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/internal/wat"
)

func TestAssemble(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":         {`(module)`, ""},
		"a comment":       {"(module) ;; of (nothing", ""},
		"a memory":        {`(module (memory (export "m") 1 2))`, "\x05\x04\x01\x01\x01\x02\x07\x05\x01\x01m\x02\x00"},
		"folded":          {`(module (func (result i32) (i32.add (i32.const 1) (i32.const -1))))`, "\x01\x05\x01\x60\x00\x01\x7f\x03\x02\x01\x00\x0a\x09\x01\x07\x00\x41\x01\x41\x7f\x6a\x0b"},
		"flat":            {`(module (func (result i32) i32.const 1 i32.const -1 i32.add))`, "\x01\x05\x01\x60\x00\x01\x7f\x03\x02\x01\x00\x0a\x09\x01\x07\x00\x41\x01\x41\x7f\x6a\x0b"},
		"labels by name":  {`(module (func (block $a (loop $b (br $a) (br $b)))))`, "\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x0a\x0e\x01\x0c\x00\x02\x40\x03\x40\x0c\x01\x0c\x00\x0b\x0b\x0b"},
		"a string's text": {`(module (memory 1) (data (i32.const 0) "a\22\n\ff"))`, "\x05\x03\x01\x00\x01\x0b\x0a\x01\x00\x41\x00\x0b\x04a\"\n\xff"},
	} {
		got, err := wat.Assemble(c.text)
		require.NoError(t, err, name)
		assert.Equal(t, "\x00asm\x01\x00\x00\x00"+c.want, string(got), name)
	}
}

func TestAssemble_Refuses(t *testing.T) {
	for name, text := range map[string]string{
		"nothing at all":         ``,
		"no module":              `(func)`,
		"an open parenthesis":    `(module (func)`,
		"one too many":           `(module))`,
		"an unknown field":       `(module (banana))`,
		"an unknown instruction": `(module (func banana))`,
		"an end too many":        `(module (func end))`,
		"a missing number":       `(module (func i32.const))`,
	} {
		_, err := wat.Assemble(text)
		assert.Error(t, err, name)
	}
}
