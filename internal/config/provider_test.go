package config

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEachProviderHasItsKeyAndItsPlace(t *testing.T) {
	env := environment{"OPENAI_API_KEY": "openai's key", "ANTHROPIC_API_KEY": "anthropic's key", "OPENAI_BASE_URL": "http://127.0.0.1:1/v1/", "ANTHROPIC_BASE_URL": "http://127.0.0.1:2"}
	for provider, want := range map[string][2]string{
		"openai": {"openai's key", "http://127.0.0.1:1/v1"}, "openai-responses": {"openai's key", "http://127.0.0.1:1/v1"}, "anthropic": {"anthropic's key", "http://127.0.0.1:2"},
	} {
		left := environment{}
		for name, value := range env {
			left[name] = value
		}
		c, err := load(t, "", left, "--provider", provider)
		require.NoError(t, err)
		require.Len(t, c.Endpoints, 1)
		e := c.Endpoint(provider)
		assert.Equal(t, want, [2]string{e.Key.Reveal(), e.BaseURL}, provider)
		assert.True(t, c.Redactor.Contains("openai's key") && c.Redactor.Contains("anthropic's key"), "whichever is chosen")
		assert.NotContains(t, left, "ANTHROPIC_API_KEY")
		assert.NotContains(t, left, "OPENAI_API_KEY")
	}
	c, err := load(t, "provider: anthropic\n", environment{})
	require.NoError(t, err)
	assert.Equal(t, "https://api.anthropic.com", c.Endpoint("anthropic").BaseURL)
	assert.True(t, c.Endpoint("anthropic").KeyMissing)
	assert.Equal(t, "ANTHROPIC_API_KEY", c.Endpoint("anthropic").KeyFrom)
}

// A URL without a provider's name is the chosen one's, so that its key goes
// where it was meant to.
func TestABaseURLIsTheChosenProviders(t *testing.T) {
	file := "provider: anthropic\nbaseUrl: http://127.0.0.1:1\nproviders: {openai: {apiKeyEnv: K}, openai-responses: {baseUrl: \"http://127.0.0.1:3/v1\"}}\n"
	c, err := load(t, file, environment{"K": "12345678", "OPENAI_BASE_URL": "http://127.0.0.1:2/v1"}, "--base-url", "http://127.0.0.1:4")
	require.NoError(t, err)
	assert.Equal(t, "http://127.0.0.1:4", c.Endpoint("anthropic").BaseURL)
	assert.Equal(t, "http://127.0.0.1:2/v1", c.Endpoint("openai").BaseURL)
	assert.Equal(t, "http://127.0.0.1:2/v1", c.Endpoint("openai-responses").BaseURL, "the environment comes before the file")
	c, err = load(t, file, environment{})
	require.NoError(t, err)
	assert.Equal(t, "http://127.0.0.1:1", c.Endpoint("anthropic").BaseURL)
	assert.Equal(t, "https://api.openai.com/v1", c.Endpoint("openai").BaseURL)
	assert.True(t, c.Endpoint("openai").KeyMissing)
	assert.Equal(t, "http://127.0.0.1:3/v1", c.Endpoint("openai-responses").BaseURL)
	assert.False(t, c.Endpoint("openai-responses").KeyMissing)
}

func TestSettingsOfTheProviders(t *testing.T) {
	c, err := load(t, `
providers:
  anthropic: {version: "2024-01-01", cacheTtl: 1h, maxOutputTokens: 5000, apiKeyFile: keys/a, caFile: ca.pem}
  openai: {promptCacheKey: true}
  openai-responses: {promptCacheKey: false, apiKeyCommand: [pass, show, openai]}
`, environment{})
	require.NoError(t, err)
	a := c.Providers.Anthropic
	assert.Equal(t, []any{"2024-01-01", "1h", 5000}, []any{a.Version, a.CacheTTL, a.MaxOutputTokens})
	assert.True(t, filepath.IsAbs(a.APIKeyFile) && filepath.IsAbs(a.CAFile), "relative to the file")
	assert.True(t, *c.Providers.OpenAI.PromptCacheKey)
	assert.False(t, *c.Providers.OpenAIResponses.PromptCacheKey)
	assert.Equal(t, []string{"pass", "show", "openai"}, c.Providers.OpenAIResponses.APIKeyCommand)
	assert.Len(t, c.Endpoints, 3, "a turn can ask each of them")
}
