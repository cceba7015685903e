// Package config makes one checked Config of flags, environment and the
// configuration file, in that order of precedence, over the defaults.
//
// One type (Settings) has every key of the file; one table (settings.go) knows
// those that have a flag too: its name, default, help and rules. Defaults, file
// and flags are put into that type one over the other, so that a value means
// the same and is refused alike wherever it stands.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
)

// Config is what the process works with.
type Config struct {
	Settings // of all sources together

	Names         []string         // the sessions' base list
	NamesFromFile bool             // no flag gave them
	InjectorFiles []string         // paths, in order
	RemindersFile string           // the user's own reminders; empty: nowhere to keep them
	Endpoints     []*Endpoint      // of the chosen provider, and of those that the file sets up
	Redactor      *redact.Redactor // of all secrets that the process was started with
	Warnings      []Warning        // for the log

	keys map[string]redact.Secret // of providers, by the variables that held them
	doc  *document                // the file, for the positions in errors; nil without one
}

// A Warning is something that works, but probably not as it was meant.
type Warning struct {
	Kind    string // redact_env_unset
	Message string
	Name    string // of what it is about
}

// Load reads the configuration. The error is an *Error. The Config is there
// also with an error: then it is what flags and environment say, so that a
// server can start, answer that it is misconfigured, and keep secrets while it
// does. Load takes the secrets out of the environment.
func Load(flags *Flags, env Env) (*Config, error) {
	c := &Config{}
	c.fillDefaults()
	c.Settings = flags.over(c.Settings)
	fileErr := c.readFile(flags, env)
	if err := errors.Join(fileErr, c.resolve(flags, env)); err != nil {
		return c, firstError(err)
	}
	return c, nil
}

func firstError(err error) *Error {
	var e *Error
	if !errors.As(err, &e) {
		return &Error{Message: err.Error()}
	}
	return e
}

// readFile puts the file's settings below those of the flags. Of a file that is
// not right only its secrets count.
func (c *Config) readFile(flags *Flags, env Env) error {
	path, named := configPath(flags, env)
	if path == "" {
		return nil
	}
	data, err := ReadFile(path, maxFileBytes)
	switch {
	case !named && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)):
		return nil
	case err != nil:
		return unreadableFile(path, named, err)
	}
	doc, err := parse(path, data)
	var settings Settings
	if err == nil {
		err = doc.decode(&settings)
	}
	if err != nil {
		c.Redact.Env = salvage(data, env)
		return err
	}
	settings.relativeTo(filepath.Dir(path), env)
	listed := settings.RedactEnv
	settings = flags.over(settings)
	if flags.has("redactEnv") { // a flag adds to the file's secrets, it exposes none
		settings.RedactEnv = slices.Concat(listed, settings.RedactEnv)
	}
	c.Settings, c.doc = settings, doc
	return nil
}

func unreadableFile(path string, named bool, err error) *Error {
	e := &Error{Path: path, Message: "can't be read: " + Reason(err), Hint: "check the path that --config gives"}
	if !named {
		e.Hint = "it is the default configuration file; --config names another"
	}
	return e
}

func configPath(flags *Flags, env Env) (path string, named bool) {
	if flags.Config != "" {
		return flags.Config, true
	}
	if dir := userFolder(env); dir != "" {
		return filepath.Join(dir, "config.yaml"), false
	}
	return "", false
}

// userFolder is where the user's configuration is; empty when nothing says.
func userFolder(env Env) string {
	if dir, ok := env.Lookup("XDG_CONFIG_HOME"); ok && filepath.IsAbs(dir) {
		return filepath.Join(dir, "prism-rpc")
	}
	if home := env.home(); home != "" {
		return filepath.Join(home, ".config", "prism-rpc")
	}
	return ""
}

// remindersFile is where a profile's reminders are kept (R6); that of the
// default profile stands beside the configuration.
func remindersFile(profile string, env Env) string {
	const name = "reminders.json"
	dir := userFolder(env)
	switch {
	case dir == "" || !filepath.IsAbs(dir):
		return ""
	case profile == "default":
		return filepath.Join(dir, name)
	}
	return filepath.Join(dir, "profiles", profile, name)
}

// relativeTo makes the paths that the file holds independent of the working
// directory.
func (s *Settings) relativeTo(dir string, env Env) {
	paths := []*string{&s.StoreDir, &s.MockScript, &s.LogFile, &s.TraceFile}
	for i := range vendors {
		e := vendors[i].settings(&s.Providers)
		paths = append(paths, &e.CAFile, &e.APIKeyFile)
	}
	for _, p := range paths {
		*p = absolute(*p, dir, env)
	}
	for _, list := range []Strings{s.InjectorFile, s.Workspace, s.TrustRoot} {
		for i, p := range list {
			list[i] = absolute(p, dir, env)
		}
	}
}

func absolute(path, dir string, env Env) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && env.home() != "" {
		return filepath.Join(env.home(), rest)
	}
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// resolve works out what depends on several settings or on the environment.
// Secrets come first and all of them, whatever else is wrong.
func (c *Config) resolve(flags *Flags, env Env) error {
	secretsErr := c.takeSecrets(env)
	c.RemindersFile = remindersFile(c.Profile, env)
	for _, w := range c.Reminders.Layer().Warnings {
		c.Warnings = append(c.Warnings, Warning{Kind: "config_warning", Message: "reminders: " + w, Name: "reminders"})
	}
	c.Names, c.InjectorFiles = c.InstructionInjectors, c.InjectorFile
	c.NamesFromFile = !flags.has("instruction")
	if c.Instruction.Given {
		c.Names = c.Instruction.Names
	}
	if c.Instruction.Off {
		c.Names, c.InjectorFiles = nil, nil
	}
	return errors.Join(secretsErr, c.checkNames(), c.resolveEndpoints(flags, env))
}

// checkNames refuses names that hold a secret: they are shown as they are.
func (c *Config) checkNames() error {
	named := map[string]string{"session": c.Session, "profile": c.Profile, "model": c.Model}
	for i, spec := range c.Injectors {
		named[fmt.Sprintf("injectors[%d].name", i)] = spec.Name
	}
	for i, name := range c.InstructionInjectors {
		named[fmt.Sprintf("instructionInjectors[%d]", i)] = name
	}
	named["instruction"] = strings.Join(c.Instruction.Names, "\n")
	for _, key := range slices.Sorted(maps.Keys(named)) {
		if c.Redactor.Contains(named[key]) {
			return c.Bad(key, "holds a known secret", "names are shown as they are: use another one")
		}
	}
	return nil
}

// Bad is an error about the value of a key: "providers.openai.baseUrl". It
// names the place in the file when the value stands there.
func (c *Config) Bad(key, message, hint string) *Error {
	e := &Error{Key: key, Message: message, Hint: hint}
	if c.doc != nil {
		if at, ok := c.doc.values[key]; ok {
			e.Path, e.Line, e.Column = c.doc.path, at.line, at.column
		}
	}
	return e
}

// bad is Bad for an error that names its field itself.
func (c *Config) bad(err *schema.ParamsError) *Error {
	return c.Bad(err.Errors[0].Field, err.Errors[0].Message, "")
}
