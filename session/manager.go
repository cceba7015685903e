package session

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/inject/reminder"
	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
)

// A Manager owns sessions by id and lets their turns run, at most
// Limits.MaxRunning at once, one of each session, in rotation.
type Manager struct {
	cfg Config

	frameSeed [32]byte

	redactor atomic.Pointer[redact.Redactor]
	learning sync.Mutex // held while redactor is replaced

	idle idleWatch
	sent sentRequests

	loading sync.Mutex // held while a session is looked up on disk and added

	mu       sync.Mutex // never taken while a Session's mu is held
	sessions map[string]*Session
	deleting map[string]*deletion // by the session's id
	order    order                // of all sessions, those used longest ago first
	ready    []*Session           // have a run to start, in the order in which they may
	running  int
	closed   bool
	workers  sync.WaitGroup
}

// NewManager makes a Manager. Close ends it. The error is a
// *schema.ParamsError about Config.Ambient.
func NewManager(cfg Config) (*Manager, error) {
	if err := schema.CheckAmbient("contextBlocks", cfg.Ambient.Blocks); err != nil {
		return nil, err
	}
	cfg.setDefaults()
	m := &Manager{cfg: cfg, sessions: map[string]*Session{}, deleting: map[string]*deletion{}, frameSeed: newFrameSeed()}
	m.redactor.Store(cfg.Redactor)
	return m, nil
}

func (c *Config) setDefaults() {
	orElse(&c.Limits.MaxQueue, 256)
	orElse(&c.Limits.MaxQueueBytes, 64<<20)
	orElse(&c.Limits.MaxRunning, 64)
	orElse(&c.Limits.MaxAnswer, 16<<20)
	orElse(&c.Limits.MaxIdle, 1000)
	orElse(&c.CancelGrace, time.Second)
	orElse(&c.IdleLock, 10*time.Minute)
	orElse(&c.CompactAt, 0.8)
	orElse(&c.Layout, schema.LayoutCacheAware)
	orElse(&c.Registry, &inject.Registry{})
	orElse(&c.Logger, zap.NewNop())
	orElse(&c.Reminders, reminder.New(reminder.Options{}))
	orElse(&c.NoProvider, ErrNoProvider)
}

func orElse[T comparable](v *T, otherwise T) {
	var zero T
	if *v == zero {
		*v = otherwise
	}
}

// Limits are the bounds in force.
func (m *Manager) Limits() Limits { return m.cfg.Limits }

// Registry holds the named injectors that turns can select.
func (m *Manager) Registry() *inject.Registry { return m.cfg.Registry }

// Providers names the providers that a model may be asked of, the default one
// first.
func (m *Manager) Providers() []string {
	names := []string{}
	if m.cfg.Provider != nil {
		names = append(names, m.cfg.Provider.Name())
	}
	for _, name := range slices.Sorted(maps.Keys(m.cfg.Providers)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Open gives the session of that id: the one in memory, else the stored one,
// taken for writing, else a new one, which is stored with its first turn. An
// empty id makes a new id. Errors: *schema.ParamsError, *LockedError, ErrStore.
func (m *Manager) Open(id string) (*Session, error) {
	if id == "" {
		return m.add(m.newSession(NewID()))
	}
	if err := m.checkID(id); err != nil {
		return nil, err
	}
	s, err := m.find(id)
	if err != nil || s != nil {
		return s, err
	}
	return m.add(m.newSession(id))
}

// View gives the session of that id for reading: the one in memory, else a
// copy of the stored one, which takes nothing. Errors: ErrNotFound, ErrStore.
func (m *Manager) View(id string) (*Session, error) {
	stale := m.inMemory(id)
	if stale != nil {
		if err := stale.catchUp(); !errors.Is(err, errGone) {
			return stale, err
		}
	}
	if m.cfg.Store == nil {
		return nil, ErrNotFound
	}
	s := m.newSession(id)
	if stale != nil {
		s.hideAs(stale)
	}
	switch err := m.cfg.Store.Read(id, s.replay); {
	case errors.Is(err, ErrNotFound):
		return nil, ErrNotFound
	case err != nil:
		return nil, storeFailed(err)
	}
	if err := s.endReplay(); err != nil {
		return nil, storeFailed(err)
	}
	return s, nil
}

// Lookup gives the session of that id for writing: the one in memory, else the
// stored one, taken. Errors: ErrNotFound, *LockedError, ErrStore.
func (m *Manager) Lookup(id string) (*Session, error) {
	s, err := m.find(id)
	if err == nil && s == nil {
		return nil, ErrNotFound
	}
	return s, err
}

// checkID refuses ids that could not name a file or that hold a known secret.
func (m *Manager) checkID(id string) error {
	switch {
	case !schema.ValidSessionID(id):
		return schema.BadField("sessionId", "sessionid", "is not a session id")
	case m.Redactor().Contains(id):
		return errSecretID()
	}
	return nil
}

func errSecretID() error {
	return schema.BadField("sessionId", "secret", "holds a known secret; use another id")
}

func (m *Manager) inMemory(id string) *Session {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.sessions[id]
	if s != nil {
		m.used(s)
	}
	return s
}

// find gives the session of that id, from memory or from the store; nil when
// there is none.
func (m *Manager) find(id string) (*Session, error) {
	if s := m.inMemory(id); s != nil {
		if err := s.wake(); !errors.Is(err, errGone) {
			return s, err
		}
	}
	if m.cfg.Store == nil {
		return nil, nil
	}
	if m.isDeleting(id) {
		return nil, &BusyError{}
	}
	m.loading.Lock()
	defer m.loading.Unlock()
	stale := m.inMemory(id)
	if stale != nil {
		if err := stale.wake(); !errors.Is(err, errGone) {
			return stale, err
		}
	}
	return m.load(id, stale)
}

// load takes a session from the store, nil when there is none. Stale is what
// was in memory of it, or nil: it hides the same secrets.
func (m *Manager) load(id string, stale *Session) (*Session, error) {
	s := m.newSession(id)
	if stale != nil {
		s.hideAs(stale)
	}
	log, err := m.cfg.Store.Open(id, s.replay)
	var locked *LockedError
	switch {
	case errors.Is(err, ErrNotFound):
		m.discard(stale)
		return nil, nil
	case errors.As(err, &locked):
		return nil, err
	case err != nil:
		return nil, storeFailed(err)
	}
	if err := s.endReplay(); err != nil {
		return nil, errors.Join(storeFailed(err), log.Close())
	}
	s.takeLog(log)
	m.discard(stale)
	return m.addStored(s)
}

// addStored is add of a session that has its log open, which it lets go of when
// it does not become known.
func (m *Manager) addStored(s *Session) (*Session, error) {
	known, err := m.add(s)
	if known != s {
		err = errors.Join(err, s.closeLog())
	}
	return known, err
}

// add makes s known, unless another one of its id became known meanwhile.
func (m *Manager) add(s *Session) (*Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, ErrClosed
	}
	if known := m.sessions[s.id]; known != nil {
		return known, nil
	}
	m.sessions[s.id] = s
	m.used(s)
	m.trim()
	return s, nil
}

// Create makes a session with settings of its own and begins its log; Sync
// makes it durable. Errors: *schema.ParamsError (also for an id in use),
// *inject.UnknownError, ErrStore.
func (m *Manager) Create(id string, settings schema.SessionSettings, secrets []schema.SecretValue) (*Session, error) {
	if id == "" {
		id = NewID()
	}
	if err := m.checkNew(id); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(secrets, func(v schema.SecretValue) bool { return v.Value != "" && strings.Contains(id, v.Value) }) {
		return nil, errSecretID()
	}
	s := m.newSession(id)
	if err := s.configure(settings, secrets); err != nil {
		return nil, err
	}
	if err := s.openLog(); err != nil {
		return nil, err
	}
	return m.addStored(s)
}

func (m *Manager) checkNew(id string) error {
	if err := m.checkID(id); err != nil {
		return err
	}
	inUse := m.inMemory(id) != nil
	if !inUse && m.cfg.Store != nil {
		var err error
		if inUse, err = m.cfg.Store.Exists(id); err != nil {
			return storeFailed(err)
		}
	}
	if inUse {
		return schema.BadField("sessionId", "unique", "is in use; leave it out to have one made, or use prompt to go on with that session")
	}
	return nil
}

// provider picks the back end and the model's own name for a turn.
func (m *Manager) provider(model string) (provider.Provider, string, error) {
	if name, rest, ok := strings.Cut(model, "/"); ok && rest != "" {
		if p := m.cfg.Providers[name]; p != nil {
			return p, rest, nil
		}
	}
	if m.cfg.Provider == nil {
		return nil, "", m.cfg.NoProvider
	}
	return m.cfg.Provider, model, nil
}

// schedule lets s start its next run as soon as its turn has come.
func (m *Manager) schedule(s *Session) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ready = append(m.ready, s)
	m.pump()
}

// pump starts runs while there is room; mu is held. Close waits for them.
func (m *Manager) pump() {
	for m.running < m.cfg.Limits.MaxRunning && len(m.ready) > 0 {
		s := m.ready[0]
		m.ready = m.ready[1:]
		r := s.take()
		if r == nil {
			continue // its runs were cancelled while they waited
		}
		m.running++
		m.workers.Add(1)
		go m.work(r)
	}
}

// spawn runs f beside the turns; Close waits for it.
func (m *Manager) spawn(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.workers.Go(func() {
		defer m.guard("a session's helper")
		f()
	})
}

func (m *Manager) work(r *Run) {
	defer m.workers.Done()
	more := r.guardedExecute()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.running--
	if more {
		m.ready = append(m.ready, r.session)
	}
	m.pump()
	m.trim()
}

// Close cancels what runs, waits for it, and lets go of all sessions. The store
// is left to whoever opened it.
func (m *Manager) Close() error {
	m.mu.Lock()
	m.closed = true
	all := make([]*Session, 0, len(m.sessions))
	for _, s := range m.sessions {
		all = append(all, s)
	}
	m.mu.Unlock()
	for _, s := range all {
		s.Abort("", true)
	}
	m.workers.Wait()
	m.idle.stop()
	var errs []error
	for _, s := range all {
		errs = append(errs, s.closeLog())
	}
	return errors.Join(errs...)
}
