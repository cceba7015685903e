package wasm

// The instructions that have to be told apart.
const (
	opBlock        = 0x02
	opLoop         = 0x03
	opIf           = 0x04
	opElse         = 0x05
	opEnd          = 0x0b
	opBranch       = 0x0c
	opBranchIf     = 0x0d
	opBranchTable  = 0x0e
	opReturn       = 0x0f
	opCall         = 0x10
	opCallIndirect = 0x11
	opDrop         = 0x1a
	opSelect       = 0x1b
	opSelectTyped  = 0x1c
	opLocalGet     = 0x20
	opTableSet     = 0x26
	opLoad         = 0x28 // the first that names a place in memory
	opStore32      = 0x3e // the last
	opMemorySize   = 0x3f
	opMemoryGrow   = 0x40
	opI32Const     = 0x41
	opI64Const     = 0x42
	opF32Const     = 0x43
	opF64Const     = 0x44
	opNumeric      = 0x45 // the first that takes nothing but the stack
	opNumericEnd   = 0xc4 // the last
	opRefNull      = 0xd0
	opRefIsNull    = 0xd1
	opRefFunc      = 0xd2
	opFurther      = 0xfc

	emptyBlock = 0x40
)

// The instructions behind opFurther.
const (
	opTruncateLast = 0x07
	opMemoryInit   = 0x08
	opDataDrop     = 0x09
	opMemoryCopy   = 0x0a
	opMemoryFill   = 0x0b
	opTableInit    = 0x0c
	opElementDrop  = 0x0d
	opTableCopy    = 0x0e
	opTableGrow    = 0x0f
	opTableSize    = 0x10
	opTableFill    = 0x11
)

// instruction passes over what op takes, and tells how much deeper in blocks
// the next one stands. Vectors, threads, tail calls and exceptions are not
// offered.
func instruction(f *reader, op byte) int {
	switch {
	case op <= 0x01, op == opElse, op == opReturn, op == opDrop, op == opSelect, op == opRefIsNull:
	case op >= opNumeric && op <= opNumericEnd:
	case op == opBlock, op == opLoop, op == opIf:
		f.skipNumber(5) // its type
		return 1
	case op == opEnd:
		return -1
	case op == opBranch, op == opBranchIf, op == opCall, op == opRefFunc, op >= opLocalGet && op <= opTableSet:
		f.u32()
	case op == opCallIndirect, op >= opLoad && op <= opStore32:
		f.u32()
		f.u32()
	default:
		rare(f, op)
	}
	return 0
}

func rare(f *reader, op byte) {
	switch op {
	case opBranchTable:
		for range f.count(maxBranchTargets, "branches") + 1 {
			f.u32()
		}
	case opSelectTyped:
		f.take(f.count(1, "types of a choice"))
	case opMemorySize, opMemoryGrow:
		zero(f)
	case opRefNull:
		f.byte()
	case opI32Const:
		f.skipNumber(5)
	case opI64Const:
		f.skipNumber(10)
	case opF32Const:
		f.take(4)
	case opF64Const:
		f.take(8)
	case opFurther:
		further(f)
	default:
		f.fail(ErrLimit, "instruction %#x, which is not offered,", op)
	}
}

func further(f *reader) {
	switch op := f.u32(); op {
	case opMemoryInit:
		f.u32()
		zero(f)
	case opMemoryCopy:
		zero(f)
		zero(f)
	case opMemoryFill:
		zero(f)
	case opTableInit, opTableCopy:
		f.u32()
		f.u32()
	case opDataDrop, opElementDrop, opTableSize, opTableFill:
		f.u32()
	default:
		if op > opTruncateLast {
			f.fail(ErrLimit, "instruction 0xfc %#x, which is not offered,", op)
		}
	}
}

// branchesAt tells whether op makes the compiler's work branch.
func branchesAt(op byte) bool {
	return op == opBlock || op == opLoop || op == opIf || op == opBranchIf || op == opBranchTable
}

// movingBranches are those of an instruction that movesMuch, and of its check.
const movingBranches = 5

// zero reads what names the one memory there is.
func zero(f *reader) {
	if f.byte() != 0 {
		f.fail(ErrMalformed, "a second memory")
	}
}

// movesMuch tells whether the instruction that begins here, behind opFurther,
// may take long by itself.
func movesMuch(f *reader) bool {
	ahead := reader{b: f.b, at: f.at}
	switch ahead.u32() {
	case opMemoryInit, opMemoryCopy, opMemoryFill, opTableInit, opTableCopy, opTableFill:
		return ahead.err == nil
	}
	return false
}
