package rpc_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/internal/talk"
)

// What people are shown works: every conversation of docs/injectors.md, as far
// as it is told.
func TestP8_the_conversations_of_the_documentation_run(t *testing.T) {
	text, err := os.ReadFile("../docs/injectors.md")
	require.NoError(t, err)
	examples := regexp.MustCompile("(?s)```talk\n(.*?)```").FindAllSubmatch(text, -1)
	require.Len(t, examples, 3)
	for _, example := range examples {
		file := filepath.Join(t.TempDir(), "example.talk")
		require.NoError(t, os.WriteFile(file, example[1], 0o600))
		talk.Play(t, file, newServer)
	}
}
