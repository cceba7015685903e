package config

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/prism-rpc/prism-rpc/schema"
)

// A Setting is one thing that a flag sets, and so does the key of the same
// name in the file. A value keeps the same rules in both.
type Setting struct {
	Key     string // in the file
	Flag    string
	Arg     string // what help shows for the value; with "|" all that it can be
	Group   string // of help
	Default string // as the flag would give it
	Help    string

	field func(*Settings) any       // a *string, *bool, *int, *Duration, *Age, *Strings or *Instruction
	rule  func(value string) string // what is wrong with a text, or with each of a list; nil: nothing
}

// Groups are the headings of help, in order.
func Groups() []string {
	return []string{"Provider", "Instructions", "Sessions", "Secrets", "Connection", "Logs"}
}

// Table is every setting that has a flag. It is not to be changed.
func Table() []Setting { return table }

var table = []Setting{
	{"provider", "provider", "mock|openai|openai-responses|anthropic", "Provider", "", "which provider answers",
		func(s *Settings) any { return &s.Provider }, nil},
	{"model", "model", "NAME", "Provider", "", "the model to ask",
		func(s *Settings) any { return &s.Model }, atMost(256)},
	{"baseUrl", "base-url", "URL", "Provider", "", "where the provider is (or OPENAI_BASE_URL, ANTHROPIC_BASE_URL)",
		func(s *Settings) any { return &s.BaseURL }, urlFault},
	{"providerTimeout", "provider-timeout", "DURATION", "Provider", "60s", "the longest silence of a provider",
		func(s *Settings) any { return &s.ProviderTimeout }, nil},
	{"mockScript", "mock-script", "FILE", "Provider", "", "what the mock answers, as YAML",
		func(s *Settings) any { return &s.MockScript }, nil},

	{"system", "system", "TEXT", "Instructions", "", "the base of the system prompt",
		func(s *Settings) any { return &s.System }, atMost(schema.MaxInjectorBytes)},
	{"instruction", "instruction", "NAME", "Instructions", "", "select an injector for every session (repeatable); false: none",
		func(s *Settings) any { return &s.Instruction }, nil},
	{"injectorFile", "injector-file", "FILE", "Instructions", "", "inject this file's text on every turn (repeatable)",
		func(s *Settings) any { return &s.InjectorFile }, nil},
	{"discover", "discover", "", "Instructions", "", "find bundles in .agents/instructions of each workspace",
		func(s *Settings) any { return &s.Discover }, nil},
	{"discoverKinds", "discover-kinds", "KINDS", "Instructions", "instructions", "what to find, with commas between",
		func(s *Settings) any { return &s.DiscoverKinds }, kindsFault},
	{"workspace", "workspace", "DIR", "Instructions", "", "where to look (repeatable); default is the working directory",
		func(s *Settings) any { return &s.Workspace }, nil},
	{"trustRoot", "trust-root", "DIR", "Instructions", "", "trust bundles and files below this folder (repeatable)",
		func(s *Settings) any { return &s.TrustRoot }, nil},
	{"watch", "watch", "", "Instructions", "", "take up bundles that change, when they do",
		func(s *Settings) any { return &s.Watch }, nil},
	{"moduleLoader", "module-loader", "none|wasm|client", "Instructions", "none", "what runs the code that a bundle names",
		func(s *Settings) any { return &s.ModuleLoader }, nil},
	{"injectorTimeout", "injector-timeout", "DURATION", "Instructions", "5s", "how long an injector may take",
		func(s *Settings) any { return &s.InjectorTimeout }, nil},

	{"session", "session", "ID", "Sessions", "", "the default session, made on first use",
		func(s *Settings) any { return &s.Session }, idFault},
	{"store", "store", "file|memory", "Sessions", "file", "where sessions are kept",
		func(s *Settings) any { return &s.Store }, nil},
	{"storeDir", "store-dir", "DIR", "Sessions", "", "the folder of the file store",
		func(s *Settings) any { return &s.StoreDir }, nil},
	{"profile", "profile", "NAME", "Sessions", "default", "sessions of another profile are apart",
		func(s *Settings) any { return &s.Profile }, idFault},
	{"retain", "retain", "AGE", "Sessions", "", "delete sessions untouched for so long, such as 90d",
		func(s *Settings) any { return &s.Retain }, nil},

	{"redactEnv", "redact-env", "NAME", "Secrets", "", "never write the value of this environment variable (repeatable)",
		func(s *Settings) any { return &s.RedactEnv }, variableFault},
	{"redactRules", "redact-rules", "default|off|strict", "Secrets", "", "never write what looks like a well-known key (default);\n                               strict: nor what is assigned to a password or token",
		func(s *Settings) any { return &s.RedactRules }, nil},
	{"debuggable", "debuggable", "", "Secrets", "", "let debuggers and core files look into the process",
		func(s *Settings) any { return &s.Debuggable }, nil},

	{"framing", "framing", "auto|lines|headers", "Connection", "auto", "how messages stand in the stream",
		func(s *Settings) any { return &s.Framing }, nil},
	{"maxFrame", "max-frame", "BYTES", "Connection", "67108864", "the largest message taken",
		func(s *Settings) any { return &s.MaxFrame }, nil},
	{"onEof", "on-eof", "drain|cancel", "Connection", "drain", "what the end of input does to running turns",
		func(s *Settings) any { return &s.OnEOF }, nil},
	{"drainTimeout", "drain-timeout", "DURATION", "Connection", "30s", "how long the end of input waits for them",
		func(s *Settings) any { return &s.DrainTimeout }, nil},
	{"parentWatch", "parent-watch", "on|off", "Connection", "on", "end when the process that started this one has ended",
		func(s *Settings) any { return &s.ParentWatch }, nil},

	{"logLevel", "log-level", "debug|info|warn|error", "Logs", "error", "what is logged",
		func(s *Settings) any { return &s.LogLevel }, nil},
	{"logFile", "log-file", "FILE", "Logs", "", "where to; default is stderr",
		func(s *Settings) any { return &s.LogFile }, nil},
	{"traceFile", "trace-file", "FILE", "Logs", "", "append each message here, redacted, for replay",
		func(s *Settings) any { return &s.TraceFile }, nil},
}

// Choices are the words that the value can be; nil when it can be others.
func (t *Setting) Choices() []string {
	if !strings.Contains(t.Arg, "|") {
		return nil
	}
	return strings.Split(t.Arg, "|")
}

// repeatable tells whether the flag may be given several times.
func (t *Setting) repeatable() bool {
	switch t.field(&Settings{}).(type) {
	case *Strings, *Instruction:
		return true
	}
	return false
}

// isSwitch tells whether the flag may stand without a value.
func (t *Setting) isSwitch() bool {
	_, ok := t.field(&Settings{}).(*bool)
	return ok
}

// set puts flag values into s: the last of them, or all where the flag is
// repeatable. It returns what is wrong with them.
func (t *Setting) set(s *Settings, values []string) string {
	last := values[len(values)-1]
	switch field := t.field(s).(type) {
	case *string:
		*field = last
	case *bool:
		if last != "true" && last != "false" {
			return "must be true or false"
		}
		*field = last == "true"
	case *int:
		n, err := strconv.Atoi(last)
		if err != nil {
			return frameRange
		}
		*field = n
	case *Duration:
		if !field.parse(last) {
			return durationShape
		}
	case *Age:
		if !field.parse(last) {
			return ageShape
		}
	case *Strings:
		*field = values
	case *Instruction:
		return field.take(values)
	}
	return t.fault(s)
}

// fault is what is wrong with the setting's value in s; empty when nothing is.
func (t *Setting) fault(s *Settings) string {
	switch field := t.field(s).(type) {
	case *string:
		return t.textFault(*field)
	case *int:
		if *field < minFrame || *field > maxFrame {
			return frameRange
		}
	case *Strings:
		for _, value := range *field {
			if value == "" {
				return "has an empty entry"
			}
			if bad := t.textFault(value); bad != "" {
				return bad
			}
		}
		if repeats(*field) {
			return "is given twice"
		}
	}
	return ""
}

func (t *Setting) textFault(value string) string {
	switch choices := t.Choices(); {
	case value == "":
		return ""
	case choices != nil && !slices.Contains(choices, value):
		return "must be one of: " + strings.Join(choices, ", ")
	case t.rule != nil:
		return t.rule(value)
	}
	return ""
}

const (
	minFrame   = 4 << 10
	maxFrame   = 1 << 30
	frameRange = "must be a number of bytes from 4096 to 1073741824"
)

func idFault(value string) string {
	if schema.ValidSessionID(value) {
		return ""
	}
	return "must be 1 to 128 of A-Z a-z 0-9 . _ -, not begin with . or -, not end with a dot, and not be a Windows device name"
}

func atMost(limit int) func(string) string {
	return func(value string) string {
		if len(value) <= limit {
			return ""
		}
		return "must be at most " + strconv.Itoa(limit) + " bytes"
	}
}

func repeats(values []string) bool {
	seen := map[string]bool{}
	for _, v := range values {
		if seen[v] {
			return true
		}
		seen[v] = true
	}
	return false
}

// Flags collects what the command line says.
type Flags struct {
	Config string // --config: the file to read
	given  map[string][]string
}

// Register adds --config and a flag for each setting, or for each of those
// keys. Several sets may have the same flags when one of them is parsed.
func (f *Flags) Register(fs *pflag.FlagSet, keys ...string) {
	f.given = map[string][]string{}
	fs.StringVar(&f.Config, "config", "", "the configuration file")
	for i := range table {
		if t := &table[i]; keys == nil || slices.Contains(keys, t.Key) {
			added := fs.VarPF(&flagValue{f, t}, t.Flag, "", t.Help)
			if t.isSwitch() {
				added.NoOptDefVal = "true"
			}
		}
	}
}

func (f *Flags) has(key string) bool { return f.given[key] != nil }

// over puts the flags on top of s.
func (f *Flags) over(s Settings) Settings {
	for i := range table {
		if values := f.given[table[i].Key]; values != nil {
			table[i].set(&s, values) // they were checked when they were given
		}
	}
	return s
}

// flagValue is one setting as a flag.
type flagValue struct {
	flags *Flags
	*Setting
}

// String is empty: help shows defaults by itself.
func (v *flagValue) String() string { return "" }

// Type is what the flag's value is called.
func (v *flagValue) Type() string { return v.Arg }

// Set takes a value that keeps the setting's rules.
func (v *flagValue) Set(value string) error {
	values := []string{value}
	if v.repeatable() {
		values = slices.Concat(v.flags.given[v.Key], values)
	}
	if bad := v.set(&Settings{}, values); bad != "" {
		return &UsageError{Message: bad}
	}
	v.flags.given[v.Key] = values
	return nil
}

// fillDefaults gives a value to what has none, or an empty one.
func (s *Settings) fillDefaults() {
	for i := range table {
		if t := &table[i]; t.Default != "" && t.isEmpty(s) {
			t.set(s, []string{t.Default})
		}
	}
}

func (t *Setting) isEmpty(s *Settings) bool {
	switch field := t.field(s).(type) {
	case *string:
		return *field == ""
	case *int:
		return *field == 0
	case *Duration:
		return *field == 0
	case *Strings:
		return len(*field) == 0
	}
	return false
}
