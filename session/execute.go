package session

import (
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/internal/plain"
	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
)

// execute works through a started run: log, inject, assemble, call, commit. It
// tells whether the session has another run to start.
func (r *Run) execute() (more bool) {
	<-r.announced
	if r.after != nil {
		<-r.after
	}
	if r.asked != nil {
		return r.executeAsked()
	}
	o := r.attempt()
	r.settleOutcome(&o)
	return r.finish(o)
}

// An outcome is how a run ended: with a committed turn, or with a result or an
// error that leaves no trace but a record.
type outcome struct {
	result    *provider.Result // nil unless the provider finished
	err       error
	injected  []schema.Injected
	text      string // the whole answer, or what there was of it
	size      int    // of the request that was sent last, and of text
	started   bool   // events were sent
	committed bool
	turn      *schema.TurnRecord // what was committed
}

// attempt does everything up to the commit.
func (r *Run) attempt() outcome {
	if r.ExpectedTurn > 0 && r.ExpectedTurn != r.turn {
		return outcome{err: &ConflictError{Expected: r.ExpectedTurn, Turn: r.turn}}
	}
	if r.ctx.Err() != nil {
		return outcome{err: errCancelled}
	}
	if err := r.session.logStart(r); err != nil {
		return outcome{err: err}
	}
	r.emit(&schema.TurnStarted{EventHeader: r.header(schema.EventTurnStarted, r.turn), RequestID: r.RequestID})
	o := outcome{started: true}
	req, err := r.assemble()
	if err != nil {
		o.err = err
		return o
	}
	o.injected = req.Injected
	if r.forsaken() {
		o.err = errCancelled
		return o
	}
	if req, o.err = r.fitImages(req); o.err != nil {
		return o
	}
	if req, o.err = r.fit(req); o.err != nil {
		return o
	}
	req, o.result, o.err = r.ask(req)
	o.injected = req.Injected
	o.text = r.answer()
	o.size = sizeOf(req) + len(o.text)
	if o.err == nil {
		r.session.calibrate(req, o.result.Usage.WithTotal())
	}
	return o
}

// guardedPlan holds a panic of a host's context provider, middleware or
// injector to this run.
func (r *Run) guardedPlan() (p *plan, err error) {
	defer func() {
		if v := recover(); v != nil {
			p, err = nil, fmt.Errorf("assembling the request panicked with a %T", v)
		}
	}()
	return r.plan()
}

// settleOutcome decides how the run ends, from when on no cancel can change
// it, and makes that durable.
func (r *Run) settleOutcome(o *outcome) {
	s := r.session
	s.mu.Lock()
	r.closing = true
	cancelled := r.cancelled
	s.mu.Unlock()
	switch {
	case cancelled:
		o.result, o.err = &provider.Result{StopReason: schema.StopCancelled, Usage: usageOf(o.result)}, nil
	case o.err != nil:
		o.err = r.failure(o.err, o.text != "")
	}
	if o.err == nil {
		o.result.Usage = o.result.Usage.WithTotal()
	}
	if o.keeps() {
		r.commit(o)
	}
	if !o.committed && o.started {
		s.logFailure(r, o)
	}
}

func usageOf(res *provider.Result) schema.Usage {
	if res == nil {
		return schema.Usage{}
	}
	return res.Usage
}

// keeps tells whether the outcome is a turn to commit: an answer, or a
// cancelled one of which there is text. A refusal is answered, not committed.
func (o *outcome) keeps() bool {
	if o.err != nil {
		return false
	}
	switch o.result.StopReason {
	case schema.StopRefusal:
		return false
	case schema.StopCancelled:
		return o.text != ""
	}
	return true
}

// maxFailure bounds what is told of a provider's own words.
const maxFailure = 1024

// number is the turn's; one that was cancelled before it began had none.
func (o *outcome) number(r *Run) int {
	if !o.started {
		return 0
	}
	return r.turn
}

// failure turns what went wrong into what the caller is told.
func (r *Run) failure(err error, partial bool) error {
	var perr *provider.Error
	var conflict *ConflictError
	var injector *inject.FailedError // logged where it was asked
	var locked *LockedError
	switch {
	case errors.As(err, &perr):
		told := *perr
		told.Message = plain.Text(r.redactor.Text(perr.Message, nil), maxFailure)
		told.Err = nil
		return &ProviderError{Failure: &told, Partial: partial}
	case errors.Is(err, errAnswer):
		return &ProviderError{Failure: &provider.Error{Class: provider.ClassTooLarge, Message: err.Error()}, Partial: partial}
	case errors.As(err, &conflict), errors.As(err, &injector), errors.As(err, &locked), errors.Is(err, ErrStore):
		return err
	}
	r.log(zap.ErrorLevel, "run failed", err)
	return err
}

// log writes what went wrong with the run, without the secrets that only this
// run knows of.
func (r *Run) log(level zapcore.Level, message string, err error, more ...zap.Field) {
	fields := append(more, zap.String("session", r.session.id), zap.String("run", r.id), zap.String("error", r.redactor.Text(err.Error(), nil)))
	r.session.manager.cfg.Logger.Log(level, message, fields...)
}

// commit makes the turn durable, then part of the session.
func (r *Run) commit(o *outcome) {
	if err := r.session.logTurn(r, o); err != nil {
		o.err = err
		return
	}
	o.committed = true
}

// finish takes the run off the session, reports its end and publishes it.
func (r *Run) finish(o outcome) (more bool) {
	s := r.session
	s.mu.Lock()
	if o.committed {
		s.keep(o.turn, r.redactor)
	}
	s.running, s.settled, s.usedAt = nil, r.settled, time.Now().UnixMilli()
	more = len(s.queue) > 0
	s.mu.Unlock()
	redacted := r.tally.list()
	if o.started {
		r.reportEnd(&o, redacted)
	}
	if o.err != nil {
		r.end(nil, o.err)
		return more
	}
	r.end(&schema.TurnResult{
		SessionID: s.id, RunID: r.id, Turn: o.number(r), Committed: o.committed, StopReason: o.result.StopReason,
		Message: schema.AssistantText(o.text), Usage: o.result.Usage, Injected: notNil(o.injected), Redacted: redacted,
	}, nil)
	return more
}

func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func (r *Run) reportEnd(o *outcome, redacted []schema.Redaction) {
	ended := &schema.TurnEnded{EventHeader: r.header(schema.EventTurnEnded, r.turn), Cause: o.err, Committed: o.committed, Redacted: redacted}
	if o.err == nil {
		ended.StopReason = o.result.StopReason
		if o.result.Usage != (schema.Usage{}) {
			r.emit(r.usageEvent(o))
		}
	}
	r.emit(ended)
}

func (r *Run) usageEvent(o *outcome) *schema.UsageEvent {
	r.session.mu.Lock()
	defer r.session.mu.Unlock()
	use := r.session.contextUse(countedTokens(o.result.Usage), o.size)
	return &schema.UsageEvent{EventHeader: r.header(schema.EventUsage, r.turn), Usage: o.result.Usage, Context: use}
}

// keep makes a committed turn, of which red has hidden what it knows, part of
// the session; mu is held.
func (s *Session) keep(t *schema.TurnRecord, red *redact.Redactor) {
	s.hiding.appended(s.history.Len() == 0, red)
	s.turns = append(s.turns, turnInfo{at: timeOf(t.At), firstItem: int32(s.history.Len()), cancelled: t.StopReason == schema.StopCancelled})
	s.keepReminded(t)
	for _, m := range t.Messages {
		s.history.Append(m)
		if s.compacted.through > 0 {
			s.compacted.sent.Append(m)
		}
	}
	s.spend(t.Spent)
	s.keepNoticesOf(t)
	s.usage = s.usage.Add(t.Usage)
	s.counted = countedTokens(t.Usage)
	s.interrupted = nil
	s.keepKey(t)
}

// resultOf is what a committed turn was answered with, but for its message.
func resultOf(id string, t *schema.TurnRecord) schema.TurnResult {
	return schema.TurnResult{
		SessionID: id, RunID: t.RunID, Turn: t.Turn, Committed: true, StopReason: t.StopReason,
		Usage: t.Usage, Injected: notNil(t.Injected), Redacted: t.Redacted,
	}
}
