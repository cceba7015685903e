package session

import (
	"time"

	"go.uber.org/zap"

	"github.com/prism-rpc/prism-rpc/assemble"
	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/inject/reminder"
	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
)

// Config is what a Manager works with. Its zero value works, but for a
// Provider: without one, turns answer ErrNoProvider.
type Config struct {
	Provider   provider.Provider            // the default one
	Providers  map[string]provider.Provider // by the name that may stand before a model's first "/"
	Model      string                       // the default model
	NoProvider error                        // why Provider is nil; nil is ErrNoProvider, else it wraps that

	Base   string           // the base layer of the system text
	Layers []assemble.Layer // further layers, as configuration gives them

	Registry *inject.Registry // named injectors; nil: an empty one
	Names    []string         // the sessions' base list

	// NamesFromFile says that a configuration file gave Names, so that they reach
	// no bundle that is distrusted (P5). Default: a user or a host spoke them.
	NamesFromFile bool

	Injectors []inject.Injector     // selected on every turn, after the names
	Blocks    []schema.ContextBlock // host context blocks of every request
	Ambient   Ambient               // what stands at the end of the system text; default nothing

	Context    []assemble.ContextProvider
	Middleware []assemble.Middleware

	Reminders *reminder.Store // nil: none at first, changes are kept in memory

	Redactor *redact.Redactor // nil redacts nothing
	Store    Store            // nil keeps sessions in memory
	Layout   schema.Layout    // default cache_aware

	MaxContextTokens int     // what the model takes; 0: not known, and older turns are summarised only when a provider finds a request too large
	CompactAt        float64 // the part of it from which on they are; default 0.8

	InjectorTimeout time.Duration // default 5 s
	CancelGrace     time.Duration // how long a provider may take to notice a cancel; default 1 s
	IdleLock        time.Duration // how long a session without a turn keeps its log from other processes; default 10 min
	Limits          Limits
	Logger          *zap.Logger // nil logs nothing
}

// Limits bound what sessions may hold; 0 takes the default.
type Limits struct {
	MaxQueue      int // followUps that wait in one session; 256
	MaxQueueBytes int // of their input; 64 MiB
	MaxRunning    int // turns that run at once; 64
	MaxAnswer     int // bytes of one answer; 16 MiB
	MaxIdle       int // sessions without work that stay in memory, where there is a store; 1,000
}
