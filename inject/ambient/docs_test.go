package ambient_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject/ambient"
	"github.com/prism-rpc/prism-rpc/internal/config"
	"github.com/prism-rpc/prism-rpc/schema"
)

// fenced is the one text between fences of that kind in the documentation of
// ambient blocks.
func fenced(t *testing.T, kind string) string {
	page, err := os.ReadFile("../../docs/injectors.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(page), "\n## Ambient blocks\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	texts := regexp.MustCompile("(?s)```"+kind+"\n(.*?)```").FindAllStringSubmatch(section, -1)
	require.Len(t, texts, 1)
	return texts[0][1]
}

func TestA3_A5_the_documentation_shows_what_is_rendered(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(path, []byte(fenced(t, "yaml")), 0o600))
	cfg, err := config.Load(&config.Flags{Config: path}, config.Env{Lookup: func(string) (string, bool) { return "", false }})
	require.NoError(t, err)
	assert.True(t, cfg.ContextInjections)
	armed := ambient.Armed{
		Modules: cfg.Modules.Enabled, Todos: cfg.Modules.Todos, PlanMode: cfg.Modules.PlanMode, Background: cfg.Modules.Background,
		ProtectedPaths: cfg.ProtectedPaths,
	}
	blocks := append(ambient.Builtins(armed), ambient.Configured(cfg.ContextBlocks)...)
	assert.Equal(t, "\n\n"+fenced(t, "text"), ambient.Render(blocks...)+"\n")
}

func TestA6_the_documentation_shows_requests_that_are_taken(t *testing.T) {
	params := map[string]func() any{
		"spliceContext":   func() any { return new(schema.SpliceContextParams) },
		"unspliceContext": func() any { return new(schema.UnspliceContextParams) },
		"listContext":     func() any { return new(schema.ListContextParams) },
	}
	lines := strings.Split(strings.TrimSpace(fenced(t, "json")), "\n")
	require.Len(t, lines, 5)
	for _, line := range lines {
		var request struct {
			Method string         `json:"method"`
			Params jsontext.Value `json:"params"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &request))
		require.Contains(t, params, request.Method)
		assert.NoError(t, schema.Decode(request.Params, params[request.Method]()), line)
	}
}
