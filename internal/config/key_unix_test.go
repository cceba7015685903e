//go:build unix

package config

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const canary = "sk-canary-0123456789"

// fetch is load and FetchKeys.
func fetch(t *testing.T, file string, e environment, args ...string) (*Config, error) {
	c, err := load(t, file, e, args...)
	require.NoError(t, err)
	return c, c.FetchKeys(t.Context())
}

func keyFile(t *testing.T, text string, mode os.FileMode) string {
	path := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	require.NoError(t, os.Chmod(path, mode))
	return path
}

func TestAKeyOfAFile(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	for claim, row := range map[string]struct {
		path string
		bad  string
	}{
		"is read":                         {keyFile(t, " "+canary+"\n", 0o600), ""},
		"may be of nobody's to write":     {keyFile(t, canary, 0o400), ""},
		"must be ours alone: the group":   {keyFile(t, canary, 0o640), "chmod 600"},
		"must be ours alone: the others":  {keyFile(t, canary, 0o604), "chmod 600"},
		"must be ours alone: to write to": {keyFile(t, canary, 0o622), "chmod 600"},
		"must be there":                   {none, "no such file"},
		"must be a file":                  {t.TempDir(), "no regular file"},
		"must hold something":             {keyFile(t, " \n", 0o600), "holds no key"},
		"must be no larger than a key":    {keyFile(t, strings.Repeat("x", maxKey+1), 0o600), "too large"},
	} {
		t.Run(claim, func(t *testing.T) {
			c, err := fetch(t, "provider: anthropic\nproviders: {anthropic: {apiKeyFile: "+row.path+"}}\n", environment{})
			if row.bad != "" {
				var bad *Error
				require.ErrorAs(t, err, &bad)
				assert.Contains(t, bad.Message, row.bad)
				assert.Equal(t, "providers.anthropic.apiKeyFile", bad.Key)
				assert.Equal(t, 2, bad.Line)
				assert.NotContains(t, err.Error(), canary)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, canary, c.Endpoint("anthropic").Key.Reveal())
			assert.True(t, c.Redactor.Contains("x "+canary), "it is a secret from then on")
		})
	}
}

func TestAKeyOfACommand(t *testing.T) {
	for claim, row := range map[string]struct{ argv, bad string }{
		"is what it prints":                  {`[sh, -c, "echo ` + canary + `; echo noise >&2"]`, ""},
		"words are words, there is no shell": {`[printf, "%s", "` + canary + `"]`, ""},
		"it gets no input":                   {`[sh, -c, "cat; echo ` + canary + `"]`, ""},
		"it must end well":                   {`[sh, -c, "echo ` + canary + `; echo ` + canary + ` >&2; exit 3"]`, "exit status 3"},
		"it must be there":                   {`[no-such-program-` + canary + `]`, "can't be run"},
		"it must print something":            {`["true"]`, "holds no key"},
		"it must print no more than a key":   {`[sh, -c, "yes | head -c 100000"]`, "too large"},
	} {
		t.Run(claim, func(t *testing.T) {
			c, err := fetch(t, "provider: openai-responses\nproviders: {openai-responses: {apiKeyCommand: "+row.argv+"}}\n", environment{})
			if row.bad != "" {
				require.ErrorContains(t, err, row.bad)
				assert.NotContains(t, err.Error(), canary)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, canary, c.Endpoint("openai-responses").Key.Reveal())
		})
	}
}

func TestACommandThatDoesNotEndIsEnded(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for it")
	}
	t.Parallel()
	start := time.Now()
	_, err := runKeyCommand(t.Context(), []string{"sleep", "60"})
	assert.ErrorIs(t, err, errSlow)
	assert.Less(t, time.Since(start), 2*keyTimeout)
}

// A signal does not wait for a command.
func TestACommandEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	start := time.Now()
	_, err := runKeyCommand(ctx, []string{"sh", "-c", "sleep 60; :"})
	assert.ErrorIs(t, err, errEnded)
	assert.Less(t, time.Since(start), keyTimeout/2)
}

// What is wrong with a provider that nobody chose is no fault of the
// configuration, but that provider's, and is warned of.
func TestAProviderThatIsNotChosenNeedsNoKey(t *testing.T) {
	for claim, row := range map[string]struct {
		setting, want string
		env           environment
	}{
		"no file":           {"apiKeyFile: /nonexistent/key", "can't be read: no such file or directory", environment{}},
		"a file of all":     {"apiKeyFile: " + keyFile(t, canary, 0o644), "readable by nobody else", environment{}},
		"a command's fault": {"apiKeyCommand: [\"false\"]", "failed: exit status 1", environment{}},
		"a host that the environment names alone": {"apiKeyFile: " + keyFile(t, canary, 0o600), "may not be sent to", environment{"ANTHROPIC_BASE_URL": "https://evil.example"}},
	} {
		t.Run(claim, func(t *testing.T) {
			for _, chosen := range []string{"provider: mock\n", "provider: openai\n", ""} {
				c, err := fetch(t, chosen+"providers: {anthropic: {"+row.setting+"}}\n", row.env)
				require.NoError(t, err)
				e := c.Endpoint("anthropic")
				assert.ErrorContains(t, e.Fault, row.want)
				assert.Empty(t, e.Key.Reveal())
				require.Len(t, c.Warnings, 1)
				assert.Equal(t, Warning{"config_warning", "the provider anthropic can't be asked: " + e.Fault.Error(), "providers.anthropic"}, c.Warnings[0])
			}
			_, err := fetch(t, "provider: anthropic\nproviders: {anthropic: {"+row.setting+"}}\n", row.env)
			assert.ErrorContains(t, err, row.want)
		})
	}
}

// A key is not fetched before it is asked for, nor where nobody calls the
// provider.
func TestKeysAreFetchedOnDemand(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "ran")
	file := "provider: mock\nproviders: {openai: {apiKeyCommand: [sh, -c, \"echo x >> " + mark + "; echo " + canary + "\"]}}\n"
	c, err := load(t, file, environment{})
	require.NoError(t, err)
	assert.NoFileExists(t, mark)
	require.NoError(t, c.FetchKeys(t.Context()))
	assert.FileExists(t, mark)

	require.NoError(t, os.Remove(mark))
	_, err = fetch(t, file, environment{"OPENAI_API_KEY": "12345678"})
	require.NoError(t, err)
	assert.NoFileExists(t, mark, "the environment comes before the file")
}

func TestWhichHostsAKeyOfAFileGoesTo(t *testing.T) {
	path := keyFile(t, canary, 0o600)
	with := func(more string) string {
		return "provider: openai\nproviders: {openai: {apiKeyFile: " + path + more + "}}\n"
	}
	for claim, row := range map[string]struct {
		file string
		env  environment
		args []string
		bad  bool
	}{
		"the vendor's":                           {with(""), environment{}, nil, false},
		"the vendor's, named by the environment": {with(""), environment{"OPENAI_BASE_URL": "https://api.openai.com/v1"}, nil, false},
		"loopback, named by the environment":     {with(""), environment{"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}, nil, false},
		"one that the file names":                {with(", baseUrl: \"https://example.com\""), environment{}, nil, false},
		"one that a flag names":                  {with(""), environment{}, []string{"--base-url", "https://example.com"}, false},
		"one that the environment names alone":   {with(""), environment{"OPENAI_BASE_URL": "https://evil.example"}, nil, true},
		"one that the environment names instead": {with(", baseUrl: \"https://example.com\""), environment{"OPENAI_BASE_URL": "https://evil.example"}, nil, true},
		"one that both name":                     {with(", baseUrl: \"https://example.com/v1\""), environment{"OPENAI_BASE_URL": "https://example.com/v2"}, nil, false},
		"a flag goes before the environment":     {with(""), environment{"OPENAI_BASE_URL": "https://evil.example"}, []string{"--base-url", "https://example.com"}, false},
		"a name like the vendor's":               {with(""), environment{"OPENAI_BASE_URL": "https://api.openai.com.evil.example"}, nil, true},
		"a name like this machine's":             {with(""), environment{"OPENAI_BASE_URL": "http://localhost.evil.example"}, nil, true},
	} {
		t.Run(claim, func(t *testing.T) {
			c, err := fetch(t, row.file, row.env, row.args...)
			if row.bad {
				var bad *Error
				require.ErrorAs(t, err, &bad)
				assert.Equal(t, "OPENAI_BASE_URL", bad.Key)
				assert.Contains(t, bad.Hint, "--base-url")
				assert.Empty(t, c.Endpoint("openai").Key.Reveal())
				return
			}
			require.NoError(t, err)
			assert.Equal(t, canary, c.Endpoint("openai").Key.Reveal())
		})
	}
}
