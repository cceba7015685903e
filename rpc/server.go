package rpc

import (
	"cmp"
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/zap"

	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
)

// ErrNoShutdown is what Serve returns when the client sent exit without
// shutdown before it.
var ErrNoShutdown = errors.New("exit came without shutdown")

var (
	errShuttingDown = errors.New("the server is shutting down and takes no new work")
	errInitialized  = errors.New("initialize was answered already; it is sent once")
)

// Serve answers one client until its input ends, it sends exit, ctx ends or w
// breaks, and every request that it took has its answer. It returns nil at the
// end of the input and after shutdown and exit; ErrNoShutdown; ctx's cause; or
// what broke.
func Serve(ctx context.Context, r io.Reader, w io.Writer, o Options) error {
	s := newServer(o)
	s.conn = newConn(r, w, s.connOptions())
	s.Client.server.Store(s)
	err := s.conn.serve(ctx)
	s.Client.server.CompareAndSwap(s, nil)
	s.unregisterAll()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil && s.exited && !s.stopping {
		return ErrNoShutdown
	}
	return err
}

type server struct {
	Options
	conn    *conn
	permits atomic.Bool // the client answers permitRead

	mu             sync.Mutex
	initialized    bool
	stopping       bool // after shutdown: no new work
	exited         bool
	defaultSession string
	modules        schema.Modules // the client's
}

func newServer(o Options) *server {
	if o.Logger == nil {
		o.Logger = zap.NewNop()
	}
	if o.Version == "" {
		o.Version = "devel"
	}
	if o.Notifier == nil {
		o.Notifier = new(Notifier)
	}
	if o.Client == nil {
		o.Client = new(Client)
	}
	for _, n := range o.Notices {
		o.Notifier.Notify(n)
	}
	return &server{Options: o, defaultSession: o.DefaultSession}
}

func (s *server) connOptions() connOptions {
	methods := s.methods()
	if s.Unready != nil {
		methods = s.refuseAll(methods)
	}
	for name, method := range methods {
		methods[name] = s.hidingWhatItTells(method)
	}
	return connOptions{
		methods:      methods,
		unready:      s.Unready,
		framing:      s.Framing,
		limits:       limits{maxFrame: s.MaxFrame},
		describe:     s.describe,
		firstReply:   s.firstReply,
		urgent:       map[string]bool{"abort": true, "exit": true, "initialize": true, "ping": true, "shutdown": true, "state": true},
		drainTimeout: s.DrainTimeout,
		onEOF:        s.OnEOF,
		logger:       s.Logger,
		trace:        s.Trace,
		redactor:     s.Redactor,
	}
}

// methods is the method table. A call is done at once, or begun at once and
// answered later.
func (s *server) methods() map[string]begin {
	return map[string]begin{
		"initialize":    s.initialize,
		"ping":          now(s.ping),
		"rpc.discover":  now(s.discover),
		"shutdown":      now(s.shutdown),
		"exit":          now(s.exit),
		"prompt":        s.asked(later(s.prompt)),
		"followUp":      s.asked(later(s.followUp)),
		"abort":         later(s.abort),
		"newSession":    later(s.newSession),
		"setModel":      later(s.setModel),
		"updateSession": later(s.updateSession),
		"listSessions":  later(s.listSessions),
		"loadSession":   now(s.loadSession),
		"forkSession":   later(s.forkSession),
		"compact":       later(s.compact),
		"closeSession":  later(s.closeSession),
		"deleteSession": later(s.deleteSession),
		"state":         now(s.state),
		"messages":      later(s.messages),
		"listInjectors": now(s.listInjectors),
		"preview":       later(s.preview),

		"registerInjector":   now(s.registerInjector),
		"unregisterInjector": now(s.unregisterInjector),
		"spliceContext":      later(s.spliceContext),
		"unspliceContext":    later(s.unspliceContext),
		"listContext":        later(s.listContext),
		"getReminders":       later(s.getReminders),
		"setReminders":       later(s.setReminders),
		"reloadInjectors":    later(s.reloadInjectors),
		"listModels":         later(s.listModels),
	}
}

// refuseAll keeps the child alive, so that its parent can read what is wrong:
// every method but ping, rpc.discover and exit is answered with that.
func (s *server) refuseAll(methods map[string]begin) map[string]begin {
	out := map[string]begin{}
	for name := range methods {
		out[name] = func(*call, []byte) (reply, error) { return reply{}, s.Unready }
	}
	for _, name := range []string{"ping", "rpc.discover", "exit"} {
		out[name] = methods[name]
	}
	return out
}

// now makes a begin of a method that is done at once.
func now[P, R any](do func(*call, *P) (R, error)) begin {
	return func(c *call, raw []byte) (reply, error) {
		p, err := params[P](raw)
		if err != nil {
			return reply{}, err
		}
		result, err := do(c, p)
		return reply{result: result}, err
	}
}

// later makes a begin of a method that decides itself what is left to do.
func later[P any](start func(*call, *P) (reply, error)) begin {
	return func(c *call, raw []byte) (reply, error) {
		p, err := params[P](raw)
		if err != nil {
			return reply{}, err
		}
		return start(c, p)
	}
}

// params decodes what a method takes. null and an empty array count as none,
// since some clients have no other way to send an empty object.
func params[P any](raw []byte) (*P, error) {
	raw, err := objectOf(raw)
	if err != nil {
		return nil, err
	}
	p := new(P)
	if _, none := any(p).(*schema.NoParams); none && raw == nil {
		return p, nil // a first ping does not wait for the validator to be made
	}
	if err := schema.Decode(raw, p); err != nil {
		return nil, err
	}
	return p, nil
}

// hidingWhatItTells is method with errors that hide the secrets of the session
// that its params name and those which they tell, also where they could not be
// used.
func (s *server) hidingWhatItTells(method begin) begin {
	return func(c *call, raw []byte) (reply, error) {
		r, err := method(c, raw)
		if err != nil {
			err = s.refused(raw, err)
		}
		return r, err
	}
}

func (s *server) refused(raw []byte, err error) error {
	var told struct {
		SessionID string               `json:"sessionId"`
		Redact    []schema.SecretValue `json:"redact"`
	}
	if json.Unmarshal(raw, &told, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) != nil && told.SessionID == "" {
		return err // nothing that could be read tells one
	}
	red := redact.Hider(err, s.redactingOf(told.SessionID))
	for _, v := range told.Redact {
		if more, werr := red.With(redact.Value{Name: v.Name, Secret: redact.NewSecret(v.Value)}); werr == nil {
			red = more
		}
	}
	return redact.Hide(err, red)
}

// orZero is what p points to, or nothing.
func orZero[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func objectOf(raw []byte) ([]byte, error) {
	switch {
	case len(raw) == 0 || string(raw) == "null" || isEmptyArray(raw):
		return nil, nil
	case raw[0] != '{':
		return nil, schema.BadField("params", "type", "must be an object with the fields by name")
	}
	return raw, nil
}

func isEmptyArray(raw []byte) bool {
	return raw[0] == '[' && raw[skipWS(raw, 1)] == ']'
}

// reading gives a session to read from: the connection's default one, made on
// first use, or one that exists.
func (s *server) reading(id string) (*session.Session, error) {
	if id != "" {
		return s.Sessions.View(id)
	}
	own := s.ownSession()
	found, err := s.Sessions.View(own)
	if errors.Is(err, session.ErrNotFound) {
		return s.Sessions.Open(own)
	}
	return found, err
}

// writing gives a session to change.
func (s *server) writing(id string) (*session.Session, error) {
	if id == "" {
		return s.Sessions.Open(s.ownSession())
	}
	return s.Sessions.Lookup(id)
}

// ownSession is the id of the connection's default session.
func (s *server) ownSession() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.defaultSession == "" {
		s.defaultSession = session.NewID()
	}
	return s.defaultSession
}

// redactingOf knows those of a session too; empty is the connection's own.
func (s *server) redactingOf(sessionID string) *redact.Redactor {
	if s.Sessions == nil {
		return s.Redactor
	}
	return s.Sessions.RedactorOf(cmp.Or(sessionID, s.ownSession()))
}

// redacting knows the secrets of the process, those that clients told among
// them.
func (s *server) redacting() *redact.Redactor {
	if s.Sessions == nil {
		return s.Redactor
	}
	return s.Sessions.Redactor()
}
