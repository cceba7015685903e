package config

import (
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/prism-rpc/prism-rpc/redact"
)

// The environment variables that are read beside XDG's.
const (
	openAIKeyEnv     = "OPENAI_API_KEY"
	openAIBaseURLEnv = "OPENAI_BASE_URL"
	openAIHost       = "api.openai.com"
	openAIBaseURL    = "https://" + openAIHost + "/v1"
)

// KindRedactEnvUnset is the kind of a warning about a variable that was to be
// redacted but is not set.
const KindRedactEnvUnset = "redact_env_unset"

// minSecret is the shortest value, in bytes, that is redacted without the
// opt-in.
const minSecret = 8

// OpenAI is how to reach the Chat Completions API.
type OpenAI struct {
	BaseURL       string
	Key           redact.Secret
	KeyEnv        string // the variable that holds the key, or should
	KeyMissing    bool   // there is none, and the server needs one
	AllowInsecure bool
}

// UsesOpenAI tells whether a turn can be answered by the openai provider.
func (c *Config) UsesOpenAI() bool {
	return c.Provider == "openai" || c.Providers.OpenAI != OpenAISettings{}
}

// takeSecrets reads the provider's key and every variable to redact, then
// removes them from the environment.
func (c *Config) takeSecrets(env Env) error {
	var errs []error
	taken := []string{c.takeKey(env)}
	for _, s := range c.envSecrets() {
		value, _ := env.Lookup(s.Env)
		switch value = strings.TrimSpace(value); {
		case value == "":
			c.Warnings = append(c.Warnings, Warning{KindRedactEnvUnset, "a variable to redact is not set", s.Env})
			continue
		case len(value) < minSecret && !s.Short:
			errs = append(errs, c.Bad("redact.env", "the value of "+s.Env+" is shorter than 8 bytes, so that redacting it could hide ordinary text",
				"to redact it all the same: redact: {env: [{env: "+s.Env+", short: true}]} in the configuration file"))
		}
		name := s.Name
		if name == "" {
			name = s.Env
		}
		c.Secrets = append(c.Secrets, redact.Value{Name: name, Secret: redact.NewSecret(value), Short: len(value) < minSecret})
		taken = append(taken, s.Env)
	}
	for _, name := range taken {
		errs = append(errs, env.Unset(name))
	}
	return errors.Join(errs...)
}

// envSecrets are the variables of the file and of the flags, each once.
func (c *Config) envSecrets() []EnvSecret {
	all := slices.Clone(c.Redact.Env)
	for _, name := range c.RedactEnv {
		if !slices.ContainsFunc(all, func(s EnvSecret) bool { return s.Env == name }) {
			all = append(all, EnvSecret{Env: name})
		}
	}
	return all
}

// takeKey reads the key, which is a secret whatever provider is chosen, and
// returns its variable.
func (c *Config) takeKey(env Env) string {
	name := c.Providers.OpenAI.APIKeyEnv
	if name == "" {
		name = openAIKeyEnv
	}
	c.OpenAI.KeyEnv = name
	value, _ := env.Lookup(name)
	if value = strings.TrimSpace(value); value != "" {
		c.OpenAI.Key = redact.NewSecret(value)
		c.Secrets = append(c.Secrets, redact.Value{Name: name, Secret: c.OpenAI.Key, Short: len(value) < minSecret})
	}
	c.OpenAI.KeyMissing = value == ""
	return name
}

// resolveOpenAI settles where the provider is and whether it can be called
// without a key. The key comes from the same environment as any URL here, so
// that it may travel to whichever host is named.
func (c *Config) resolveOpenAI(flags *Flags, env Env) error {
	if !c.UsesOpenAI() {
		return nil
	}
	c.OpenAI.AllowInsecure = c.Providers.OpenAI.AllowInsecure
	key, base := "providers.openai.baseUrl", c.Providers.OpenAI.BaseURL
	if c.BaseURL != "" {
		key, base = "baseUrl", c.BaseURL
	}
	if fromEnv, _ := env.Lookup(openAIBaseURLEnv); fromEnv != "" && !flags.has("baseUrl") {
		key, base = openAIBaseURLEnv, fromEnv
	}
	if base == "" {
		base = openAIBaseURL
	}
	if bad := checkURL(key, base); bad != nil {
		return c.bad(bad)
	}
	c.OpenAI.BaseURL = strings.TrimRight(base, "/")
	if c.OpenAI.KeyMissing && c.Providers.OpenAI.APIKeyEnv == "" {
		u, err := url.Parse(base)
		c.OpenAI.KeyMissing = err == nil && strings.EqualFold(u.Hostname(), openAIHost)
	}
	return nil
}

func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
