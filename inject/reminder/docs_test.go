package reminder_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject/reminder"
	"github.com/prism-rpc/prism-rpc/internal/config"
	"github.com/prism-rpc/prism-rpc/schema"
)

// What people are shown as good reminders is taken without a warning, and
// reminds when the page says so.
func TestR2R5TheExampleOfTheDocumentation(t *testing.T) {
	page, err := os.ReadFile("../../docs/injectors.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(page), "\n## Reminders\n")
	require.True(t, found)
	_, text, found := strings.Cut(section, "```yaml\n")
	require.True(t, found)
	text, _, _ = strings.Cut(text, "```")
	path := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	cfg, err := config.Load(&config.Flags{Config: path}, config.Env{Lookup: func(string) (string, bool) { return "", false }})
	require.NoError(t, err)
	settings := reminder.New(reminder.Options{Base: cfg.Reminders.Layer()}).Settings()
	assert.Empty(t, settings.Warnings)
	due := func(turn reminder.Turn) (ids []string) {
		for _, d := range settings.Decide(turn) {
			if d.Applied() {
				ids = append(ids, d.ID)
			}
		}
		return ids
	}
	assert.Equal(t, []string{"wiki"}, due(reminder.Turn{}))
	assert.Equal(t, []string{"wiki", "plan"}, due(reminder.Turn{Generation: 1}))
	assert.Empty(t, due(reminder.Turn{Generation: 1, Trivial: true}))
	assert.Equal(t, schema.TriggerPostCompaction, settings.Prompts[1].Trigger)
}
