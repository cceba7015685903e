package rpc

import (
	"errors"

	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
)

// abort cancels a session's running turn, one run, or also all that wait. It
// is answered after the answers that it caused.
func (s *server) abort(c *call, p *schema.AbortParams) (reply, error) {
	target, err := s.abortable(orZero(p.SessionID))
	if err != nil || target == nil {
		return reply{result: schema.AbortResult{}}, err
	}
	runs := target.Abort(orZero(p.RunID), p.Queue == "clear")
	if len(runs) == 0 {
		return reply{result: schema.AbortResult{}}, nil
	}
	return reply{wait: func() (any, error) {
		for _, r := range runs {
			select {
			case <-r.Settled():
			case <-c.ctx.Done():
				return nil, c.ctx.Err()
			}
		}
		return schema.AbortResult{Aborted: true}, nil
	}}, nil
}

// abortable is the session in memory, nil when there is none in which anything
// could run.
func (s *server) abortable(id string) (*session.Session, error) {
	own := id == ""
	if own {
		id = s.ownSession()
	}
	found, err := s.Sessions.View(id)
	if own && errors.Is(err, session.ErrNotFound) {
		return nil, nil
	}
	return found, err
}
