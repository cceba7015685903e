package config

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/prism-rpc/prism-rpc/redact"
)

// KindRedactEnvUnset is the kind of a warning about a variable that was to be
// redacted but is not set.
const KindRedactEnvUnset = "redact_env_unset"

// takeSecrets reads the providers' keys and every variable to redact, removes
// them from the environment, and makes the Redactor of those that it can.
func (c *Config) takeSecrets(env Env) error {
	secrets, taken := c.takeKeys(env)
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
	c.Redactor = (*redact.Redactor)(nil).WithRules(c.rules())
	all, err := c.Redactor.With(secrets...)
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

// rules are the formats of keys that are redacted.
func (c *Config) rules() redact.Rules {
	switch cmp.Or(c.RedactRules, c.Redact.Rules) {
	case "off":
		return redact.NoRules
	case "strict":
		return redact.StrictRules
	}
	return redact.DefaultRules
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
