package main

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
)

// A stored is what a session's log says beside its turns, which go to turn one
// after the other.
type stored struct {
	turn func(*exportedTurn) error

	header      schema.SessionRecord
	settings    schema.SessionSettings // the last
	compactions []*exportedCompaction
	splices     []exportedSplice
	open        *unfinished // the turn that nothing has ended
	images      images      // of the turns
}

// An unfinished turn is one that a crash cut off, or that runs at this moment
// in another process.
type unfinished struct {
	Turn       int          `json:"turn"`
	RunID      string       `json:"runId"`
	At         string       `json:"at"`
	RequestKey string       `json:"requestKey,omitempty"`
	Input      schema.Input `json:"input"`
	Partial    string       `json:"partial"`
}

// An exportedTurn is a turn as export prints it.
type exportedTurn struct {
	Turn       int                `json:"turn"`
	RunID      string             `json:"runId"`
	At         string             `json:"at"`
	Model      string             `json:"model,omitempty"`
	StopReason schema.StopReason  `json:"stopReason"`
	Usage      schema.Usage       `json:"usage"`
	Injected   []schema.Injected  `json:"injected"`
	Passed     []schema.Passed    `json:"passed,omitempty"`
	Redacted   []schema.Redaction `json:"redacted,omitempty"`
	Messages   []schema.Message   `json:"messages"`
}

// An exportedCompaction is a summary that stands for the turns up to Turn.
type exportedCompaction struct {
	Turn       int            `json:"turn"`
	Generation int            `json:"generation"`
	At         string         `json:"at"`
	Usage      schema.Usage   `json:"usage"`
	Summary    schema.Message `json:"summary"`
}

// read reads the log of id, without taking it. Secrets that were not known
// when it was written are hidden now.
func (k *keeper) read(id string, s *stored) error {
	if k.store == nil {
		return ofSession(id, session.ErrNotFound)
	}
	err := k.store.Read(id, func(record []byte) error { return s.add(record, k.redactor()) })
	if err != nil {
		return ofSession(id, err)
	}
	return nil
}

func (s *stored) add(record []byte, hide *redact.Redactor) error {
	record = hide.JSON(record, nil)
	var head schema.RecordHead
	if err := json.Unmarshal(record, &head); err != nil {
		return errors.New("a record is not of its shape")
	}
	switch head.T {
	case schema.RecordSession:
		return recordAs(record, func(r *schema.SessionRecord) error { s.header, s.settings = *r, r.Settings; return nil })
	case schema.RecordSettings:
		return recordAs(record, func(r *schema.SettingsRecord) error { s.settings = r.Settings; return nil })
	case schema.RecordStarted:
		return recordAs(record, s.started)
	case schema.RecordPartial:
		return recordAs(record, s.partial)
	case schema.RecordFailed:
		return recordAs(record, s.failed)
	case schema.RecordTurn:
		return recordAs(record, s.committed)
	case schema.RecordCompaction:
		return recordAs(record, s.compacted)
	case schema.RecordSplice:
		return recordAs(record, s.spliced)
	case schema.RecordUnsplice:
		return recordAs(record, func(r *schema.UnspliceRecord) error { s.gone(r.Serial); return nil })
	}
	return nil // of a newer program
}

func recordAs[T any](record []byte, use func(*T) error) error {
	r := new(T)
	if err := json.Unmarshal(record, r); err != nil {
		return errors.New("a record is not of its shape") // what is wrong with it may quote it
	}
	return use(r)
}

func (s *stored) started(r *schema.StartedRecord) error {
	s.open = &unfinished{Turn: r.Turn, RunID: r.RunID, At: r.At, RequestKey: r.RequestKey, Input: r.Input}
	return nil
}

func (s *stored) partial(r *schema.PartialRecord) error {
	if s.open != nil && s.open.RunID == r.RunID {
		s.open.Partial += r.Text
	}
	return nil
}

func (s *stored) failed(r *schema.FailedRecord) error {
	if s.open != nil && s.open.RunID == r.RunID {
		s.open = nil
	}
	return nil
}

func (s *stored) committed(r *schema.TurnRecord) error {
	s.open = nil
	s.gone(r.Spent...)
	t := &exportedTurn{
		Turn: r.Turn, RunID: r.RunID, At: r.At, Model: r.Model, StopReason: r.StopReason,
		Usage: r.Usage, Injected: r.Injected, Passed: r.Passed, Redacted: r.Redacted, Messages: []schema.Message{},
	}
	for _, raw := range r.Messages {
		m, err := provider.DecodeMessage(raw)
		if err != nil {
			return fmt.Errorf("turn %d holds no dialogue", r.Turn)
		}
		if provider.SourceOf(raw) != nil {
			continue // nobody said it
		}
		t.Messages = append(t.Messages, m)
		s.images.add(m.Content)
	}
	return s.turn(t)
}

func (s *stored) compacted(r *schema.CompactionRecord) error {
	summary, err := provider.DecodeMessage(r.Summary)
	if err != nil {
		return fmt.Errorf("the summary of generation %d is none", r.Generation)
	}
	s.compactions = append(s.compactions, &exportedCompaction{r.Turn, r.Generation, r.At, r.Usage, summary})
	return nil
}
