package schema

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// ProtocolVersion is the version of the wire contract.
const ProtocolVersion = 1

// InitializeParams are the params of initialize. Fields that are not named
// here are ignored, so that clients of other protocols can send theirs.
type InitializeParams struct {
	ProtocolVersion       jsontext.Value     `json:"protocolVersion,omitempty"`
	ClientInfo            jsontext.Value     `json:"clientInfo,omitempty"`
	InitializationOptions *InitializeOptions `json:"initializationOptions,omitempty"`
	Meta                  *struct {
		Prism *InitializeOptions `json:"prism,omitempty"`
	} `json:"_meta,omitempty"`

	// Redact belongs into the options. Since unknown fields are ignored here, a
	// secret that stands in the wrong place would be lost without a word.
	Redact []SecretValue `json:"redact,omitempty" validate:"omitempty,max=256,dive"`
}

// Options are the client's options, from either place; the zero value when it
// gave none. Of two places the first one counts, but a secret of any is one.
func (p *InitializeParams) Options() (options InitializeOptions) {
	var places []*InitializeOptions
	if p.InitializationOptions != nil {
		places = append(places, p.InitializationOptions)
	}
	if p.Meta != nil && p.Meta.Prism != nil {
		places = append(places, p.Meta.Prism)
	}
	secrets := p.Redact
	for _, place := range places {
		secrets = slices.Concat(secrets, place.Redact)
	}
	if len(places) > 0 {
		options = *places[0]
	}
	options.Redact = secrets
	return options
}

// InitializeOptions are what a client may ask of the connection.
type InitializeOptions struct {
	Exclude []string      `json:"exclude,omitempty"` // event types and notice kinds not to send; unknown ones are ignored
	Redact  []SecretValue `json:"redact,omitempty" validate:"omitempty,max=256,dive"`

	Injectors  Registrations `json:"injectors,omitempty" validate:"omitempty,max=1000"` // to register; one that is wrong fails initialize
	PermitRead bool          `json:"permitRead,omitzero"`                               // the client answers permitRead
	Modules    Modules       `json:"modules,omitzero"`                                  // what the client has, over what is configured

	// MaxMessageBytes bounds each message that the server writes, framing
	// included; more than the server's own limit is that.
	MaxMessageBytes *int `json:"maxMessageBytes,omitempty" validate:"omitempty,min=4096"`
}

// InitializeResult answers initialize.
type InitializeResult struct {
	ProtocolVersion int          `json:"protocolVersion"`
	ServerInfo      ServerInfo   `json:"serverInfo"`
	Capabilities    Capabilities `json:"capabilities"`
}

// ServerInfo names the server.
type ServerInfo struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Capabilities say what this server can do.
type Capabilities struct {
	Methods   []string       `json:"methods"`
	Events    []EventType    `json:"events"`
	Notices   []NoticeKind   `json:"notices"`
	Features  []string       `json:"features"`
	Limits    map[string]int `json:"limits"`
	Providers []string       `json:"providers"`
	Framing   string         `json:"framing"`
}

// Empty answers methods that have nothing to say.
type Empty struct{}

// NoParams are the params of methods that take none.
type NoParams struct{ Meta }
