package rpc

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
)

// prompt asks for a turn of an idle session. A session that no store knows is
// made.
func (s *server) prompt(c *call, p *schema.PromptParams) (reply, error) {
	return s.turn(c, p, session.Start{Create: true})
}

// followUp asks for a turn after those that run or wait.
func (s *server) followUp(c *call, p *schema.PromptParams) (reply, error) {
	return s.turn(c, p, session.Start{Queue: true})
}

func (s *server) turn(c *call, p *schema.PromptParams, start session.Start) (reply, error) {
	if err := s.checkRunning(); err != nil {
		return reply{}, err
	}
	start.SessionID, start.Input, start.RunOptions = orZero(p.SessionID), p.Input, s.runOptions(c, p)
	if start.SessionID == "" {
		start.SessionID, start.Create = s.ownSession(), true
	}
	run, err := s.Sessions.Begin(c.ctx, start)
	if err != nil {
		return reply{}, err
	}
	if run.Ended() { // a replay; its message may be large
		result, err := run.Wait()
		return reply{result: result, sent: run.Settle}, err
	}
	return reply{wait: func() (any, error) { return run.Wait() }, sent: run.Settle}, nil
}

func (s *server) runOptions(c *call, p *schema.PromptParams) session.RunOptions {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := session.RunOptions{
		Names: p.InstructionInjectors, Instructions: p.Instructions, ContextBlocks: p.ContextBlocks,
		Model: p.Model, Metadata: p.Metadata, Options: p.Options, RequestID: jsontext.Value(c.id), RequestKey: p.RequestKey,
		Modules: s.modules, Secrets: p.Redact, OnEvent: s.onEvent,
	}
	if p.ExpectedTurn != nil {
		o.ExpectedTurn = *p.ExpectedTurn
	}
	return o
}

// onEvent passes a turn's event on to the client; an error in it gets the form
// that the turn's request is answered with.
func (s *server) onEvent(e schema.Event) {
	if ended, ok := e.(*schema.TurnEnded); ok && ended.Cause != nil {
		w := s.describe(ended.Cause)
		ended.Error = &schema.EventError{Code: w.Code, Message: w.Message, Data: w.Data}
	}
	s.conn.event(e)
}
