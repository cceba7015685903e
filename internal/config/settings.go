package config

import (
	"sort"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/pflag"

	"github.com/prism-rpc/prism-rpc/internal/plain"
	"github.com/prism-rpc/prism-rpc/schema"
)

// A Setting is one thing that a flag sets, and so does the key of the same
// name in the file.
type Setting struct {
	Key     string // in the file
	Flag    string
	Arg     string // what help shows for the value
	Group   string // of help
	Default string // as the flag would give it
	Help    string
	kind    jsontext.Kind // of the value: string, number or array (may be repeated)
}

// Groups are the headings of help, in order.
func Groups() []string {
	return []string{"Provider", "Instructions", "Sessions", "Secrets", "Connection", "Logs"}
}

const (
	text   = jsontext.KindString
	number = jsontext.KindNumber
	list   = jsontext.KindBeginArray
)

// Table is every setting that has a flag. It is not to be changed.
func Table() []Setting { return table }

var table = []Setting{
	{"provider", "provider", "mock|openai", "Provider", "", "which provider answers", text},
	{"model", "model", "NAME", "Provider", "", "the model to ask", text},
	{"baseUrl", "base-url", "URL", "Provider", "", "where the provider is, with its /v1 (or OPENAI_BASE_URL)", text},
	{"providerTimeout", "provider-timeout", "DURATION", "Provider", "60s", "the longest silence of a provider", text},
	{"mockScript", "mock-script", "FILE", "Provider", "", "what the mock answers, as YAML", text},

	{"system", "system", "TEXT", "Instructions", "", "the base of the system prompt", text},
	{"instruction", "instruction", "NAME", "Instructions", "", "select an injector for every session (repeatable); false: none", list},
	{"injectorFile", "injector-file", "FILE", "Instructions", "", "inject this file's text on every turn (repeatable)", list},
	{"injectorTimeout", "injector-timeout", "DURATION", "Instructions", "5s", "how long an injector may take", text},

	{"session", "session", "ID", "Sessions", "", "the default session, made on first use", text},
	{"store", "store", "file|memory", "Sessions", "file", "where sessions are kept", text},
	{"storeDir", "store-dir", "DIR", "Sessions", "", "the folder of the file store", text},
	{"profile", "profile", "NAME", "Sessions", "default", "sessions of another profile are apart", text},

	{"redactEnv", "redact-env", "NAME", "Secrets", "", "never write the value of this environment variable (repeatable)", list},

	{"framing", "framing", "auto|lines|headers", "Connection", "auto", "how messages stand in the stream", text},
	{"maxFrame", "max-frame", "BYTES", "Connection", "67108864", "the largest message taken", number},
	{"onEof", "on-eof", "drain|cancel", "Connection", "drain", "what the end of input does to running turns", text},
	{"drainTimeout", "drain-timeout", "DURATION", "Connection", "30s", "how long the end of input waits for them", text},

	{"logLevel", "log-level", "debug|info|warn|error", "Logs", "error", "what is logged", text},
	{"logFile", "log-file", "FILE", "Logs", "", "where to; default is stderr", text},
}

// Flags collects what the command line says.
type Flags struct {
	Config string // --config: the file to read
	given  map[string][]string
}

// Register adds --config and a flag for each setting.
func (f *Flags) Register(fs *pflag.FlagSet) {
	f.given = map[string][]string{}
	fs.StringVar(&f.Config, "config", "", "the configuration file")
	for _, s := range table {
		fs.Var(&flagValue{f, s}, s.Flag, s.Help)
	}
}

func (f *Flags) has(key string) bool { return f.given[key] != nil }

// flagValue is one setting as a flag.
type flagValue struct {
	flags *Flags
	Setting
}

// String is empty: help shows defaults by itself.
func (v *flagValue) String() string { return "" }

// Type is what the flag's value is called.
func (v *flagValue) Type() string { return v.Arg }

// Set takes a value that keeps the setting's rules.
func (v *flagValue) Set(value string) error {
	values := []string{value}
	if v.kind == list {
		values = append(append([]string{}, v.flags.given[v.Key]...), value)
	}
	var alone Settings
	if err := schema.Decode(encode(map[string][]string{v.Key: values}), &alone); err != nil {
		return flagError(err)
	}
	if repeats(values) {
		return &UsageError{Message: "is given twice"}
	}
	v.flags.given[v.Key] = values
	return nil
}

func flagError(err error) error {
	var bad *schema.ParamsError
	if asParams(err, &bad) {
		return &UsageError{Message: bad.Errors[0].Message}
	}
	return err
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

// over puts the flags on top of s.
func (f *Flags) over(s Settings) (Settings, error) {
	if len(f.given) == 0 {
		return s, nil
	}
	err := schema.Decode(encode(f.given), &s)
	return s, err
}

// encode writes flags as the file would say them. A number that is none stays
// a string, for the decoder to refuse.
func encode(given map[string][]string) []byte {
	doc := map[string]any{}
	for _, s := range table {
		values, ok := given[s.Key]
		switch {
		case !ok:
		case s.kind == list:
			doc[s.Key] = values
		default:
			doc[s.Key] = scalar(s.kind, values[0])
		}
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		panic("flags are strings, which always encode: " + err.Error())
	}
	return raw
}

func scalar(kind jsontext.Kind, value string) any {
	if kind == number {
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			return n
		}
	}
	return value
}

// defaultSettings are the table's defaults.
func defaultSettings() Settings {
	given := map[string][]string{}
	for _, s := range table {
		if s.Default != "" {
			given[s.Key] = []string{s.Default}
		}
	}
	var settings Settings
	if err := schema.Decode(encode(given), &settings); err != nil {
		panic("the defaults keep the rules: " + err.Error())
	}
	return settings
}

// NearestFlag is the flag that was probably meant by name, both without
// dashes; empty when none is near.
func NearestFlag(name string) string {
	var known []string
	for _, s := range table {
		known = append(known, s.Flag)
	}
	known = append(known, "config", "mode", "prompt", "help")
	sort.Strings(known)
	return plain.Nearest(strings.TrimLeft(name, "-"), known)
}
