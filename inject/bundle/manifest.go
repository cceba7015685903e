package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-rpc/prism-rpc/internal/plain"
	"github.com/prism-rpc/prism-rpc/schema"
)

// Bounds of a manifest.
const (
	MaxManifestBytes = 256 << 10
	MaxManifestDepth = 32

	maxUnknownKeys = 8 // that warnings name
)

// A Manifest says what a bundle is (P19). The zero value of a field stands for
// what the manifest does not say.
type Manifest struct {
	Kind        string         `json:"kind" validate:"omitempty,oneof=instructions instructionInjector"`
	Name        string         `json:"name" validate:"omitempty,injectorname"` // default: the folder's
	Description string         `json:"description" validate:"max=4096"`
	Resource    string         `json:"resource" validate:"max=4096"` // the file of the text, from the bundle's folder; default INSTRUCTIONS.md
	Module      string         `json:"module" validate:"max=4096"`   // the file of the code instead
	ExportName  string         `json:"exportName" validate:"max=256"`
	ConfigKey   string         `json:"configKey" validate:"max=256"` // for hosts; prism-rpc itself reads nothing by it
	Metadata    jsontext.Value `json:"metadata"`                     // an object for hosts

	When          schema.When           `json:"when" validate:"omitempty,oneof=first_turn every_turn on_input"` // default every_turn
	Predicate     string                `json:"predicate" validate:"max=4096"`
	Scope         schema.Scope          `json:"scope" validate:"omitempty,oneof=session run"`
	Placement     schema.Placement      `json:"placement" validate:"omitempty,oneof=system context notice"`
	Position      schema.Position       `json:"position" validate:"omitempty,oneof=head tail"`
	Title         string                `json:"title"`
	ContextBlocks []schema.ContextBlock `json:"contextBlocks" validate:"max=64"`
	MaxBytes      *int                  `json:"maxBytes" validate:"omitempty,min=1,max=262144"`
	Enabled       *bool                 `json:"enabled"`
	OnError       schema.OnError        `json:"onError" validate:"omitempty,oneof=skip fail"`
	SHA256        string                `json:"sha256"` // of the raw bytes of the resource, or of the module
}

// ParseManifest reads a manifest. Types are strict; keys that mean nothing are
// what the warnings name. The error says what is wrong and where.
func ParseManifest(data []byte) (*Manifest, []string, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if len(data) > MaxManifestBytes {
		return nil, nil, tooLarge(MaxManifestBytes)
	}
	if err := checkJSON(data); err != nil {
		return nil, nil, err
	}
	var keys map[string]jsontext.Value
	if err := json.Unmarshal(data, &keys); err != nil || keys == nil {
		return nil, nil, errNoObject
	}
	m := &Manifest{}
	if err := schema.DecodeLenient(data, m); err != nil {
		return nil, nil, err
	}
	if err := m.check(); err != nil {
		return nil, nil, err
	}
	return m, append(unknownKeys("", keys, manifestKeys()), unknownInBlocks(keys["contextBlocks"])...), nil
}

var (
	errNoObject = errors.New("is no JSON object")
	errDepth    = fmt.Errorf("nests deeper than %d", MaxManifestDepth)
)

// checkJSON holds data to be one JSON value, without repeated keys, of a
// bounded depth.
func checkJSON(data []byte) error {
	dec := jsontext.NewDecoder(bytes.NewReader(data))
	for {
		_, err := dec.ReadToken()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return badJSON(data, err)
		case dec.StackDepth() > MaxManifestDepth:
			return errDepth
		case dec.StackDepth() == 0 && len(bytes.TrimSpace(data[dec.InputOffset():])) > 0:
			return at("something stands behind the JSON value", data, dec.InputOffset())
		}
	}
}

func badJSON(data []byte, err error) error {
	var bad *jsontext.SyntacticError
	switch {
	case !errors.As(err, &bad):
		return errors.New("is not valid JSON")
	case errors.Is(bad.Err, jsontext.ErrDuplicateName):
		return at("a key stands twice: "+string(bad.JSONPointer), data, bad.ByteOffset)
	}
	return at("is not valid JSON", data, bad.ByteOffset)
}

// at says the line and the column, in code points from 1.
func at(what string, data []byte, offset int64) error {
	before := data[:min(int(offset), len(data))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(bytes.Runes(before[bytes.LastIndexByte(before, '\n')+1:])) + 1
	return fmt.Errorf("%s, at line %d, column %d", what, line, column)
}

// check holds the rules that tags can't say.
func (m *Manifest) check() error {
	if len(m.Metadata) > 0 && m.Metadata.Kind() != '{' && m.Metadata.Kind() != 'n' {
		return schema.BadField("metadata", "type", "must be an object")
	}
	if raw, err := hex.DecodeString(m.SHA256); err != nil || m.SHA256 != "" && len(raw) != sha256.Size {
		return schema.BadField("sha256", "hex", "must be 64 hexadecimal digits")
	}
	for field, path := range map[string]string{"resource": m.Resource, "module": m.Module} {
		if strings.ContainsRune(path, 0) {
			return schema.BadField(field, "path", "holds a NUL character")
		}
	}
	return nil
}

// disabled tells whether the bundle has its name, but is not to be selected.
func (m *Manifest) disabled() bool { return m.Enabled != nil && !*m.Enabled }

// manifestKeys are all that a manifest can say.
func manifestKeys() []string { return jsonNames(reflect.TypeFor[Manifest]()) }

func jsonNames(of reflect.Type) []string {
	var out []string
	for f := range of.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		out = append(out, name)
	}
	return out
}

// unknownKeys are warnings about keys that mean nothing here.
func unknownKeys(where string, keys map[string]jsontext.Value, known []string) []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if slices.Contains(known, key) {
			continue
		}
		if len(out) == maxUnknownKeys {
			return append(out, where+"and further keys that mean nothing")
		}
		text := "unknown key " + where + plain.Text(key, 64)
		if near := plain.Nearest(key, known); near != "" {
			text += "; did you mean " + near + "?"
		}
		out = append(out, text)
	}
	return out
}

func unknownInBlocks(raw jsontext.Value) []string {
	var blocks []map[string]jsontext.Value
	if raw == nil || json.Unmarshal(raw, &blocks) != nil {
		return nil
	}
	var out []string
	for i, keys := range blocks {
		out = append(out, unknownKeys("contextBlocks["+strconv.Itoa(i)+"].", keys, jsonNames(reflect.TypeFor[schema.ContextBlock]()))...)
	}
	return out[:min(len(out), maxUnknownKeys)]
}
