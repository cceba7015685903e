package plain_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/prism-rpc/prism-rpc/internal/plain"
)

func TestNearest(t *testing.T) {
	known := []string{"instructions", "instructionInjectors", "json-always", "on-json", "好的"}
	for word, want := range map[string]string{
		"json-allways":           "json-always",
		"json-alwyas":            "json-always",
		"JSON-ALWAYS":            "json-always",
		"instruction":            "instructions",
		"on-jsn":                 "on-json",
		"x":                      "",
		"":                       "",
		"something else":         "",
		"好":                      "",
		strings.Repeat("x", 200): "",
	} {
		assert.Equal(t, want, plain.Nearest(word, known), word)
	}
	assert.Equal(t, "abcd", plain.Nearest("abce", []string{"abcd", "abcf"}), "the first of equals")
}
