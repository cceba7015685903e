package session

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
)

// Start asks for a turn.
type Start struct {
	SessionID string
	Input     []schema.ContentBlock
	Queue     bool // wait behind a running turn; else that is a *BusyError
	Create    bool // make the session when no store knows it; else that is ErrNotFound
	RunOptions
}

// RunOptions are the settings of one run; the zero value takes the session's.
type RunOptions struct {
	Names         []string          // named injectors, in order; nil: the session's list; empty: none
	Injectors     []inject.Injector // further ones, after the names
	Instructions  schema.RunInstructions
	ContextBlocks []schema.ContextBlock
	Model         string
	Metadata      jsontext.Value // an object, for injectors
	Options       schema.RunOptions
	Modules       schema.Modules       // what the client says of its own, over Config.Ambient.Armed
	Secrets       []schema.SecretValue // hidden in this run beside the session's
	Redactor      *redact.Redactor     // instead of the session's
	ExpectedTurn  int                  // the number that the turn must get; 0: any
	RequestKey    string               // the same key in the same session gets the first one's outcome
	RequestID     jsontext.Value       // comes back in the first events

	// OnEvent gets the run's events, in order, one at a time, all before Wait
	// returns. It must not block. Nil drops them.
	OnEvent func(schema.Event)
}

// A Run is one attempt at a turn.
type Run struct {
	RunOptions
	id         string
	session    *Session
	input      []schema.ContentBlock
	size       int              // of input, in the queue's count
	images     [][]byte         // that input names, until they are kept
	asked      *askedCompaction // instead of a turn; nil for one
	selected   []inject.Resolved
	provider   provider.Provider
	model      string
	redactor   *redact.Redactor
	acceptedAt time.Time
	tally      tally
	planned    *plan  // what its request is made of; nil until that is known
	carried    []int  // serials of the splices of lifetime next that it has sent
	keyHash    string // of RequestKey; "" without one
	paramsHash string

	caller context.Context
	ctx    context.Context
	cancel context.CancelCauseFunc
	stop   func() bool // no longer follow the caller's context

	after     <-chan struct{} // closed when the run before it is settled; set by take
	announced chan struct{}   // closed when its first event may be followed by others
	done      chan struct{}   // closed by end, when result and err stand
	settled   chan struct{}   // closed by Settle
	settle    sync.Once
	result    *schema.TurnResult
	err       error

	speaking sync.Mutex // held while a piece of the answer is kept and sent; taken before session.mu

	// Guarded by session.mu.
	turn       int // 0 until started
	startedAt  time.Time
	cancelled  bool
	closing    bool // past the point where a cancel can change the outcome
	condensing bool // it has older turns summarised
	text       strings.Builder
}

// ID is the run's id, unique in its session.
func (r *Run) ID() string { return r.id }

// SessionID is the id of the run's session.
func (r *Run) SessionID() string { return r.session.id }

// Wait waits for the run's end. Errors: *ProviderError, *ConflictError,
// *LockedError, ErrStore.
func (r *Run) Wait() (*schema.TurnResult, error) {
	<-r.done
	return r.result, r.err
}

// Ended tells whether Wait returns at once.
func (r *Run) Ended() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// Settle says that the caller has passed on what Wait returned; the session's
// next run does not begin before that. Whoever called Begin must call it.
func (r *Run) Settle() {
	r.settle.Do(func() {
		close(r.settled)
		r.session.forgetSettled(r)
	})
}

// forgetSettled makes the session's next run wait for r no more.
func (s *Session) forgetSettled(r *Run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.settled == r.settled {
		s.settled = nil
	}
}

// Settled is closed when Settle was called.
func (r *Run) Settled() <-chan struct{} { return r.settled }

// Begin accepts a run: it resolves names, claims the session and returns
// without waiting for anything but a stored session's log. Runs of a session
// start in the order of their Begin. When ctx ends, the run is cancelled.
//
// Errors, in the order in which they are looked for: *schema.ParamsError,
// ErrNotFound, *LockedError, ErrStore; ErrKeyReused; *inject.UnknownError;
// ErrNoProvider; *BusyError, *FullError; *ConflictError; ErrClosed. After an
// error nothing is left of the run, nor of a session that it would have made.
func (m *Manager) Begin(ctx context.Context, start Start) (*Run, error) {
	s, isNew, err := m.sessionFor(start)
	if err != nil {
		return nil, err
	}
	r, err := s.newRun(start)
	if err != nil {
		return nil, err
	}
	if r, err = m.begin(ctx, s, r, start, isNew); errors.Is(err, errRaced) || errors.Is(err, errGone) {
		return m.Begin(ctx, start)
	}
	return r, err
}

// begin is Begin of a run whose session is found. Its errors hide what the run
// hides.
func (m *Manager) begin(ctx context.Context, s *Session, r *Run, start Start, isNew bool) (_ *Run, err error) {
	defer func() { err = redact.Hide(err, r.redactor) }()
	if repeated, err := s.repeated(ctx, r); repeated || err != nil {
		return r, err
	}
	if err := s.prepare(ctx, r); err != nil {
		return nil, err
	}
	if err := s.checkTurn(r, start.Queue); err != nil {
		return nil, err
	}
	if isNew {
		if s, err = m.add(s); err != nil {
			return nil, err
		}
		r.session = s
	}
	if ctx.Err() != nil {
		r.cancelled = true // nobody else knows r yet
		r.cancel(errCancelled)
	}
	queued, err := s.accept(r, start.Queue)
	if err != nil {
		return nil, err
	}
	r.stop = context.AfterFunc(ctx, func() { r.Cancel() })
	r.announce(queued)
	return r, nil
}

func (m *Manager) sessionFor(start Start) (s *Session, isNew bool, err error) {
	if err := m.checkID(start.SessionID); err != nil {
		return nil, false, err
	}
	s, err = m.find(start.SessionID)
	switch {
	case err != nil:
		return nil, false, err
	case s != nil:
		return s, false, nil
	case !start.Create:
		return nil, false, ErrNotFound
	}
	return m.newSession(start.SessionID), true, nil
}

// newRun redacts what start brings.
func (s *Session) newRun(start Start) (*Run, error) {
	r := &Run{
		RunOptions: start.RunOptions, id: newRunID(), session: s, acceptedAt: time.Now(),
		announced: make(chan struct{}), done: make(chan struct{}), settled: make(chan struct{}),
	}
	var err error
	if r.redactor, err = s.redactorFor(start.RunOptions); err != nil {
		return nil, err
	}
	if r.RequestKey != "" {
		r.keyHash = hashKey(r.RequestKey)
		if r.paramsHash, err = hashParams(start); err != nil {
			return nil, err
		}
	}
	r.hide(start.Input)
	return r, r.takeImages()
}

// prepare resolves what r asks for; it changes nothing of the session.
func (s *Session) prepare(ctx context.Context, r *Run) error {
	err := s.resolve(r)
	if err != nil {
		return err
	}
	if r.provider, r.model, err = s.manager.provider(s.modelFor(r.Model)); err != nil {
		return err
	}
	r.caller = ctx
	r.ctx, r.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	return nil
}

// resolve finds the injectors that r selects, without some of the base list.
func (s *Session) resolve(r *Run, without ...string) (err error) {
	if err := r.checkSent(); err != nil {
		return err
	}
	r.selected, err = s.selectInjectors(r.RunOptions, without)
	return err
}

// checkSent refuses secrets in what goes to the provider as it is.
func (r *Run) checkSent() error {
	if err := checkModel(r.redactor, r.session.modelFor(r.Model)); err != nil {
		return err
	}
	for _, stop := range r.Options.Stop {
		if r.redactor.Contains(stop) {
			return schema.BadField("options.stop", "secret", "holds a known secret")
		}
	}
	return nil
}

func checkModel(red *redact.Redactor, model string) error {
	if red.Contains(model) {
		return schema.BadField("model", "secret", "holds a known secret")
	}
	return nil
}

// redactorFor knows the session's secrets and the run's, which the session
// hides from here on too.
func (s *Session) redactorFor(o RunOptions) (*redact.Redactor, error) {
	if o.Redactor != nil {
		return withSecrets(o.Redactor, o.Secrets)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.learn(o.Secrets)
}

// hide takes secrets out of everything that the caller brought.
func (r *Run) hide(input []schema.ContentBlock) {
	r.input = inject.RedactContent(input, r.redactor, r.tally.at(whereInput))
	for _, b := range r.input {
		r.size += len(b.Plain()) + len(b.Data)
	}
	r.Instructions.Text = r.redactor.Text(r.Instructions.Text, r.tally.at(whereInstructions))
	r.Metadata = r.redactor.JSON(r.Metadata, r.tally.at(whereMetadata))
	r.ContextBlocks = inject.RedactBlocks(r.ContextBlocks, r.redactor, r.tally.at(whereContext))
}

// selectInjectors resolves the run's names, else the session's (P2, P3).
func (s *Session) selectInjectors(o RunOptions, without []string) ([]inject.Resolved, error) {
	selected, err := s.chosen(o.Names, without)
	if err != nil {
		return nil, err
	}
	for _, inj := range slices.Concat(s.manager.cfg.Injectors, o.Injectors) {
		selected = append(selected, inject.Resolved{Name: inj.Name(), Origin: schema.OriginHost, Injector: inj})
	}
	return selected, nil
}

// chosen finds the injectors of a turn's list, else of the session's own, else
// of the configured one, which does not reach all that a spoken one does (P5).
func (s *Session) chosen(turn, without []string) ([]inject.Resolved, error) {
	registry := s.manager.cfg.Registry
	if turn != nil {
		return registry.Resolve(turn)
	}
	s.mu.Lock()
	names, own := s.names(), s.settings().InstructionInjectors != nil
	s.mu.Unlock()
	find := registry.Resolve
	if !own && s.manager.cfg.NamesFromFile {
		find = registry.ResolveListed
	}
	if len(without) > 0 {
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(without, name) })
	}
	selected, err := find(names)
	for i := range selected {
		selected[i].Base = true
	}
	return selected, err
}

func (s *Session) modelFor(model string) string {
	if model != "" {
		return model
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.model()
}

func (r *Run) header(t schema.EventType, turn int) schema.EventHeader {
	return schema.EventHeader{SessionID: r.session.id, RunID: r.id, Turn: turn, Type: t}
}

func (r *Run) emit(e schema.Event) {
	if r.OnEvent != nil {
		r.OnEvent(e)
	}
}

// state is what others may know of a running run; session.mu is held.
func (r *Run) state() *schema.RunningTurn {
	return &schema.RunningTurn{RunID: r.id, RequestID: r.RequestID, Turn: r.turn, StartedAt: stamp(r.startedAt), Text: r.text.String()}
}

// end publishes the outcome; called once.
func (r *Run) end(result *schema.TurnResult, err error) {
	<-r.announced
	r.stop()
	r.cancel(errLate)
	r.result, r.err = result, err
	close(r.done)
}
