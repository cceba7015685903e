package session

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/zap"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/schema"
)

// logStart keeps the input before anything is done with it, so that the end of
// the process can't lose it: its images first, then the record that names them.
func (s *Session) logStart(r *Run) error {
	if err := s.keepImages(r); err != nil {
		return err
	}
	return s.append(&schema.StartedRecord{
		RecordHead: head(schema.RecordStarted), Turn: r.turn, RunID: r.id, At: stamp(r.startedAt), RequestKey: r.keptKey(), Input: r.input,
	})
}

// keptKey is the request key, by which a turn that is cut off can be asked for
// again; none where it holds a secret.
func (r *Run) keptKey() string {
	if r.redactor.Contains(r.RequestKey) {
		return ""
	}
	return r.RequestKey
}

// logTurn makes the run's turn durable.
func (s *Session) logTurn(r *Run, o *outcome) error {
	var err error
	if o.turn, err = r.record(o); err != nil {
		return err
	}
	if err := s.logNotices(r); err != nil {
		return err
	}
	if s.manager.cfg.Store == nil {
		return s.entitle(r)
	}
	b, err := json.Marshal(o.turn)
	if err != nil {
		return err
	}
	if err := s.entitle(r); err != nil {
		return err
	}
	s.logMu.Lock()
	defer s.logMu.Unlock()
	s.writeEdits() // those before it, so that what it has used up stands before it
	if err := s.log.Commit(r.turn, b); err != nil {
		return storeFailed(err)
	}
	s.unsynced = false
	return nil
}

// record is the run's turn as the log keeps it.
func (r *Run) record(o *outcome) (*schema.TurnRecord, error) {
	user, err := provider.AppendMessage(nil, schema.Message{Role: schema.RoleUser, Content: r.input})
	if err != nil {
		return nil, err
	}
	kept, err := r.keptNotices()
	if err != nil {
		return nil, err
	}
	assistant, err := provider.AppendMessage(nil, schema.AssistantText(o.text))
	if err != nil {
		return nil, err
	}
	return &schema.TurnRecord{
		RecordHead: head(schema.RecordTurn), Turn: r.turn, RunID: r.id, At: stamp(time.Now()), Model: r.model,
		StopReason: o.result.StopReason, Usage: o.result.Usage, Injected: notNil(o.injected), Passed: r.passedOver(), Redacted: r.tally.list(),
		Key: r.keyHash, Params: r.paramsHash, Spent: r.carried, Reminded: r.remindedOf(),
		Messages: slices.Concat([]jsontext.Value{user}, kept, []jsontext.Value{assistant}),
	}, nil
}

// logFailure keeps what is left of a turn that was not committed. The turn's
// own outcome stands whatever becomes of the record.
func (s *Session) logFailure(r *Run, o *outcome) {
	err := s.append(&schema.FailedRecord{
		RecordHead: head(schema.RecordFailed), Turn: r.turn, RunID: r.id, At: stamp(time.Now()),
		Kind: o.failureKind(), Partial: o.text,
	})
	if err != nil {
		s.manager.cfg.Logger.Error("could not log a failed turn", zap.String("session", s.id), zap.Error(err))
	}
}

func (o *outcome) failureKind() string {
	var failed *ProviderError
	switch {
	case errors.As(o.err, &failed):
		return string(failed.Failure.Class)
	case errors.Is(o.err, ErrStore):
		return "store_error"
	case o.err != nil:
		return "error"
	}
	return string(o.result.StopReason)
}

func head(kind string) schema.RecordHead { return schema.RecordHead{V: schema.LogFormat, T: kind} }

// append adds a record, after the log's header if there is none yet.
func (s *Session) append(record any) error {
	return s.appendMade(func() ([]byte, error) { return json.Marshal(record) })
}

// appendMade is append of a record that is made when its place is reached.
func (s *Session) appendMade(make func() ([]byte, error)) error {
	if s.manager.cfg.Store == nil {
		return nil
	}
	s.logMu.Lock()
	defer s.logMu.Unlock()
	if err := s.create(); err != nil {
		return err
	}
	record, err := make()
	if err != nil {
		return err
	}
	s.unsynced = true
	if err := s.log.Append(record); err != nil {
		return storeFailed(err)
	}
	return nil
}

// openLog begins the log of a new session.
func (s *Session) openLog() error {
	if s.manager.cfg.Store == nil {
		return nil
	}
	s.logMu.Lock()
	defer s.logMu.Unlock()
	err := s.create()
	if _, locked := errors.AsType[*LockedError](err); locked {
		return schema.BadField("sessionId", "unique", "is in use")
	}
	return err
}

// create writes the log's header unless there is a log; logMu is held. The
// error is a *LockedError when another process has just made a session of that
// id.
func (s *Session) create() error {
	switch {
	case s.log != nil:
		return nil
	case s.mark != "":
		return storeFailed(errGone) // whoever writes has woken the session before
	}
	s.mu.Lock()
	settings := s.settings()
	s.mu.Unlock()
	b, err := json.Marshal(&schema.SessionRecord{
		RecordHead: head(schema.RecordSession), ID: s.id, CreatedAt: stamp(time.Now()), Key: s.frameKey.String(), Settings: settings,
	})
	if err != nil {
		return err
	}
	log, err := s.manager.cfg.Store.Create(s.id, b)
	if errors.Is(err, ErrExists) {
		return &LockedError{}
	}
	if err != nil {
		return storeFailed(err)
	}
	s.hold(log)
	s.unsynced = true
	return nil
}

// Sync makes durable what the session's log holds.
func (s *Session) Sync() error {
	s.logMu.Lock()
	defer s.logMu.Unlock()
	return s.sync()
}

// sync is Sync with logMu held.
func (s *Session) sync() error {
	if s.log == nil || !s.unsynced {
		return nil
	}
	if err := s.log.Sync(); err != nil {
		return storeFailed(err)
	}
	s.unsynced = false
	return nil
}

func (s *Session) closeLog() error {
	s.logMu.Lock()
	defer s.logMu.Unlock()
	return s.dropLog()
}

// takeLog makes log, which was opened for it, the session's.
func (s *Session) takeLog(log Log) {
	s.logMu.Lock()
	defer s.logMu.Unlock()
	s.hold(log)
}

// replay takes one record of a stored log. A log is input like any other:
// turns rise by one, messages are of the dialogue.
func (s *Session) replay(record []byte) error {
	kind, err := kindOf(record)
	if err != nil {
		return err
	}
	switch kind {
	case schema.RecordSession:
		return replayAs(record, s.replayHeader)
	case schema.RecordSettings:
		return replayAs(record, func(r *schema.SettingsRecord) error { s.set(r.Settings); return nil })
	case schema.RecordStarted:
		return s.replayStarted(record)
	case schema.RecordPartial:
		return replayAs(record, s.replayPartial)
	case schema.RecordTurn:
		return s.replayTurn(record)
	case schema.RecordFailed:
		return replayAs(record, s.replayFailed)
	case schema.RecordNotice:
		return replayAs(record, s.replayNotice)
	case schema.RecordCompaction:
		return replayAs(record, s.replayCompaction)
	case schema.RecordSplice:
		return replayAs(record, s.replaySplice)
	case schema.RecordUnsplice:
		return replayAs(record, s.replayUnsplice)
	}
	return nil // of a newer program; the store lets it be read, not written to
}

func replayAs[T any](record []byte, use func(*T) error) error {
	r := new(T)
	if err := json.Unmarshal(record, r); err != nil {
		return fmt.Errorf("%w: %w", errShape, err)
	}
	return use(r)
}

// A replay is what is known of a log while it is replayed: the last started turn
// of which no end has come, which may be cut off.
type replay struct {
	started []byte // its record; empty when there is none
	partial []byte

	turn schema.TurnRecord // the last one that ended
}

// replaying is the replay of the session's log.
func (s *Session) replaying() *replay {
	if s.reading == nil {
		s.reading = &replay{}
	}
	return s.reading
}

func (r *replay) forget() {
	if r != nil {
		r.started, r.partial = r.started[:0], r.partial[:0]
	}
}

// is tells whether the turn is of that run.
func (r *replay) is(runID string) bool {
	return r != nil && len(r.started) > 0 && memberText(r.started, "runId") == runID
}

// replayStarted holds a turn to be cut off until its end comes.
func (s *Session) replayStarted(record []byte) error {
	err := s.cutOff()
	at := s.replaying()
	at.started = append(at.started, record...)
	return err
}

func (s *Session) replayPartial(r *schema.PartialRecord) error {
	if s.reading.is(r.RunID) {
		s.reading.partial = append(s.reading.partial, r.Text...)
	} else if s.interrupted != nil && s.interrupted.RunID == r.RunID {
		s.interrupted.Partial += r.Text
	}
	return nil
}

func (s *Session) replayFailed(r *schema.FailedRecord) error {
	if s.reading.is(r.RunID) {
		s.reading.forget()
	}
	if s.interrupted != nil && s.interrupted.RunID == r.RunID {
		s.interrupted = nil // it was only under way when the log was read before
	}
	return nil
}

// endReplay says that the log ends here.
func (s *Session) endReplay() error {
	err := s.cutOff()
	s.reading = nil
	s.history.Trim()
	return err
}

// cutOff takes it that nothing more is to come of the last started turn.
func (s *Session) cutOff() error {
	if s.reading == nil || len(s.reading.started) == 0 {
		return nil
	}
	defer s.reading.forget()
	return replayAs(s.reading.started, func(r *schema.StartedRecord) error {
		s.interrupted = &schema.Interrupted{
			Turn: r.Turn, RunID: r.RunID, RequestKey: r.RequestKey, Input: r.Input, Partial: string(s.reading.partial), At: r.At, Reason: "crash",
		}
		return nil
	})
}

func (s *Session) replayTurn(record []byte) error {
	r := &s.replaying().turn
	if err := scanTurn(r, record); err != nil {
		return err
	}
	if r.Turn != len(s.turns)+1 {
		return fmt.Errorf("turn %d follows turn %d", r.Turn, len(s.turns))
	}
	s.reading.forget()
	size := 0
	for _, m := range r.Messages {
		size += len(m) + len(",")
	}
	s.history.Expect(size, len(r.Messages))
	s.keep(r, nil)
	s.hiding.free = false // another process hid what it knew
	return nil
}
