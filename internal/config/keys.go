package config

import (
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-rpc/prism-rpc/schema"
)

// Settings are the keys of the configuration file. The rules of those that
// have a flag stand in the table.
type Settings struct {
	Provider  string    `json:"provider,omitempty"`
	Model     string    `json:"model,omitempty"`
	BaseURL   string    `json:"baseUrl,omitempty"` // of the chosen provider
	Providers Providers `json:"providers,omitzero"`

	System string  `json:"system,omitempty"`
	Layers []Layer `json:"layers,omitempty" validate:"max=64,dive"`

	Injectors            []schema.InjectorSpec `json:"injectors,omitempty" validate:"max=1000"`
	InstructionInjectors []string              `json:"instructionInjectors,omitempty" validate:"dive,injectorname"`
	Instruction          Instruction           `json:"instruction,omitzero"` // the flag's form of instructionInjectors
	InjectorFile         Strings               `json:"injectorFile,omitempty"`

	ContextInjections bool                  `json:"contextInjections,omitempty"` // sessions carry ambient blocks (A1)
	ContextBlocks     []schema.AmbientBlock `json:"contextBlocks,omitempty"`     // ambient ones, in order
	Modules           Modules               `json:"modules,omitzero"`
	ProtectedPaths    []string              `json:"protectedPaths,omitempty" validate:"max=1000,dive,required,max=4096"`
	Reminders         Reminders             `json:"reminders,omitzero"`
	Discover          bool                  `json:"discover,omitempty"` // look for bundles in the workspace
	DiscoverKinds     Strings               `json:"discoverKinds,omitempty"`
	Workspace         Strings               `json:"workspace,omitempty"` // roots; default: the working directory
	TrustRoot         Strings               `json:"trustRoot,omitempty"`
	Watch             bool                  `json:"watch,omitempty"`
	ModuleLoader      string                `json:"moduleLoader,omitempty"`

	Redact    Redact  `json:"redact,omitzero"`
	RedactEnv Strings `json:"redactEnv,omitempty"` // the flag's form of redact.env

	RedactRules string `json:"redactRules,omitempty"` // the flag's form of redact.rules
	Debuggable  bool   `json:"debuggable,omitempty"`  // other processes of the user, and core files, may hold what this one knows

	Context Context `json:"context,omitzero"`

	Session  string `json:"session,omitempty"`
	Store    string `json:"store,omitempty"`
	StoreDir string `json:"storeDir,omitempty"`
	Profile  string `json:"profile,omitempty"`
	Retain   Age    `json:"retain,omitempty"` // how long an untouched session is kept; 0: for ever

	Framing         string   `json:"framing,omitempty"`
	MaxFrame        int      `json:"maxFrame,omitempty"`
	OnEOF           string   `json:"onEof,omitempty"`
	DrainTimeout    Duration `json:"drainTimeout,omitempty"`
	InjectorTimeout Duration `json:"injectorTimeout,omitempty"`
	ProviderTimeout Duration `json:"providerTimeout,omitempty"` // the longest silence of a provider
	ParentWatch     string   `json:"parentWatch,omitempty"`

	MockScript string `json:"mockScript,omitempty"`
	LogLevel   string `json:"logLevel,omitempty"`
	LogFile    string `json:"logFile,omitempty"`
	TraceFile  string `json:"traceFile,omitempty"`
}

// Layer is a layer of the system prompt (P13).
type Layer struct {
	Source string           `json:"source" validate:"oneof=user other app"`
	Mode   schema.LayerMode `json:"mode,omitempty" validate:"omitempty,oneof=append prepend replace disable"` // default append
	Text   string           `json:"text,omitempty" validate:"max=262144"`
}

// Redact says which values must never be written, and which formats of keys.
type Redact struct {
	Env   []EnvSecret `json:"env,omitempty" validate:"max=1000,dive"`
	Rules string      `json:"rules,omitempty" validate:"omitempty,oneof=default off strict"`
}

// Context holds the host's context blocks, where they stand, and how large
// requests may be.
type Context struct {
	Layout schema.Layout         `json:"layout,omitempty" validate:"omitempty,oneof=cache_aware legacy"`
	Blocks []schema.ContextBlock `json:"blocks,omitempty" validate:"max=64"`

	MaxContextTokens int     `json:"maxContextTokens,omitempty" validate:"min=0"` // what the model takes; 0 is not known
	CompactAt        float64 `json:"compactAt,omitempty" validate:"min=0,max=1"`  // the part of it from which on older turns are summarised; 0 is 0.8
}

// Modules arm the ambient blocks that talk about them (A3).
type Modules struct {
	Enabled    bool `json:"enabled,omitempty"` // the switch of them all
	Todos      bool `json:"todos,omitempty"`
	PlanMode   bool `json:"planMode,omitempty"`
	Background bool `json:"background,omitempty"`
}

// EnvSecret is a secret that an environment variable holds. Short is the
// opt-in for values under 8 bytes.
type EnvSecret struct {
	Name  string `json:"name,omitempty" validate:"max=64"` // default: the variable's
	Env   string `json:"env" validate:"required,max=256"`
	Short bool   `json:"short,omitempty"`
}

// UnmarshalJSONFrom reads a variable's name or {name, env, short}.
func (s *EnvSecret) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	type object EnvSecret
	switch dec.PeekKind() {
	case jsontext.KindString:
		return json.UnmarshalDecode(dec, &s.Env)
	case jsontext.KindBeginObject:
		return json.UnmarshalDecode(dec, (*object)(s))
	}
	return refuse(dec, "must be the name of an environment variable or {name, env, short}")
}

// Instruction is the base list as --instruction gives it: names, or false for
// no injectors at all in this process.
type Instruction struct {
	Given bool
	Off   bool
	Names []string
}

// UnmarshalJSONFrom reads false, a name or a list of names.
func (i *Instruction) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*i = Instruction{Given: true}
	switch dec.PeekKind() {
	case jsontext.KindFalse:
		i.Off = true
		return dec.SkipValue()
	case jsontext.KindNull:
		*i = Instruction{}
		return dec.SkipValue()
	}
	var names Strings
	if err := names.UnmarshalJSONFrom(dec); err != nil {
		return err
	}
	if bad := i.take(names); bad != "" {
		return schema.BadField("", "injectorname", bad)
	}
	return nil
}

// take is what the flag's values say; it returns what is wrong with them.
func (i *Instruction) take(names []string) string {
	*i = Instruction{Given: true}
	if len(names) == 1 && names[0] == "false" {
		i.Off = true
		return ""
	}
	for _, name := range names {
		if !schema.ValidInjectorName(name) {
			return "must be names of injectors, or false alone for none"
		}
	}
	if repeats(names) {
		return "is given twice"
	}
	i.Names = names
	return ""
}

// Strings is a list of strings; one alone may stand without the list.
type Strings []string

// UnmarshalJSONFrom reads a string or a list of strings.
func (s *Strings) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	switch dec.PeekKind() {
	case jsontext.KindString:
		var one string
		if err := json.UnmarshalDecode(dec, &one); err != nil {
			return err
		}
		*s = Strings{one}
		return nil
	case jsontext.KindBeginArray, jsontext.KindNull:
		*s = nil
		return json.UnmarshalDecode(dec, (*[]string)(s))
	}
	return refuse(dec, "must be a string or a list of strings")
}

// Duration is written as in Go: 90s, 1m30s. It is above zero.
type Duration time.Duration

// UnmarshalJSONFrom reads the text form.
func (d *Duration) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalSpan(dec, d.parse, durationShape)
}

const durationShape = "must be a duration above zero, such as 500ms, 90s or 2m"

func (d *Duration) parse(text string) bool {
	parsed, err := time.ParseDuration(text)
	*d = Duration(parsed)
	return err == nil && parsed > 0
}

// Age is written in whole days or hours: 90d, 36h. It is above zero.
type Age time.Duration

// UnmarshalJSONFrom reads the text form.
func (a *Age) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalSpan(dec, a.parse, ageShape)
}

const ageShape = "must be a number of days or hours above zero, such as 90d or 36h"

func (a *Age) parse(text string) bool {
	const most = 100 * 365 * 24 * time.Hour
	number, unit := strings.TrimSuffix(text, "h"), time.Hour
	if strings.HasSuffix(text, "d") {
		number, unit = strings.TrimSuffix(text, "d"), 24*time.Hour
	}
	n, err := strconv.ParseUint(number, 10, 32)
	if err != nil || number == text || n == 0 || time.Duration(n) > most/unit {
		return false
	}
	*a = Age(time.Duration(n) * unit)
	return true
}

// unmarshalSpan reads a text that parse takes.
func unmarshalSpan(dec *jsontext.Decoder, parse func(string) bool, shape string) error {
	switch dec.PeekKind() {
	case jsontext.KindNull:
		return dec.SkipValue()
	case jsontext.KindString:
	default:
		return refuse(dec, shape)
	}
	var text string
	if err := json.UnmarshalDecode(dec, &text); err != nil {
		return err
	}
	if !parse(text) {
		return schema.BadField("", "duration", shape)
	}
	return nil
}

func refuse(dec *jsontext.Decoder, message string) error {
	if err := dec.SkipValue(); err != nil {
		return err
	}
	return schema.BadField("", "type", message)
}
