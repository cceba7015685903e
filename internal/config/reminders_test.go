package config

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRemindersOfTheFileR5(t *testing.T) {
	c, err := load(t, `
reminders:
  enabled: false
  skipTrivial: false
  producer: house
  trivialWords: [órale]
  prompts:
    - {id: wiki, title: Check the wiki, text: "Search the wiki.", enabled: true, trigger: everyTurn, retention: keep}
    - 7
    - {text: x, trigger: daily}
`, environment{})
	require.NoError(t, err)
	l := c.Reminders.Layer()
	assert.False(t, *l.Enabled)
	assert.False(t, *l.SkipTrivial)
	assert.Equal(t, "house", *l.Producer)
	assert.Equal(t, "keep", string(l.Prompts[0].Retention))
	assert.Equal(t, "reminder-3", l.Prompts[1].ID)
	assert.Len(t, l.Warnings, 2)
	assert.Len(t, c.Warnings, 2)
	assert.True(t, c.Reminders.Trivial().Text("Orale!"))
}

func TestNoRemindersAndNoneByIntentR5(t *testing.T) {
	c, err := load(t, "provider: mock", environment{})
	require.NoError(t, err)
	assert.Nil(t, c.Reminders.Layer().Prompts)
	c, err = load(t, "reminders: {prompts: []}", environment{})
	require.NoError(t, err)
	assert.NotNil(t, c.Reminders.Layer().Prompts)
	c, err = load(t, "reminders: {prompts: null, enabled: null}", environment{})
	require.NoError(t, err)
	assert.Nil(t, c.Reminders.Layer().Prompts)
}

func TestRemindersThatAreRefused(t *testing.T) {
	for file, key := range map[string]string{
		"reminders: {enabled: 'true'}":                                          "reminders.enabled",
		"reminders: {skip: true}":                                               "reminders.skip",
		"reminders: {producer: plugin}":                                         "reminders.producer",
		"reminders: {prompts: {id: a}}":                                         "reminders.prompts",
		"reminders: {prompts: [{text: 7}]}":                                     "reminders.prompts[0].text",
		"reminders: {prompts: [{text: x, triger: y}]}":                          "reminders.prompts[0].triger",
		"reminders: {prompts: [1, {producer: plugin}]}":                         "reminders.prompts[1].producer",
		"reminders: {trivialWords: ['!']}":                                      "reminders.trivialWords",
		"reminders: {prompts: [{text: " + strings.Repeat("x", 16<<10+1) + "}]}": "reminders.prompts[0].text",
	} {
		_, err := load(t, file, environment{})
		var bad *Error
		require.ErrorAs(t, err, &bad, key)
		assert.Equal(t, key, bad.Key)
		assert.Equal(t, 1, bad.Line)
	}
}

func TestWhereRemindersAreKeptR6(t *testing.T) {
	home := t.TempDir()
	env := Env{Lookup: func(name string) (string, bool) { return home, name == "XDG_CONFIG_HOME" }}
	assert.Equal(t, filepath.Join(home, "prism-rpc", "reminders.json"), remindersFile("default", env))
	assert.Equal(t, filepath.Join(home, "prism-rpc", "profiles", "desk", "reminders.json"), remindersFile("desk", env))
	assert.Empty(t, remindersFile("default", Env{Lookup: func(string) (string, bool) { return "", false }}))
}
