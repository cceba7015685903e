package rpc

import (
	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
)

// preview makes the request that prompt would send, and sends none.
func (s *server) preview(c *call, p *schema.PreviewParams) (reply, error) {
	start := session.Start{SessionID: orZero(p.SessionID), Input: p.Input, RunOptions: s.runOptions(c, &p.PromptParams)}
	if start.SessionID == "" {
		own, err := s.reading("")
		if err != nil {
			return reply{}, err
		}
		start.SessionID = own.ID()
	}
	preview, err := s.Sessions.Preview(start, orZero(p.Turn), p.History)
	if err != nil {
		return reply{}, err
	}
	return reply{look: true, wait: func() (any, error) { return preview.Result(c.ctx) }}, nil
}
