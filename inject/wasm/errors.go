package wasm

import "errors"

// Why a module gives nothing. None of these ends a turn by itself (P10).
var (
	ErrMalformed = errors.New("the file is no WebAssembly module")
	ErrLimit     = errors.New("the module is past a limit")
	ErrImport    = errors.New("the module imports what is not offered")
	ErrExport    = errors.New("the module doesn't export what it must")
	ErrCompile   = errors.New("the module doesn't compile")
	ErrTrap      = errors.New("the module failed")
	ErrExited    = errors.New("the module ended itself")
	ErrResult    = errors.New("the module's result can't be used")
	ErrInput     = errors.New("the turn is too large for a module")
)
