package wasm

import (
	"bytes"
	"fmt"
	"strconv"
)

// What a module may be made of, checked before anything is compiled. The
// largest modules of Go, Rust and C stay far below.
const (
	maxTypes         = 10_000
	maxTypeValues    = 1_000 // parameters, and results, of a type
	maxImports       = 1_000
	maxFunctions     = 50_000
	maxTables        = 16
	maxTableEntries  = 100_000
	maxGlobals       = 10_000
	maxExports       = 10_000
	maxElements      = 10_000 // segments
	maxData          = 100_000
	maxLocals        = 5_000 // of a function
	maxAllLocals     = 1_000_000
	maxDepth         = 1_000 // of nested blocks
	maxBodyBytes     = 256 << 10
	maxTablesBytes   = 1 << 20 // of each section but code and data
	maxModuleBytes   = 8 << 20
	maxBranchTargets = 10_000

	maxBranches       = 4_000       // of a function: blocks, and branches on a condition
	maxSquareBranches = 100_000_000 // their squares, over all functions: some 5 s of compiling
)

// The sections of a module.
const (
	sectionCustom    = 0
	sectionType      = 1
	sectionImport    = 2
	sectionFunction  = 3
	sectionTable     = 4
	sectionMemory    = 5
	sectionGlobal    = 6
	sectionExport    = 7
	sectionStart     = 8
	sectionElement   = 9
	sectionCode      = 10
	sectionData      = 11
	sectionDataCount = 12
	sectionsEnd      = 13
)

// A hardener checks a module and makes the form of it that is run.
type hardener struct {
	offered func(module, name string) bool // functions that a module may import
	pages   uint32                         // of memory

	seen     [sectionsEnd]bool
	locals   int // of all functions so far
	branches int // their squares, likewise
}

// harden checks a module against the bounds and gives the module that is run
// in its place: the same without custom sections, and with a check for the end
// of its time at the start of every function and before every instruction that
// moves much memory. The compiler puts such a check only into loops, so that
// functions that call each other would run on and, being no Go code, keep the
// whole process from collecting its garbage.
func (h *hardener) harden(b []byte) ([]byte, error) {
	if len(b) > maxModuleBytes {
		return nil, fmt.Errorf("%w: a file of more than %d bytes", ErrLimit, maxModuleBytes)
	}
	header := []byte("\x00asm\x01\x00\x00\x00")
	if !bytes.HasPrefix(b, header) {
		return nil, fmt.Errorf("%w: it doesn't begin as a module of version 1 does", ErrMalformed)
	}
	out := append(make([]byte, 0, len(b)+len(b)/8), header...)
	r := &reader{b: b, at: len(header)}
	for r.more() {
		id := r.byte()
		s := r.part(maxModuleBytes, "a section")
		if id == sectionCustom {
			continue
		}
		content := h.section(id, s)
		if r.err == nil {
			r.err = s.err
		}
		out = appendSized(append(out, id), content)
	}
	return out, r.err
}

// section checks one section and gives its content as it is to be run.
func (h *hardener) section(id byte, s *reader) []byte {
	if id >= sectionsEnd || h.seen[id] {
		s.fail(ErrMalformed, "section %d, unknown or a second one,", id)
		return nil
	}
	h.seen[id] = true
	whole := s.b[s.at:]
	switch id {
	case sectionCode:
		return h.code(s)
	case sectionData:
		s.count(maxData, "data segments")
		return whole
	}
	if len(whole) > maxTablesBytes {
		s.fail(ErrLimit, "section %d of %d bytes, more than %d,", id, len(whole), maxTablesBytes)
	}
	h.tables(id, s)
	return whole
}

// tables checks the sections that describe, rather than do.
func (h *hardener) tables(id byte, s *reader) {
	switch id {
	case sectionType:
		list(s, maxTypes, "types", checkType)
	case sectionImport:
		list(s, maxImports, "imports", h.checkImport)
	case sectionFunction:
		s.count(maxFunctions, "functions")
	case sectionTable:
		list(s, maxTables, "tables", checkTable)
	case sectionMemory:
		list(s, 1, "memories", h.checkMemory)
	case sectionGlobal:
		s.count(maxGlobals, "globals")
	case sectionExport:
		s.count(maxExports, "exports")
	case sectionElement:
		s.count(maxElements, "element segments")
	}
}

// list reads a list whose entries take all of s.
func list(s *reader, most int, of string, entry func(*reader)) {
	for range s.count(most, of) {
		if s.err != nil {
			return
		}
		entry(s)
	}
	if s.more() {
		s.fail(ErrMalformed, "more than the %s", of)
	}
}

func checkType(s *reader) {
	if s.byte() != 0x60 {
		s.fail(ErrMalformed, "a type that is no function's")
	}
	s.take(s.count(maxTypeValues, "parameters"))
	s.take(s.count(maxTypeValues, "results"))
}

// checkImport refuses by name what is not offered.
func (h *hardener) checkImport(s *reader) {
	module, name := importName(s), importName(s)
	kind := s.byte()
	s.skipNumber(5) // a function's type
	if s.err == nil && (kind != 0 || !h.offered(module, name)) {
		s.err = fmt.Errorf("%w: %s of %s", ErrImport, shown(name), shown(module))
	}
}

func importName(s *reader) string { return string(s.part(maxTablesBytes, "a name").rest()) }

func (r *reader) rest() []byte { return r.take(r.left()) }

// shown is a name that a module's author chose, fit to be read.
func shown(name string) string {
	const most = 64
	if len(name) > most {
		return strconv.QuoteToASCII(name[:most]) + "…"
	}
	return strconv.QuoteToASCII(name)
}

func checkTable(s *reader) {
	s.byte() // the type of its entries
	if flags, size := s.byte(), s.count(maxTableEntries, "entries of a table"); flags > 1 {
		s.fail(ErrMalformed, "a table of %d entries of an unknown kind", size)
	} else if flags == 1 {
		s.u32() // it never grows
	}
}

func (h *hardener) checkMemory(s *reader) {
	flags, size := s.byte(), s.u32()
	if flags > 1 {
		s.fail(ErrMalformed, "a memory of an unknown kind")
	}
	if size > h.pages {
		s.fail(ErrLimit, "a memory of %d pages, more than %d,", size, h.pages)
	}
	if flags == 1 {
		s.u32() // the runtime keeps to its own bound
	}
}

// check is an empty loop: the place where a module's time is looked at.
var check = [...]byte{opLoop, emptyBlock, opEnd}

func (h *hardener) code(s *reader) []byte {
	n := s.count(maxFunctions, "functions")
	out := appendU32(make([]byte, 0, s.left()+s.left()/8), uint32(n))
	var body []byte
	for range n {
		f := s.part(maxBodyBytes, "a function")
		body = h.body(body[:0], f)
		if s.err == nil {
			s.err = f.err
		}
		if s.err != nil {
			return nil
		}
		out = appendSized(out, body)
	}
	if s.more() {
		s.fail(ErrMalformed, "more than the functions")
	}
	return out
}

// body appends the function f, with its checks.
func (h *hardener) body(out []byte, f *reader) []byte {
	start := f.at
	h.checkLocals(f)
	out = append(append(out, f.b[start:f.at]...), check[:]...)
	branches := 0
	for depth := 1; f.more(); {
		start := f.at
		op := f.byte()
		if op == opFurther && movesMuch(f) {
			out = append(out, check[:]...)
			branches += movingBranches
		}
		if branchesAt(op) {
			branches++
		}
		depth += instruction(f, op)
		if depth > maxDepth {
			f.fail(ErrLimit, "blocks more than %d deep", maxDepth)
		}
		if depth == 0 && f.more() {
			f.fail(ErrMalformed, "more than the function")
		}
		out = append(out, f.b[start:f.at]...)
	}
	h.countBranches(f, branches)
	return out
}

func (h *hardener) checkLocals(f *reader) {
	locals := 0
	for range f.count(maxLocals, "kinds of locals") {
		locals += f.count(maxLocals-locals, "further locals")
		f.byte()
		if f.err != nil {
			return
		}
	}
	if h.locals += locals; h.locals > maxAllLocals {
		f.fail(ErrLimit, "more than %d locals in all", maxAllLocals)
	}
}

// countBranches bounds the time to compile a function, which grows with the
// square of its branches.
func (h *hardener) countBranches(f *reader, n int) {
	if n > maxBranches {
		f.fail(ErrLimit, "a function of %d branches, more than %d,", n, maxBranches)
	}
	if h.branches += n * n; h.branches > maxSquareBranches {
		f.fail(ErrLimit, "functions with too many branches")
	}
}
