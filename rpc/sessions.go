package rpc

import (
	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
)

// newSession makes a session and answers with its state once it is durable.
func (s *server) newSession(c *call, p *schema.NewSessionParams) (reply, error) {
	if err := s.checkRunning(); err != nil {
		return reply{}, err
	}
	made, err := s.Sessions.Create(orZero(p.SessionID), schema.SessionSettings{
		Instructions: p.Instructions, InstructionInjectors: p.InstructionInjectors,
		Model: p.Model, Metadata: p.Metadata, CWD: p.CWD, ContextInjections: p.ContextInjections,
	}, p.Redact)
	if err != nil {
		return reply{}, err
	}
	state := made.State()
	return reply{wait: func() (any, error) { return state, made.Sync() }}, nil
}

// setModel is updateSession of the model alone.
func (s *server) setModel(c *call, p *schema.SetModelParams) (reply, error) {
	model := schema.Patch[string]{Given: true, Null: p.Model == nil}
	if p.Model != nil {
		model.Value = *p.Model
	}
	return s.updateSession(c, &schema.UpdateSessionParams{SessionID: p.SessionID, Model: model})
}

// updateSession holds from the session's next turn on, and is answered once it
// is durable.
func (s *server) updateSession(_ *call, p *schema.UpdateSessionParams) (reply, error) {
	target, err := s.writing(orZero(p.SessionID))
	if err != nil {
		return reply{}, err
	}
	save, err := target.Update(p)
	if err != nil {
		return reply{}, err
	}
	state := s.stateOf(target)
	return reply{wait: func() (any, error) { return state, save() }}, nil
}

// state answers from the last commit, and with what runs and waits.
func (s *server) state(c *call, p *schema.SessionParams) (*schema.SessionState, error) {
	target, err := s.reading(orZero(p.SessionID))
	if err != nil {
		return nil, err
	}
	return s.stateOf(target), nil
}

// stateOf is a session's state, with the number of its newest event on this
// connection.
func (s *server) stateOf(target *session.Session) *schema.SessionState {
	return target.StateWith(func(st *schema.SessionState) {
		if st.Running != nil {
			st.Running.Seq = s.conn.lastSeq(st.SessionID)
		}
	})
}

// listInjectors lists what names can be selected, never a text.
func (s *server) listInjectors(c *call, p *schema.ListInjectorsParams) (*schema.ListInjectorsResult, error) {
	if p.SessionID != nil {
		if _, err := s.Sessions.View(*p.SessionID); err != nil {
			return nil, err
		}
	}
	return &schema.ListInjectorsResult{Injectors: s.Sessions.Registry().List(s.redacting())}, nil
}
