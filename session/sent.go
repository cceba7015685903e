package session

import (
	"slices"
	"sync"

	"github.com/prism-rpc/prism-rpc/provider"
)

// keptRequests is of how many sessions the last request is kept.
const keptRequests = 64

// sentRequests knows the last request of the sessions that sent one most
// recently, so that a preview can be compared with it.
type sentRequests struct {
	mu    sync.Mutex
	last  map[string]*provider.Request
	order []string // of the sessions, the one that sent longest ago first
}

func (s *sentRequests) put(sessionID string, req *provider.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropLocked(sessionID)
	if len(s.order) == keptRequests {
		s.dropLocked(s.order[0])
	}
	if s.last == nil {
		s.last = map[string]*provider.Request{}
	}
	s.last[sessionID] = req
	s.order = append(s.order, sessionID)
}

func (s *sentRequests) of(sessionID string) *provider.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last[sessionID]
}

func (s *sentRequests) drop(sessionID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropLocked(sessionID)
}

func (s *sentRequests) dropLocked(sessionID string) {
	if i := slices.Index(s.order, sessionID); i >= 0 {
		s.order = slices.Delete(s.order, i, i+1)
		delete(s.last, sessionID)
	}
}
