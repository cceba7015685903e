package rpc

import "github.com/prism-rpc/prism-rpc/schema"

// listModels asks a provider which models it has.
func (s *server) listModels(c *call, p *schema.ListModelsParams) (reply, error) {
	list, err := s.Sessions.BeginModels(orZero(p.Provider))
	if err != nil {
		return reply{}, err
	}
	return reply{wait: func() (any, error) { return list(c.ctx) }}, nil
}

// shortModels keeps the first models that fit.
func shortModels(r schema.ListModelsResult, room int) *schema.ListModelsResult {
	refill(&r, room, &r.Cut, listPart("models", &r.Models))
	return &r
}
