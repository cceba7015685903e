package config

import (
	"cmp"
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

// OpenAI is how to reach the Chat Completions API.
type OpenAI struct {
	BaseURL       string
	BaseURLFrom   string // the key or variable that says so; empty: nobody
	Key           redact.Secret
	KeyEnv        string // the variable that holds the key, or should
	KeyMissing    bool   // there is none, and the server needs one
	AllowInsecure bool
	CAFile        string // whom TLS trusts; empty: the system's roots
}

// UsesOpenAI tells whether a turn can be answered by the openai provider.
func (c *Config) UsesOpenAI() bool {
	return c.Provider == "openai" || c.Providers.OpenAI != OpenAISettings{}
}

// takeSecrets reads the provider's key and every variable to redact, removes
// them from the environment, and makes the Redactor of those that it can.
func (c *Config) takeSecrets(env Env) error {
	secrets, taken := c.takeKey(env)
	for _, s := range c.envSecrets() {
		value, _ := env.Lookup(s.Env)
		if strings.TrimSpace(value) == "" {
			c.Warnings = append(c.Warnings, Warning{KindRedactEnvUnset, "a variable to redact is not set", s.Env})
			continue
		}
		taken = append(taken, s.Env)
		secrets = append(secrets, redact.Value{Name: cmp.Or(s.Name, s.Env), Secret: redact.NewSecret(value), Short: s.Short})
	}
	var errs []error
	for _, name := range taken {
		errs = append(errs, env.Unset(name))
	}
	return errors.Join(append(errs, c.hide(secrets))...)
}

// hide makes the Redactor. A value that can't be redacted is an error, and the
// others are redacted all the same.
func (c *Config) hide(secrets []redact.Value) error {
	all, err := redact.New(secrets...)
	if err == nil {
		c.Redactor = all
		return nil
	}
	var errs []error
	for _, s := range secrets {
		more, err := c.Redactor.With(s)
		switch {
		case err == nil:
			c.Redactor = more
		case errors.Is(err, redact.ErrShort):
			errs = append(errs, c.Bad("redact.env", "the value of "+s.Name+" is shorter than 8 bytes, so that hiding it could hide ordinary text",
				"to hide it all the same, list it with short: true under redact.env in the configuration file"))
		default:
			errs = append(errs, c.Bad("redact.env", "the value of "+s.Name+" can't be told from the text around it", "use another secret"))
		}
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

// takeKey reads the provider's key, which is a secret whatever its length and
// whichever provider is chosen.
func (c *Config) takeKey(env Env) (secrets []redact.Value, taken []string) {
	name := cmp.Or(c.Providers.OpenAI.APIKeyEnv, openAIKeyEnv)
	value, _ := env.Lookup(name)
	value = strings.TrimSpace(value)
	c.OpenAI.KeyEnv, c.OpenAI.KeyMissing = name, value == ""
	if value == "" {
		return nil, nil
	}
	c.OpenAI.Key = redact.NewSecret(value)
	return []redact.Value{{Name: name, Secret: c.OpenAI.Key, Short: true}}, []string{name}
}

// resolveOpenAI settles where the provider is and whether it can be called
// without a key. The key comes from the same environment as any URL here, so
// that it may travel to whichever host is named.
func (c *Config) resolveOpenAI(flags *Flags, env Env) error {
	if !c.UsesOpenAI() {
		return nil
	}
	c.OpenAI.AllowInsecure, c.OpenAI.CAFile = c.Providers.OpenAI.AllowInsecure, c.Providers.OpenAI.CAFile
	key, base := "providers.openai.baseUrl", c.Providers.OpenAI.BaseURL
	if c.BaseURL != "" {
		key, base = "baseUrl", c.BaseURL
	}
	if fromEnv, _ := env.Lookup(openAIBaseURLEnv); fromEnv != "" && !flags.has("baseUrl") {
		key, base = openAIBaseURLEnv, fromEnv
	}
	if base == "" {
		key, base = "", openAIBaseURL
	}
	if bad := checkURL(key, base); bad != nil {
		return c.bad(bad)
	}
	c.OpenAI.BaseURL, c.OpenAI.BaseURLFrom = strings.TrimRight(base, "/"), key
	if c.OpenAI.KeyMissing && c.Providers.OpenAI.APIKeyEnv == "" {
		u, err := url.Parse(base)
		c.OpenAI.KeyMissing = err == nil && strings.EqualFold(u.Hostname(), openAIHost)
	}
	return nil
}
