package session

import (
	"context"
	"sync"

	"github.com/prism-rpc/prism-rpc/internal/plain"
	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/schema"
)

// A Session is one conversation.
type Session struct {
	id       string
	manager  *Manager
	frameKey frameKey // set before anybody else knows the session

	mu          sync.Mutex // never held across a provider call or a file's sync
	hiding      hiding
	title       string
	untitled    *schema.SessionSettings // the settings but for the title; nil: none. Replaced, never changed
	edits       uint32                  // of the settings, so far
	doomed      bool                    // about to be deleted: it takes no more turns
	gone        bool                    // no longer the manager's; see release
	resting     bool                    // its log was let go of; see rest
	unsynced    bool                    // its log holds more than is durable; guarded by logMu
	splices     *splices                // nil: there never was one
	usedAt      int64                   // when a run ended last, or somebody wanted to write; Unix ms
	turns       []turnInfo              // committed, from turn 1
	history     provider.History
	compacted   compacted
	reminded    *reminded // nil until a reminder was due after a compaction
	usage       schema.Usage
	counted     int64    // tokens of the last turn's request and answer; 0: not known, or compacted since
	rate        float64  // tokens per byte as the provider counts them; 0: not known
	keys        *keys    // nil: no turn had one
	noticed     *noticed // nil while there was none
	interrupted *schema.Interrupted
	reading     *replay // of its log
	running     *Run
	settled     <-chan struct{}   // of the run that ended last; nil once it is closed
	queue       []*Run            // accepted, not started
	images      map[string][]byte // by SHA-256, where there is no store

	saving sync.RWMutex // read-held from a change of settings until it is saved

	logMu sync.Mutex // never taken while mu is held
	log   Log        // nil until the first record, and while the session rests
	mark  Mark       // to where the log was read, while it rests

	before, after *Session // in manager.order; guarded by manager.mu
}

// turnInfo is what a history does not keep of a turn.
type turnInfo struct {
	at        int64 // Unix ms; 0: not known
	firstItem int32 // of the history
	cancelled bool
}

func (m *Manager) newSession(id string) *Session {
	return &Session{id: id, manager: m, frameKey: m.newFrameKey(id)}
}

// ID is the session's id.
func (s *Session) ID() string { return s.id }

// Run asks for one turn and waits for its end. A busy session is a *BusyError.
// Further errors: those of Manager.Begin and of Run.Wait.
func (s *Session) Run(ctx context.Context, input []schema.ContentBlock, o RunOptions) (*schema.TurnResult, error) {
	return s.do(ctx, Start{Input: input, RunOptions: o})
}

// FollowUp is Run that waits behind a running turn.
func (s *Session) FollowUp(ctx context.Context, input []schema.ContentBlock, o RunOptions) (*schema.TurnResult, error) {
	return s.do(ctx, Start{Input: input, Queue: true, RunOptions: o})
}

func (s *Session) do(ctx context.Context, start Start) (*schema.TurnResult, error) {
	start.SessionID = s.id
	run, err := s.manager.Begin(ctx, start)
	if err != nil {
		return nil, err
	}
	defer run.Settle()
	return run.Wait()
}

// StateWith is State with what also looks up at that very moment: while it
// runs, no piece of the running turn's answer is on its way. OnEvent must not
// call it.
func (s *Session) StateWith(also func(*schema.SessionState)) *schema.SessionState {
	s = s.present()
	for {
		if st := s.stateOf(s.current(), also); st != nil {
			return st
		}
	}
}

// stateOf is the state while running is the session's running turn; nil when
// it no longer is.
func (s *Session) stateOf(running *Run, also func(*schema.SessionState)) *schema.SessionState {
	if running != nil {
		running.speaking.Lock()
		defer running.speaking.Unlock()
	}
	st := s.State()
	if (st.Running == nil) != (running == nil) || running != nil && st.Running.RunID != running.id {
		return nil
	}
	also(st)
	return st
}

func (s *Session) current() *Run {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running
}

// State tells where the session stands; what number the running turn's last
// event has is not known here.
func (s *Session) State() *schema.SessionState {
	s = s.present()
	s.mu.Lock()
	defer s.mu.Unlock()
	red := s.redactor()
	st := &schema.SessionState{
		SessionID:            s.id,
		Turn:                 len(s.turns),
		Status:               s.status(),
		Queue:                []schema.QueuedTurn{},
		Model:                red.Text(s.model(), nil),
		Title:                red.Text(s.title, nil),
		Instructions:         red.Text(s.base(), nil),
		InstructionInjectors: hideList(s.names(), red),
		ContextInjections:    s.rendersAmbient(),
		Generation:           s.compacted.generation,
		Usage:                s.usage,
		Interrupted:          hideInterrupted(s.interrupted, red),
	}
	st.Context = s.contextUse(s.counted, s.sentSize()+len(st.Instructions))
	if s.running != nil {
		st.Running = s.running.state()
	}
	for _, r := range s.queue {
		if r.asked != nil {
			continue // it waits for the server alone; status tells of it
		}
		st.Queue = append(st.Queue, schema.QueuedTurn{
			RunID: r.id, RequestID: r.RequestID, At: stamp(r.acceptedAt),
			Preview: plain.Text(schema.PlainText(r.input), previewBytes),
		})
	}
	return st
}

const previewBytes = 200

func (s *Session) busy() bool { return s.running != nil || len(s.queue) > 0 }

func (s *Session) model() string {
	if own := s.settings().Model; own != "" {
		return own
	}
	return s.manager.cfg.Model
}

func (s *Session) base() string {
	if own := s.settings().Instructions; own != nil {
		return *own
	}
	return s.manager.cfg.Base
}

func (s *Session) names() []string {
	if own := s.settings().InstructionInjectors; own != nil {
		return own
	}
	return s.manager.cfg.Names
}

// pageBytes bounds one page of messages, beside one turn that is larger.
const pageBytes = 4 << 20

// Messages gives the committed dialogue of up to limit turns after afterTurn,
// fewer when they are long.
func (s *Session) Messages(afterTurn, limit int) *schema.MessagesResult {
	s = s.present()
	s.mu.Lock()
	turns, history := s.turns, s.cleanHistory(s.redactor())
	s.mu.Unlock()
	out := &schema.MessagesResult{Messages: []schema.HistoryMessage{}}
	size := 0
	for turn := afterTurn + 1; turn <= len(turns); turn++ {
		first, end := span(turns, history, turn)
		for i := first; i < end; i++ {
			size += len(history.Raw(i))
		}
		if turn-afterTurn > limit || size > pageBytes && turn > afterTurn+1 {
			next := turn - 1
			out.NextAfterTurn = &next
			break
		}
		info := turns[turn-1]
		for i, m := range history.Messages(first, end) {
			if history.Source(i) != nil {
				continue
			}
			out.Messages = append(out.Messages, schema.HistoryMessage{
				Turn: turn, Role: m.Role, Content: m.Content, At: stampAt(info.at), Cancelled: info.cancelled,
			})
		}
	}
	return out
}

func span(turns []turnInfo, history provider.History, turn int) (first, end int) {
	if turn < len(turns) {
		return int(turns[turn-1].firstItem), int(turns[turn].firstItem)
	}
	return int(turns[turn-1].firstItem), history.Len()
}
