package rpc

import (
	"cmp"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
)

const sessionsPage = 100

// listSessions gives a page of the stored sessions, the newest first.
func (s *server) listSessions(c *call, p *schema.ListSessionsParams) (reply, error) {
	query, room := *p, s.conn.sizes.roomForResult(c)
	query.Limit = cmp.Or(p.Limit, sessionsPage)
	return reply{wait: func() (any, error) { return s.sessionsIn(query, room) }}, nil
}

// sessionsIn gives as large a page as there is room for.
func (s *server) sessionsIn(query schema.ListSessionsParams, room int) (*schema.ListSessionsResult, error) {
	for {
		page, err := s.Sessions.List(query.Cursor, query.Limit, query.CWD)
		if err != nil || len(page.Sessions) < 2 || sizeOf(page) <= room {
			return page, err
		}
		query.Limit = len(page.Sessions) / 2
	}
}

// loadSession tells where a session stands; what it holds is read on demand.
func (s *server) loadSession(c *call, p *schema.NamedSessionParams) (*schema.SessionState, error) {
	return s.state(c, &schema.SessionParams{SessionID: &p.SessionID})
}

// forkSession makes a session of another one's turns, from its last commit,
// and answers once the new one is durable.
func (s *server) forkSession(_ *call, p *schema.ForkSessionParams) (reply, error) {
	if err := s.checkRunning(); err != nil {
		return reply{}, err
	}
	turn := -1
	if p.Turn != nil {
		turn = *p.Turn
	}
	made, err := s.Sessions.Fork(p.SessionID, turn, orZero(p.NewSessionID))
	if err != nil {
		return reply{}, err
	}
	state := made.State()
	return reply{wait: func() (any, error) { return state, made.Sync() }}, nil
}

// compact has a session's turns summarised in what is sent to the model. It
// runs as a turn does, when nothing else does.
func (s *server) compact(c *call, p *schema.CompactParams) (reply, error) {
	if err := s.checkRunning(); err != nil {
		return reply{}, err
	}
	target, err := s.writing(orZero(p.SessionID))
	if err != nil {
		return reply{}, err
	}
	made, err := target.Compact(c.ctx, session.CompactOptions{Instructions: p.Instructions, RequestID: jsontext.Value(c.id), OnEvent: s.onEvent})
	if err != nil {
		return reply{}, err
	}
	return reply{wait: func() (any, error) { return made.Wait() }, sent: made.Settle}, nil
}

// closeSession cancels a session's turns and lets go of it; it is answered
// after those turns' answers.
func (s *server) closeSession(_ *call, p *schema.NamedSessionParams) (reply, error) {
	return endedReply(s.Sessions.CloseSession(p.SessionID)), nil
}

// deleteSession is closeSession that removes the session from the store too.
func (s *server) deleteSession(_ *call, p *schema.NamedSessionParams) (reply, error) {
	return endedReply(s.Sessions.DeleteSession(p.SessionID)), nil
}

func endedReply(ended func() error) reply {
	return reply{wait: func() (any, error) { return schema.Empty{}, ended() }}
}
