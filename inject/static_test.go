package inject_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/schema"
)

func TestP8_an_injector_as_data_is_checked(t *testing.T) {
	good := schema.InjectorSpec{Name: "x", When: "every_turn", Instructions: "text"}
	tests := map[string]func(*schema.InjectorSpec){
		"a bad name":        func(s *schema.InjectorSpec) { s.Name = "false" },
		"no timing":         func(s *schema.InjectorSpec) { s.When = "" },
		"an unknown timing": func(s *schema.InjectorSpec) { s.When = "always" },
		"nothing to say":    func(s *schema.InjectorSpec) { s.Instructions = " " },
		"a part of unknown kind": func(s *schema.InjectorSpec) {
			s.ContextBlocks = []schema.ContextBlock{{Content: schema.Input{{Type: "x"}}}}
		},
		"a NUL in the text":        func(s *schema.InjectorSpec) { s.Instructions = "a\x00" },
		"a NUL in a block's title": func(s *schema.InjectorSpec) { s.ContextBlocks = []schema.ContextBlock{textBlock("\x00", "a")} },
	}
	for name, spoil := range tests {
		t.Run(name, func(t *testing.T) {
			spec := good
			spoil(&spec)
			inj, err := inject.FromSpec(spec)
			assert.Error(t, err)
			assert.Nil(t, inj)
		})
	}
	inj, err := inject.FromSpec(good)
	require.NoError(t, err)
	assert.Equal(t, "x", inj.Name())
	c, err := inj.Apply(t.Context(), inject.Context{})
	require.NoError(t, err)
	assert.Equal(t, inject.Contribution{Instructions: "text", When: "every_turn"}, c)
}
