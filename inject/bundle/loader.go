package bundle

import (
	"context"

	"github.com/prism-rpc/prism-rpc/inject"
)

// MaxModuleBytes bounds the code that a bundle names.
const MaxModuleBytes = 8 << 20

// A Module is code that a bundle's manifest names (P20). Nothing of it has been
// read before Read is called.
type Module struct {
	Name       string                 // the bundle's: the injector is pinned to it
	File       string                 // as the manifest names it
	Path       string                 // absolute, without links
	ExportName string                 // what the manifest asks for in the module; may be empty
	Read       func() ([]byte, error) // the file, which may not have left its bundle since; at most MaxModuleBytes
}

// A ModuleLoader makes an injector of code. Load is called from many
// goroutines, at the first turn that uses the bundle, and again after an error.
// ctx ends with the time that the turn gives an injector. The injector is
// asked under the bundle's name, whatever it calls itself. Nil and no error
// mean that the module gives no injector now.
type ModuleLoader interface {
	Load(ctx context.Context, m Module) (inject.Injector, error)
}

// A ReadRequest asks to read a resource that lies outside of its bundle (P22).
type ReadRequest struct {
	Path   string // absolute, without links
	Bundle string // the bundle's name
	Reason string // why it is outside, for people
}

// A Permission says whether such a resource may be read. It is asked before
// anything of the resource is read. An error means no.
type Permission func(ctx context.Context, r ReadRequest) (allow bool, err error)
