package main

import (
	"slices"

	"github.com/prism-rpc/prism-rpc/schema"
)

// An exportedSplice is an ambient block that a session's turns carry.
type exportedSplice struct {
	serial   int
	ID       string          `json:"id"`
	Lifetime schema.Lifetime `json:"lifetime"`
	Name     string          `json:"name"`
	Content  string          `json:"content"`
}

// spliced takes a block in, at the end or in the place of the one of its id.
func (s *stored) spliced(r *schema.SpliceRecord) error {
	made := exportedSplice{r.Serial, r.ID, r.Lifetime, r.Name, r.Content}
	if at := slices.IndexFunc(s.splices, func(old exportedSplice) bool { return old.ID == r.ID }); at >= 0 {
		s.splices[at] = made
		return nil
	}
	s.splices = append(s.splices, made)
	return nil
}

// gone takes out the blocks of these serials.
func (s *stored) gone(serials ...int) {
	s.splices = slices.DeleteFunc(s.splices, func(sp exportedSplice) bool { return slices.Contains(serials, sp.serial) })
}
