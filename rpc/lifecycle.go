package rpc

import (
	"maps"
	"slices"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/schema"
)

// initialize alone ignores fields that it does not know.
func (s *server) initialize(c *call, raw []byte) (reply, error) {
	raw, err := objectOf(raw)
	if err != nil {
		return reply{}, err
	}
	var p schema.InitializeParams
	if err := schema.DecodeLenient(raw, &p); err != nil {
		return reply{}, err
	}
	options := p.Options()
	if err := s.greeted(&options); err != nil {
		return reply{}, err
	}
	s.conn.exclude(options.Exclude)
	s.Notifier.exclude(options.Exclude)
	if options.MaxMessageBytes != nil {
		s.conn.sizes.lower(*options.MaxMessageBytes)
	}
	return reply{result: s.greeting()}, nil
}

// greeted takes the secrets and the injectors that the client brings, once. The
// names of the injectors must not hold the secrets.
func (s *server) greeted(options *schema.InitializeOptions) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.initialized {
		return errInitialized
	}
	injectors, err := s.clientInjectors(options.Injectors)
	if err == nil {
		err = s.Sessions.Learn(options.Redact)
	}
	if err == nil {
		err = s.registerAll(injectors)
	}
	if err != nil {
		return schema.Under("initializationOptions", err)
	}
	s.permits.Store(options.PermitRead)
	s.initialized, s.modules = true, options.Modules
	return nil
}

func (s *server) greeting() *schema.InitializeResult {
	return &schema.InitializeResult{
		ProtocolVersion: schema.ProtocolVersion,
		ServerInfo:      schema.ServerInfo{Name: "prism-rpc", Version: s.Version},
		Capabilities: schema.Capabilities{
			Methods:   slices.Sorted(maps.Keys(s.methods())),
			Events:    schema.EventTypes(),
			Notices:   schema.NoticeKinds(),
			Features:  features(),
			Limits:    s.limits(),
			Providers: s.Sessions.Providers(),
			Framing:   string(s.conn.framing()),
		},
	}
}

// features names what a client can't tell from the methods.
func features() []string {
	return []string{
		"instructionInjectors",
		"instructions",
		"contextBlocks",
		"expectedTurn",
		"redact",
		"metadata",
		"options",
		"requestKey",
		"images",
		"attachments",
		"preview",
		"injectors",
		"callbacks",
		"permitRead",
		"contextInjections",
		"modules",
		"reminders",
	}
}

// limits are the bounds in force, by the names of protocol §10.
func (s *server) limits() map[string]int {
	out := s.conn.limits()
	of := s.Sessions.Limits()
	maps.Copy(out, map[string]int{
		"maxQueue": of.MaxQueue, "maxQueueBytes": of.MaxQueueBytes, "maxRunning": of.MaxRunning, "maxAnswer": of.MaxAnswer,
		"maxSelected": schema.MaxSelected, "maxMetadataBytes": schema.MaxMetadataBytes, "maxRequestKeyBytes": schema.MaxRequestKeyBytes,
		"maxInjectors": inject.MaxInjectors, "maxInjectorBytes": schema.MaxInjectorBytes, "maxInjectorBlocks": schema.MaxInjectorBlocks,
		"maxSplices": schema.MaxSplices, "maxSpliceBytes": schema.MaxAmbientBytes,
		"maxReminders": schema.MaxReminders, "maxReminderBytes": schema.MaxReminderBytes,
		"maxBlockBytes": schema.MaxBlockBytes, "maxKnown": schema.MaxKnownNames,
		"maxImageBytes": schema.MaxImageBytes, "maxImages": schema.MaxImages,
		"callbackHistoryBytes": schema.MaxCallbackHistory,
	})
	return out
}

func (s *server) ping(*call, *schema.NoParams) (schema.Empty, error) { return schema.Empty{}, nil }

// shutdown takes no new work from here on; what runs goes on. Its result is null.
func (s *server) shutdown(*call, *schema.NoParams) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopping = true
	return nil, nil
}

// exit ends the connection: what still runs is cancelled and answered.
func (s *server) exit(*call, *schema.NoParams) (schema.Empty, error) {
	s.mu.Lock()
	s.exited = true
	s.mu.Unlock()
	s.conn.end()
	return schema.Empty{}, nil
}

func (s *server) checkRunning() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping {
		return errShuttingDown
	}
	return nil
}
