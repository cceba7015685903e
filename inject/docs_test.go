package inject_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/inject/predicate"
	"github.com/prism-rpc/prism-rpc/internal/config"
	"github.com/prism-rpc/prism-rpc/schema"
)

// What people are shown works: every configuration, every expression.
func TestP8_the_examples_of_the_documentation_run(t *testing.T) {
	text, err := os.ReadFile("../docs/injectors.md")
	require.NoError(t, err)
	before, rest, _ := bytes.Cut(text, []byte("## Ambient blocks")) // whose examples package ambient runs, and reminder those behind
	_, behind, _ := bytes.Cut(rest, []byte("\n## Security"))
	examples := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(slices.Concat(before, behind), -1)
	require.Len(t, examples, 3)
	for _, example := range examples {
		resolveAll(t, example[1])
	}
	_, table, _ := bytes.Cut(text, []byte("| expression |"))
	table, _, _ = bytes.Cut(table, []byte("\n\n"))
	expressions := regexp.MustCompile("(?m)^\\| `([^`]+)` \\| ").FindAllSubmatch(table, -1)
	require.Len(t, expressions, 9)
	for _, e := range expressions {
		_, err := predicate.Compile(string(e[1]))
		assert.NoError(t, err, "%s", e[1])
	}
}

func TestP8_the_example_configuration_runs(t *testing.T) {
	text, err := os.ReadFile("../examples/prism.yaml")
	require.NoError(t, err)
	resolveAll(t, text)
}

// resolveAll reads a configuration and asks its injectors, those that are
// enabled, in a turn that is about JSON.
func resolveAll(t *testing.T, text []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	cfg, err := config.Load(&config.Flags{Config: path}, config.Env{Lookup: func(string) (string, bool) { return "", false }})
	require.NoError(t, err)
	require.NotEmpty(t, cfg.Injectors)
	var r inject.Registry
	for _, spec := range cfg.Injectors {
		inj, err := inject.FromSpec(spec)
		require.NoError(t, err)
		_, err = r.Register(inj, schema.OriginConfig)
		require.NoError(t, err)
	}
	for _, info := range r.List(nil) {
		assert.Empty(t, info.Warnings)
		if info.State != schema.StateReady {
			continue
		}
		selected, err := r.Resolve([]string{info.Name})
		require.NoError(t, err)
		_, skipped, err := evaluate(t.Context(), selected, inject.Context{Input: say2("as JSON")}, nil, nil, inject.Options{})
		require.NoError(t, err)
		assert.Empty(t, skipped)
	}
}
