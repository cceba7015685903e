package config

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
)

// Providers are the settings of each provider.
type Providers struct {
	OpenAI          OpenAISettings    `json:"openai,omitzero"`           // Chat Completions
	OpenAIResponses OpenAISettings    `json:"openai-responses,omitzero"` // Responses
	Anthropic       AnthropicSettings `json:"anthropic,omitzero"`        // Messages
}

// EndpointSettings say where a provider is and what it is called with. One of
// the three ways to a key may be given. check has the rules: tags of an
// embedded type would name it in errors.
type EndpointSettings struct {
	BaseURL       string   `json:"baseUrl,omitempty"`
	APIKeyEnv     string   `json:"apiKeyEnv,omitempty"`     // the variable that holds the key
	APIKeyFile    string   `json:"apiKeyFile,omitempty"`    // the file that does, which is the user's own to read
	APIKeyCommand []string `json:"apiKeyCommand,omitempty"` // what prints it: a program and its arguments, no shell
	AllowInsecure bool     `json:"allowInsecure,omitempty"` // the key may travel over plain http
	CAFile        string   `json:"caFile,omitempty"`        // whom TLS trusts, as PEM; default: the system's roots
}

// OpenAISettings configure a server that speaks one of OpenAI's APIs.
type OpenAISettings struct {
	EndpointSettings
	PromptCacheKey *bool `json:"promptCacheKey,omitempty"` // default: as the adapter knows the server
}

// AnthropicSettings configure a server that speaks the Messages API.
type AnthropicSettings struct {
	EndpointSettings
	Version         string `json:"version,omitempty" validate:"max=64"`                               // of the API
	CacheTTL        string `json:"cacheTtl,omitempty" validate:"omitempty,oneof=5m 1h off"`           // default 5m
	MaxOutputTokens int    `json:"maxOutputTokens,omitempty" validate:"omitempty,min=1,max=10000000"` // of an answer to a request that sets no bound
}

// Endpoint is how to reach a provider over HTTP.
type Endpoint struct {
	Provider      string
	BaseURL       string
	BaseURLFrom   string // the key or variable that says so; empty: nobody
	Key           redact.Secret
	KeyFrom       string // the variable or the key of the file that gives Key, or should
	KeyMissing    bool   // there is none, and the server needs one
	Fault         error  // why it can't be called, when another one is chosen
	AllowInsecure bool
	CAFile        string // whom TLS trusts; empty: the system's roots

	fetch    EndpointSettings // a key that is still in a file, or a command's to tell
	fromEnv  bool             // only the environment names the host
	ofVendor bool             // which is the vendor's
}

// A vendor is a provider with an API of its own.
type vendor struct {
	name       string
	keyEnv     string
	baseURLEnv string
	host       string // which needs a key
	baseURL    string
	settings   func(*Providers) *EndpointSettings
	configured func(*Providers) bool
}

// vendors are the providers that are reached over HTTP.
var vendors = []vendor{
	{
		"openai", "OPENAI_API_KEY", "OPENAI_BASE_URL", "api.openai.com", "https://api.openai.com/v1",
		func(p *Providers) *EndpointSettings { return &p.OpenAI.EndpointSettings }, func(p *Providers) bool { return p.OpenAI.given() },
	},
	{
		"openai-responses", "OPENAI_API_KEY", "OPENAI_BASE_URL", "api.openai.com", "https://api.openai.com/v1",
		func(p *Providers) *EndpointSettings { return &p.OpenAIResponses.EndpointSettings }, func(p *Providers) bool { return p.OpenAIResponses.given() },
	},
	{
		"anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "api.anthropic.com", "https://api.anthropic.com",
		func(p *Providers) *EndpointSettings { return &p.Anthropic.EndpointSettings },
		func(p *Providers) bool {
			return p.Anthropic.given() || p.Anthropic.Version != "" || p.Anthropic.CacheTTL != "" || p.Anthropic.MaxOutputTokens != 0
		},
	},
}

func (s *EndpointSettings) given() bool {
	return s.BaseURL != "" || s.APIKeyEnv != "" || s.APIKeyFile != "" || len(s.APIKeyCommand) > 0 || s.AllowInsecure || s.CAFile != ""
}

func (s *OpenAISettings) given() bool { return s.EndpointSettings.given() || s.PromptCacheKey != nil }

// keyEnvOf is the variable that holds a vendor's key.
func (c *Config) keyEnvOf(v *vendor) string {
	return cmp.Or(v.settings(&c.Providers).APIKeyEnv, v.keyEnv)
}

// takeKeys reads the providers' keys that variables hold, which are secrets
// whatever their length and whichever provider is chosen.
func (c *Config) takeKeys(env Env) (secrets []redact.Value, taken []string) {
	c.keys = map[string]redact.Secret{}
	for i := range vendors {
		name := c.keyEnvOf(&vendors[i])
		value, _ := env.Lookup(name)
		if value = strings.TrimSpace(value); value == "" || slices.Contains(taken, name) {
			continue
		}
		taken = append(taken, name)
		c.keys[name] = redact.NewSecret(value)
		secrets = append(secrets, redact.Value{Name: name, Secret: c.keys[name], Short: true})
	}
	return secrets, taken
}

// resolveEndpoints settles where each provider is that a turn can be answered
// by, and what it is called with.
func (c *Config) resolveEndpoints(flags *Flags, env Env) error {
	for i := range vendors {
		v := &vendors[i]
		if c.Provider != v.name && !v.configured(&c.Providers) {
			continue
		}
		e, err := c.resolveEndpoint(v, flags, env)
		if err != nil {
			return err
		}
		c.Endpoints = append(c.Endpoints, e)
	}
	return nil
}

func (c *Config) resolveEndpoint(v *vendor, flags *Flags, env Env) (*Endpoint, error) {
	s := v.settings(&c.Providers)
	e := &Endpoint{Provider: v.name, AllowInsecure: s.AllowInsecure, CAFile: s.CAFile}
	base := c.locate(e, v, flags, env)
	if bad := checkURL(e.BaseURLFrom, base); bad != nil {
		return nil, c.bad(bad)
	}
	u, err := url.Parse(base)
	e.BaseURL, e.ofVendor = strings.TrimRight(base, "/"), err == nil && strings.EqualFold(u.Hostname(), v.host)
	c.giveKey(e, v, s)
	return e, nil
}

// locate finds the base URL: a flag's, the environment's, the file's, the
// vendor's.
func (c *Config) locate(e *Endpoint, v *vendor, flags *Flags, env Env) (base string) {
	section := "providers." + v.name + ".baseUrl"
	e.BaseURLFrom, base = section, v.settings(&c.Providers).BaseURL
	if c.BaseURL != "" && c.takesBaseURL(v) {
		e.BaseURLFrom, base = "baseUrl", c.BaseURL
		if flags.has("baseUrl") {
			return base
		}
	}
	if fromEnv, _ := env.Lookup(v.baseURLEnv); fromEnv != "" {
		// A host that the file names too is not the environment's alone.
		e.fromEnv = !sameHost(fromEnv, base)
		e.BaseURLFrom, base = v.baseURLEnv, fromEnv
	}
	if base == "" {
		e.BaseURLFrom, base = "", v.baseURL
	}
	return base
}

// takesBaseURL tells whether the setting without a provider's name is about v:
// the chosen one, or the first where none of them is chosen.
func (c *Config) takesBaseURL(v *vendor) bool {
	chosen := slices.ContainsFunc(vendors, func(o vendor) bool { return o.name == c.Provider })
	return c.Provider == v.name || !chosen && v == &vendors[0]
}

func sameHost(a, b string) bool {
	u, err := url.Parse(a)
	w, err2 := url.Parse(b)
	return err == nil && err2 == nil && u.Scheme == w.Scheme && strings.EqualFold(u.Host, w.Host) && u.Host != ""
}

// giveKey settles which key the endpoint is called with. One of a variable
// comes from the same environment as any URL there, so that it may travel to
// whichever host is named. The environment comes before the file, and so before
// a key that the file points at.
func (c *Config) giveKey(e *Endpoint, v *vendor, s *EndpointSettings) {
	e.KeyFrom = c.keyEnvOf(v)
	key, set := c.keys[e.KeyFrom]
	switch {
	case set:
		e.Key = key
	case s.APIKeyFile != "":
		e.KeyFrom, e.fetch.APIKeyFile = "providers."+v.name+".apiKeyFile", s.APIKeyFile
	case len(s.APIKeyCommand) > 0:
		e.KeyFrom, e.fetch.APIKeyCommand = "providers."+v.name+".apiKeyCommand", s.APIKeyCommand
	default:
		e.KeyMissing = s.APIKeyEnv != "" || e.ofVendor
	}
}

// Endpoint is that of a provider; nil when no turn can be answered by it.
func (c *Config) Endpoint(provider string) *Endpoint {
	for _, e := range c.Endpoints {
		if e.Provider == provider {
			return e
		}
	}
	return nil
}

func (s *Settings) checkProviders() *schema.ParamsError {
	for i := range vendors {
		v := &vendors[i]
		at, e := "providers."+v.name+".", v.settings(&s.Providers)
		if bad := e.check(at); bad != nil {
			return bad
		}
		if s.BaseURL != "" && e.BaseURL != "" && cmp.Or(s.Provider, vendors[0].name) == v.name {
			return schema.BadField("baseUrl", "once", "says the same as "+at+"baseUrl; keep one of them")
		}
	}
	if bad := headerFault(s.Providers.Anthropic.Version); bad != "" {
		return schema.BadField("providers.anthropic.version", "value", bad)
	}
	return nil
}

// maxPath bounds paths, URLs and the words of a command.
const maxPath = 4096

// check is about the settings at a place in the file.
func (s *EndpointSettings) check(at string) *schema.ParamsError {
	for _, f := range []struct{ name, value string }{{"baseUrl", s.BaseURL}, {"apiKeyFile", s.APIKeyFile}, {"caFile", s.CAFile}} {
		if len(f.value) > maxPath {
			return schema.BadField(at+f.name, "max", "must be at most "+strconv.Itoa(maxPath))
		}
	}
	if bad := checkURL(at+"baseUrl", s.BaseURL); bad != nil {
		return bad
	}
	if s.APIKeyEnv != "" && variableFault(s.APIKeyEnv) != "" {
		return schema.BadField(at+"apiKeyEnv", "env", variableFault(s.APIKeyEnv))
	}
	return s.checkKey(at)
}

// checkKey refuses a key that the file gives in two ways.
func (s *EndpointSettings) checkKey(at string) *schema.ParamsError {
	var given []string
	for name, is := range map[string]bool{"apiKeyEnv": s.APIKeyEnv != "", "apiKeyFile": s.APIKeyFile != "", "apiKeyCommand": s.APIKeyCommand != nil} {
		if is {
			given = append(given, name)
		}
	}
	slices.Sort(given)
	switch {
	case len(given) > 1:
		return schema.BadField(at+given[1], "once", "gives the key that "+given[0]+" gives; keep one of them")
	case s.APIKeyCommand != nil && (len(s.APIKeyCommand) == 0 || s.APIKeyCommand[0] == ""):
		return schema.BadField(at+"apiKeyCommand", "value", "must begin with a program")
	}
	return nil
}

func headerFault(value string) string {
	if strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "must be letters, digits and signs alone, such as 2023-06-01"
	}
	return ""
}
