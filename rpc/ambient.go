package rpc

import (
	"slices"

	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
)

// spliceContext adds an ambient block from the session's next call of a model
// on, and is answered once it is durable.
func (s *server) spliceContext(_ *call, p *schema.SpliceContextParams) (reply, error) {
	target, err := s.writing(orZero(p.SessionID))
	if err != nil {
		return reply{}, err
	}
	made, save, err := target.BeginSplice(session.Splice{ID: orZero(p.ID), Name: p.Name, Content: *p.Content, Lifetime: p.Lifetime})
	if err != nil {
		return reply{}, err
	}
	return reply{wait: func() (any, error) { return made, save() }}, nil
}

// unspliceContext takes a block out; one that isn't there is no error, since it
// may have been used up meanwhile.
func (s *server) unspliceContext(_ *call, p *schema.UnspliceContextParams) (reply, error) {
	target, err := s.writing(orZero(p.SessionID))
	if err != nil {
		return reply{}, err
	}
	save, err := target.BeginUnsplice(p.ID)
	if err != nil {
		return reply{}, err
	}
	return reply{wait: func() (any, error) { return schema.Empty{}, save() }}, nil
}

// listContext lists the ambient blocks as they are when it is read. What is
// armed may take the host a while to say.
func (s *server) listContext(c *call, p *schema.ListContextParams) (reply, error) {
	target, err := s.reading(orZero(p.SessionID))
	if err != nil {
		return reply{}, err
	}
	s.mu.Lock()
	modules := s.modules
	s.mu.Unlock()
	list := target.BeginListContext(modules)
	return reply{look: true, wait: func() (any, error) { return list(c.ctx, p.Text), nil }}, nil
}

// shortContext keeps as many blocks as there is room for, and then the contents
// of the first ones.
func shortContext(r schema.ListContextResult, room int) *schema.ListContextResult {
	all := slices.Clone(r.Blocks)
	r.Blocks = slices.Clone(all)
	contents := part{
		name: "blocks.content",
		empty: func() {
			for i := range r.Blocks {
				r.Blocks[i].Content = nil
			}
		},
		fill: func(free func() int) bool {
			left := free()
			for i := range r.Blocks {
				if left -= sizeOf(all[i].Content) + len(`,"content":`); left < 0 {
					return false
				}
				r.Blocks[i].Content = all[i].Content
			}
			return true
		},
	}
	contents.empty()
	refill(&r, room, &r.Cut, listPart("blocks", &r.Blocks), contents)
	return &r
}
