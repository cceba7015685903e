package config

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The configuration that the README shows can be used as it stands there, and
// each key that has no flag is in it.
func TestTheReadmesConfiguration(t *testing.T) {
	page, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	examples := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(page, -1)
	require.Len(t, examples, 1)
	path := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(path, examples[0][1], 0o600))
	cfg, err := Load(&Flags{Config: path}, Env{Lookup: func(string) (string, bool) { return "", false }})
	require.NoError(t, err)
	assert.Empty(t, cfg.Reminders.Layer().Warnings)
	assert.Len(t, cfg.Injectors, 1)
	assert.True(t, strings.HasPrefix(cfg.Providers.OpenAI.BaseURL, "http://127.0.0.1"))
}
