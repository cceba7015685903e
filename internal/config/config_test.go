package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An environment is a fake of the process's.
type environment map[string]string

func (e environment) env() Env {
	return Env{
		Lookup: func(name string) (string, bool) { v, ok := e[name]; return v, ok },
		Unset:  func(name string) error { delete(e, name); return nil },
	}
}

func flags(t *testing.T, args ...string) *Flags {
	t.Helper()
	f := &Flags{}
	fs := pflag.NewFlagSet("t", pflag.ContinueOnError)
	f.Register(fs)
	require.NoError(t, fs.Parse(args))
	return f
}

// load reads file as --config, with further flags.
func load(t *testing.T, file string, e environment, args ...string) (*Config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.yaml")
	require.NoError(t, os.WriteFile(path, []byte(file), 0o600))
	return Load(flags(t, append(args, "--config", path)...), e.env())
}

func TestLoadRefusesAndSaysWhere(t *testing.T) {
	cases := map[string]struct {
		file            string
		line, column    int
		key, suggestion string
	}{
		"a misspelt key":                     {"provider: mock\nmodle: x\n", 2, 1, "modle", "model"},
		"a key in the wrong case":            {"storedir: /x\n", 1, 1, "storedir", "storeDir"},
		"a misspelt key of an injector":      {"injectors:\n  - name: a\n    whne: every_turn\n", 3, 5, "injectors[0].whne", "when"},
		"a misspelt key of a provider":       {"providers:\n  openai:\n    baseURL: x\n", 3, 5, "providers.openai.baseURL", "baseUrl"},
		"a misspelt key of a secret":         {"redact:\n  env:\n    - {env: A, shrot: true}\n", 3, 16, "redact.env[0].shrot", "short"},
		"a misspelt key of a block":          {"context:\n  blocks:\n    - {titel: A, content: b}\n", 3, 8, "context.blocks[0].titel", "title"},
		"a key of no kind":                   {"hologram: {enabled: true}\n", 1, 1, "hologram", ""},
		"a key that looks like an index":     {"\"7\": x\n", 1, 1, "[7]", ""},
		"an unknown provider":                {"provider: antropic\n", 1, 11, "provider", ""},
		"a provider of another file":         {"providers: {other: {}}\n", 1, 13, "providers.other", ""},
		"a number where text belongs":        {"injectors:\n- name: 123\n", 2, 9, "injectors[0].name", ""},
		"a switch where text belongs":        {"system: true\n", 1, 9, "system", ""},
		"a word where a switch belongs":      {"providers:\n  openai: {allowInsecure: yes}\n", 2, 27, "providers.openai.allowInsecure", ""},
		"a list where an object belongs":     {"redact: []\n", 1, 9, "redact", ""},
		"a duration without a unit":          {"drainTimeout: 30\n", 1, 15, "drainTimeout", ""},
		"a duration below zero":              {"drainTimeout: -3s\n", 1, 15, "drainTimeout", ""},
		"a frame that holds no message":      {"maxFrame: 3\n", 1, 11, "maxFrame", ""},
		"an injector without a time":         {"injectors:\n  - name: a\n    instructions: x\n", 2, 5, "injectors[0].when", ""},
		"an injector with an unknown time":   {"injectors: [{name: a, when: always, instructions: x}]\n", 1, 29, "injectors[0].when", ""},
		"an injector without text":           {"injectors:\n  - {name: b, when: every_turn, instructions: x}\n  - {name: a, when: every_turn}\n", 3, 5, "injectors[1].instructions", ""},
		"two injectors of one name":          {"injectors:\n  - {name: a, when: every_turn, instructions: x}\n  - {name: a, when: every_turn, instructions: y}\n", 3, 12, "injectors[1].name", ""},
		"an injector named false":            {"injectors: [{name: \"false\", when: every_turn, instructions: x}]\n", 1, 20, "injectors[0].name", ""},
		"an injector twice in the base list": {"instructionInjectors: [a, b, a]\n", 1, 30, "instructionInjectors[2]", ""},
		"the base list in two forms":         {"instructionInjectors: [a]\ninstruction: b\n", 2, 14, "instruction", ""},
		"a layer of no source":               {"layers:\n  - {source: base, text: x}\n", 2, 14, "layers[0].source", ""},
		"a block without content":            {"context:\n  blocks: [{title: x}]\n", 2, 12, "context.blocks[0].content", ""},
		"A5 an ambient block of two lines":   {"contextBlocks:\n  - {name: a, content: x}\n  - {name: \"a\\nb\", content: x}\n", 3, 12, "contextBlocks[1].name", ""},
		"A2 an ambient block without a name": {"contextBlocks: [{content: x}]\n", 1, 17, "contextBlocks[0].name", ""},
		"A2 a misspelt key of one":           {"contextBlocks: [{naem: x}]\n", 1, 18, "contextBlocks[0].naem", "name"},
		"A3 a module that there isn't":       {"modules: {todo: true}\n", 1, 11, "modules.todo", "todos"},
		"A3 a path that is none":             {"protectedPaths: [a, \"\"]\n", 1, 21, "protectedPaths[1]", ""},
		"A1 a word where on or off belongs":  {"contextInjections: sometimes\n", 1, 20, "contextInjections", ""},
		"a URL of another scheme":            {"providers: {openai: {baseUrl: ftp://x}}\n", 1, 31, "providers.openai.baseUrl", ""},
		"a URL with a password":              {"baseUrl: http://u:p@h/v1\n", 1, 10, "baseUrl", ""},
		"a URL in two places, another way":   {"provider: anthropic\nbaseUrl: http://h\nproviders: {anthropic: {baseUrl: http://h}}\n", 2, 10, "baseUrl", ""},
		"a long URL":                         {"providers: {anthropic: {baseUrl: \"http://" + strings.Repeat("x", 5000) + "\"}}\n", 1, 34, "providers.anthropic.baseUrl", ""},
		"a key in two places":                {"providers: {anthropic: {apiKeyEnv: K, apiKeyFile: k}}\n", 1, 51, "providers.anthropic.apiKeyFile", ""},
		"a command of nothing":               {"providers: {openai: {apiKeyCommand: []}}\n", 1, 37, "providers.openai.apiKeyCommand", ""},
		"a command that is no list":          {"providers: {openai: {apiKeyCommand: op read x}}\n", 1, 37, "providers.openai.apiKeyCommand", ""},
		"another provider's key":             {"providers: {openai: {version: x}}\n", 1, 22, "providers.openai.version", ""},
		"a misspelt key of what they share":  {"providers: {openai-responses: {apiKeyFiel: x}}\n", 1, 32, "providers.openai-responses.apiKeyFiel", "apiKeyFile"},
		"a version that no header takes":     {"providers: {anthropic: {version: \"a b\"}}\n", 1, 34, "providers.anthropic.version", ""},
		"a time that no cache keeps":         {"providers: {anthropic: {cacheTtl: 2h}}\n", 1, 35, "providers.anthropic.cacheTtl", ""},
		"a URL in two places":                {"baseUrl: http://h/v1\nproviders: {openai: {baseUrl: http://h/v1}}\n", 1, 10, "baseUrl", ""},
		"a secret instead of its variable":   {"providers: {openai: {apiKeyEnv: sk-abcdefghijkl}}\n", 1, 33, "providers.openai.apiKeyEnv", ""},
		"a session id that is none":          {"session: ../x\n", 1, 10, "session", ""},
		"a profile that leaves its folder":   {"profile: ../x\n", 1, 10, "profile", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := load(t, c.file, environment{})
			var bad *Error
			require.ErrorAs(t, err, &bad)
			assert.Equal(t, [2]int{c.line, c.column}, [2]int{bad.Line, bad.Column}, bad.Error())
			assert.Equal(t, c.key, bad.Key)
			assert.Equal(t, c.suggestion, bad.Suggestion)
			assert.Equal(t, "c.yaml", filepath.Base(bad.Path))
			assert.NotContains(t, bad.Error(), "sk-abcdefghijkl")
		})
	}
}

func TestLoadSaysToQuote(t *testing.T) {
	_, err := load(t, "model: 123\n", environment{})
	var bad *Error
	require.ErrorAs(t, err, &bad)
	assert.Contains(t, bad.Hint, "quotes")
}

func TestLoadWholeFile(t *testing.T) {
	c, err := load(t, `
provider: openai
model: qwen3
providers:
  openai: {baseUrl: "http://127.0.0.1:11434/v1/", apiKeyEnv: MY_KEY}
system: You are helpful.
layers: [{source: user, mode: append, text: Prefer short answers.}]
injectors:
  - {name: json-always, when: every_turn, instructions: Always answer in JSON.}
  - {name: project, when: first_turn, contextBlocks: [{title: Repo, content: A monorepo.}]}
instructionInjectors: [json-always, later]
redact: {env: [DB_PASSWORD, {name: pin, env: PIN, short: true}]}
context: {layout: legacy, blocks: [{title: T, content: c}]}
drainTimeout: 90s
storeDir: state
mockScript: ~/mock.yaml
`, environment{"MY_KEY": "sk-0123456789", "DB_PASSWORD": "correct horse", "PIN": "1234", "HOME": "/home/x", "USERPROFILE": "/home/x"})
	require.NoError(t, err)
	assert.Equal(t, []string{"json-always", "later"}, c.Names, "P3: an unknown name is left to the turn")
	assert.Equal(t, Duration(90*time.Second), c.DrainTimeout)
	assert.Equal(t, "http://127.0.0.1:11434/v1", c.Endpoint("openai").BaseURL)
	assert.False(t, c.Endpoint("openai").KeyMissing)
	assert.True(t, filepath.IsAbs(c.StoreDir), "relative to the file, not to the working directory")
	assert.Equal(t, filepath.FromSlash("/home/x/mock.yaml"), c.MockScript)
	assert.Equal(t, "A monorepo.", c.Injectors[1].ContextBlocks[0].Content[0].Text)
	assert.Equal(t, "[REDACTED:MY_KEY] [REDACTED:DB_PASSWORD] [REDACTED:pin]", c.Redactor.Text("sk-0123456789 correct horse 1234", nil))
	assert.Equal(t, 64<<20, c.MaxFrame, "what nobody sets has its default")
}

func TestLoadPrecedence(t *testing.T) {
	file := "provider: mock\nmodel: filed\nsystem: filed\nbaseUrl: http://file/v1\nproviders: {openai: {allowInsecure: true}}\n"
	c, err := load(t, file, environment{"OPENAI_BASE_URL": "http://env/v1"}, "--model", "flagged")
	require.NoError(t, err)
	assert.Equal(t, "flagged", c.Model, "a flag comes before the file")
	assert.Equal(t, "filed", c.System, "the file comes before the default")
	assert.Equal(t, "http://env/v1", c.Endpoint("openai").BaseURL, "the environment comes before the file")

	c, err = load(t, file, environment{"OPENAI_BASE_URL": "http://env/v1"}, "--base-url", "http://flag/v1")
	require.NoError(t, err)
	assert.Equal(t, "http://flag/v1", c.Endpoint("openai").BaseURL, "a flag comes before the environment")
}

func TestLoadTakesNothingForTheDefault(t *testing.T) {
	file := ""
	for _, s := range Table() {
		file += s.Key + ":\n" // null
	}
	c, err := load(t, file, environment{})
	require.NoError(t, err)
	var want Settings
	want.fillDefaults()
	assert.Equal(t, want, c.Settings)
	assert.Equal(t, "default", c.Profile)
}

func TestLoadDefaultFile(t *testing.T) {
	dir := t.TempDir()
	c, err := Load(flags(t), environment{"XDG_CONFIG_HOME": dir}.env())
	require.NoError(t, err, "a default file need not exist")
	assert.Empty(t, c.Provider)

	require.NoError(t, os.MkdirAll(filepath.Join(dir, "prism-rpc"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "prism-rpc", "config.yaml"), []byte("provider: mock\n"), 0o600))
	c, err = Load(flags(t), environment{"XDG_CONFIG_HOME": dir}.env())
	require.NoError(t, err)
	assert.Equal(t, "mock", c.Provider)

	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	_, err = Load(flags(t), environment{"XDG_CONFIG_HOME": filepath.Join(dir, "file")}.env())
	require.NoError(t, err, "nor its folder")

	require.NoError(t, os.Remove(filepath.Join(dir, "prism-rpc", "config.yaml")))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "prism-rpc", "config.yaml"), 0o700))
	_, err = Load(flags(t), environment{"XDG_CONFIG_HOME": dir}.env())
	var wrong *Error
	require.ErrorAs(t, err, &wrong)
	assert.Contains(t, wrong.Error(), filepath.Join(dir, "prism-rpc", "config.yaml"), "nobody named it: say which it is")
	assert.NotContains(t, wrong.Hint, "check the path")

	_, err = Load(flags(t, "--config", filepath.Join(dir, "none.yaml")), environment{}.env())
	var bad *Error
	require.ErrorAs(t, err, &bad, "a named file must exist")
}

func TestLoadReadsNothingOfTheWorkingDirectory(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"config.yaml", "prism-rpc.yaml", ".env", "prism-rpc/config.yaml"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(t, os.WriteFile(name, []byte("provider: mock\n"), 0o600))
	}
	c, err := Load(flags(t), environment{"XDG_CONFIG_HOME": "."}.env())
	require.NoError(t, err)
	assert.Empty(t, c.Provider)
}

func TestLoadSizeCap(t *testing.T) {
	_, err := load(t, "system: x\n#"+strings.Repeat("x", maxFileBytes), environment{})
	var bad *Error
	require.ErrorAs(t, err, &bad)
}

func TestP24BaseListFromFlags(t *testing.T) {
	file := "instructionInjectors: [filed]\ninjectorFile: rules.md\n"
	cases := map[string]struct {
		args         []string
		names, files []string
	}{
		"the file's list":                      {nil, []string{"filed"}, []string{"rules.md"}},
		"names replace the file's list":        {[]string{"--instruction", "a", "--instruction", "b"}, []string{"a", "b"}, []string{"rules.md"}},
		"false empties list and files":         {[]string{"--instruction", "false"}, nil, nil},
		"false empties the flags' files too":   {[]string{"--instruction=false", "--injector-file", "/x.md"}, nil, nil},
		"files of flags replace those of file": {[]string{"--injector-file", "/x.md"}, []string{"filed"}, []string{"x.md"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := load(t, file, environment{}, c.args...)
			require.NoError(t, err)
			assert.Equal(t, c.names, got.Names)
			var files []string
			for _, f := range got.InjectorFiles {
				files = append(files, filepath.Base(f))
			}
			assert.Equal(t, c.files, files)
		})
	}
}

func TestFlagsRefuse(t *testing.T) {
	cases := map[string][]string{
		"P2: a name twice":         {"--instruction", "a", "--instruction", "a"},
		"false beside a name":      {"--instruction", "a", "--instruction", "false"},
		"a name beside false":      {"--instruction", "false", "--instruction", "a"},
		"an unknown provider":      {"--provider", "x"},
		"a duration without unit":  {"--drain-timeout", "30"},
		"a size that is none":      {"--max-frame", "big"},
		"an unknown flag":          {"--whatever"},
		"an empty injector name":   {"--instruction", ""},
		"an empty file name":       {"--injector-file", ""},
		"a URL that is none":       {"--base-url", "localhost:1234"},
		"a secret for its name":    {"--redact-env", "s3cr3t!"},
		"a session that is a path": {"--session", "../x"},
		"a frame of nothing":       {"--max-frame", "0"},
		"an age without a unit":    {"--retain", "90"},
		"an age of nothing":        {"--retain", "0d"},
		"an age of seconds":        {"--retain", "90s"},
		"an age past all time":     {"--retain", "4000000000d"},
		"a broken age":             {"--retain", "1.5d"},
	}
	for name, args := range cases {
		t.Run(name, func(t *testing.T) {
			f := &Flags{}
			fs := pflag.NewFlagSet("t", pflag.ContinueOnError)
			f.Register(fs)
			assert.Error(t, fs.Parse(args))
		})
	}
}

func TestSecretsLeaveTheEnvironment(t *testing.T) {
	e := environment{"OPENAI_API_KEY": "sk-0123456789\n", "TOKEN": "t0k3n-t0k3n", "OTHER": "stays"}
	c, err := Load(flags(t, "--redact-env", "TOKEN", "--redact-env", "ABSENT"), e.env())
	require.NoError(t, err)
	assert.Equal(t, environment{"OTHER": "stays"}, e)
	assert.Equal(t, "[REDACTED:OPENAI_API_KEY] [REDACTED:TOKEN]", c.Redactor.Text("sk-0123456789 t0k3n-t0k3n", nil))
	assert.Equal(t, []Warning{{KindRedactEnvUnset, "a variable to redact is not set", "ABSENT"}}, c.Warnings)
}

func TestSecretsAreKeptWhereTheFileIsBad(t *testing.T) {
	e := environment{"OPENAI_API_KEY": "sk-0123456789", "TOKEN": "t0k3n-t0k3n"}
	c, err := load(t, "provder: mock\n", e, "--redact-env", "TOKEN", "--framing", "lines")
	require.Error(t, err)
	assert.Empty(t, e)
	assert.True(t, c.Redactor.Contains("sk-0123456789"))
	assert.True(t, c.Redactor.Contains("t0k3n-t0k3n"))
	assert.Equal(t, "lines", c.Framing, "flags hold")
}

func TestShortSecrets(t *testing.T) {
	c, err := Load(flags(t, "--redact-env", "PIN"), environment{"PIN": "1234", "OPENAI_API_KEY": "sk-0123456789"}.env())
	var bad *Error
	require.ErrorAs(t, err, &bad, "hidden without being asked for, they would hide ordinary text")
	assert.NotContains(t, bad.Error(), "1234")

	assert.True(t, c.Redactor.Contains("sk-0123456789"), "the others are hidden all the same")

	c, err = load(t, "redact: {env: [{env: PIN, short: true}]}\n", environment{"PIN": "1234"}, "--redact-env", "PIN")
	require.NoError(t, err)
	assert.True(t, c.Redactor.Contains("pin 1234."))

	c, err = Load(flags(t), environment{"OPENAI_API_KEY": "key"}.env())
	require.NoError(t, err)
	assert.True(t, c.Redactor.Contains("the key"), "a provider's key is one whatever its length")
}

func TestFlagsAddToTheFilesSecrets(t *testing.T) {
	c, err := load(t, "redactEnv: ONE\nredact: {env: [TWO]}\n",
		environment{"ONE": "11111111", "TWO": "22222222", "THREE": "33333333"}, "--redact-env", "THREE")
	require.NoError(t, err)
	assert.Equal(t, "[REDACTED:ONE] [REDACTED:TWO] [REDACTED:THREE]", c.Redactor.Text("11111111 22222222 33333333", nil))
}

func TestRedactRules(t *testing.T) {
	key, assigned := "ghp_aB3xY7kQ9mZ2aB3xY7kQ9mZ2aB3xY7kQ9mZ2", "password=hunter2"
	for name, c := range map[string]struct {
		file          string
		args          []string
		keys, assigns bool // are redacted
	}{
		"on by default":              {"", nil, true, false},
		"said to be so":              {"redact: {rules: default}\n", nil, true, false},
		"off":                        {"redact: {rules: off}\n", nil, false, false},
		"strict":                     {"redact: {rules: strict}\n", nil, true, true},
		"the flag's key":             {"redactRules: strict\n", nil, true, true},
		"the flag's key comes first": {"redactRules: strict\nredact: {rules: off}\n", nil, true, true},
		"the flag before the file":   {"redact: {rules: off}\n", []string{"--redact-rules", "strict"}, true, true},
		"the flag turns them off":    {"redactRules: strict\n", []string{"--redact-rules", "off"}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, env := range []environment{{}, {"OPENAI_API_KEY": "0123456789"}} {
				got, err := load(t, c.file, env, c.args...)
				require.NoError(t, err)
				assert.Equal(t, c.keys, got.Redactor.Contains(key))
				assert.Equal(t, c.assigns, got.Redactor.Contains(assigned))
			}
		})
	}
	got, err := load(t, "redact: {rules: off}\nbad: 1\n", environment{})
	require.Error(t, err)
	assert.True(t, got.Redactor.Contains(key), "a file that can't be used turns nothing off")
	_, err = load(t, "redact: {rules: loose}\n", environment{})
	assert.Error(t, err)
}

func TestKeyIsMissingOnlyWhereItIsNeeded(t *testing.T) {
	cases := map[string]struct {
		file    string
		env     environment
		missing bool
	}{
		"at the vendor's own host":      {"provider: openai\n", environment{}, true},
		"at a local server":             {"provider: openai\nbaseUrl: http://127.0.0.1:1/v1\n", environment{}, false},
		"where a variable is named":     {"provider: openai\nbaseUrl: http://127.0.0.1:1/v1\nproviders: {openai: {apiKeyEnv: K}}\n", environment{}, true},
		"not where it is set":           {"provider: openai\n", environment{"OPENAI_API_KEY": "12345678"}, false},
		"not where its variable is set": {"provider: openai\nproviders: {openai: {apiKeyEnv: K}}\n", environment{"K": "12345678"}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := load(t, c.file, c.env)
			require.NoError(t, err, "a missing key does not make the process unready")
			assert.Equal(t, c.missing, got.Endpoint("openai").KeyMissing)
		})
	}
}

func TestAge(t *testing.T) {
	for text, want := range map[string]time.Duration{"90d": 90 * 24 * time.Hour, "36h": 36 * time.Hour, "36500d": 36500 * 24 * time.Hour} {
		c, err := Load(flags(t, "--retain", text), environment{}.env())
		require.NoError(t, err)
		assert.Equal(t, Age(want), c.Retain)
		c, err = load(t, "retain: "+text+"\n", environment{})
		require.NoError(t, err)
		assert.Equal(t, Age(want), c.Retain)
	}
}

func TestEverySettingHasItsKey(t *testing.T) {
	known := keysAt(reflect.TypeFor[Settings](), "")
	for _, s := range Table() {
		assert.Contains(t, known, s.Key)
		assert.Contains(t, Groups(), s.Group)
		assert.NotEmpty(t, s.Help)
	}
}
