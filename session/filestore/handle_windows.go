package filestore

import "os"

// A handle is an open file. It is used where it stands, as elsewhere.
type handle struct{ *os.File }

func (h *handle) adopt(f *os.File) error {
	h.File = f
	return nil
}

func (h *handle) datasync() error { return h.Sync() }
