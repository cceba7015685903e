package wat

// takes is what stands behind an instruction's name.
type takes int

const (
	takesNothing takes = iota
	takesBlock
	takesEnd
	takesLabel
	takesTargets
	takesFunction
	takesType
	takesLocal
	takesGlobal
	takesMemory
	takesSigned
)

type code struct {
	bytes []byte
	takes takes
	align byte // of what takes a place in memory, as a power of two
}

// codes are the instructions that are known. Those of the tables and of
// memory.fill and its like work on the one there is.
var codes = instructions()

func instructions() map[string]code {
	all := map[string]code{
		"block": {bytes: []byte{0x02}, takes: takesBlock}, "loop": {bytes: []byte{0x03}, takes: takesBlock}, "if": {bytes: []byte{0x04}, takes: takesBlock},
		"end": {bytes: []byte{0x0b}, takes: takesEnd},
		"br":  {bytes: []byte{0x0c}, takes: takesLabel}, "br_if": {bytes: []byte{0x0d}, takes: takesLabel}, "br_table": {bytes: []byte{0x0e}, takes: takesTargets},
		"call": {bytes: []byte{0x10}, takes: takesFunction}, "call_indirect": {bytes: []byte{0x11}, takes: takesType}, "ref.func": {bytes: []byte{0xd2}, takes: takesFunction},
		"local.get": {bytes: []byte{0x20}, takes: takesLocal}, "local.set": {bytes: []byte{0x21}, takes: takesLocal}, "local.tee": {bytes: []byte{0x22}, takes: takesLocal},
		"global.get": {bytes: []byte{0x23}, takes: takesGlobal}, "global.set": {bytes: []byte{0x24}, takes: takesGlobal},
		"i32.load": {bytes: []byte{0x28}, takes: takesMemory, align: 2}, "i64.load": {bytes: []byte{0x29}, takes: takesMemory, align: 3}, "i32.load8_u": {bytes: []byte{0x2d}, takes: takesMemory},
		"i32.store": {bytes: []byte{0x36}, takes: takesMemory, align: 2}, "i64.store": {bytes: []byte{0x37}, takes: takesMemory, align: 3}, "i32.store8": {bytes: []byte{0x3a}, takes: takesMemory},
		"i32.const": {bytes: []byte{0x41}, takes: takesSigned}, "i64.const": {bytes: []byte{0x42}, takes: takesSigned},
	}
	for name, bytes := range plainCodes {
		all[name] = code{bytes: []byte(bytes)}
	}
	return all
}

var plainCodes = map[string]string{
	"unreachable": "\x00", "nop": "\x01", "else": "\x05", "return": "\x0f", "drop": "\x1a", "select": "\x1b",
	"memory.size": "\x3f\x00", "memory.grow": "\x40\x00", "memory.fill": "\xfc\x0b\x00", "memory.copy": "\xfc\x0a\x00\x00",
	"table.grow": "\xfc\x0f\x00", "table.size": "\xfc\x10\x00", "ref.null": "\xd0\x70",
	"i32.eqz": "\x45", "i32.eq": "\x46", "i32.ne": "\x47", "i32.lt_u": "\x49", "i32.gt_u": "\x4b", "i32.le_u": "\x4d", "i32.ge_u": "\x4f", "i64.eqz": "\x50",
	"i32.add": "\x6a", "i32.sub": "\x6b", "i32.mul": "\x6c", "i32.div_u": "\x6e", "i32.and": "\x71", "i32.or": "\x72", "i32.shl": "\x74", "i32.shr_u": "\x76",
	"i64.add": "\x7c", "i64.sub": "\x7d", "i64.mul": "\x7e", "i64.or": "\x84", "i64.shl": "\x86", "i64.shr_u": "\x88", "i32.wrap_i64": "\xa7", "i64.extend_i32_u": "\xad",
}

// unsigned is n as LEB128.
func unsigned(n uint64) []byte {
	var out []byte
	for ; n >= 0x80; n >>= 7 {
		out = append(out, byte(n)|0x80)
	}
	return append(out, byte(n))
}

// signed is n as signed LEB128.
func signed(n int64) []byte {
	var out []byte
	for ; n < -0x40 || n >= 0x40; n >>= 7 {
		out = append(out, byte(n)|0x80)
	}
	return append(out, byte(n)&0x7f)
}

// sized is content behind its length.
func sized(content []byte) []byte { return append(unsigned(uint64(len(content))), content...) }

// vector is entries behind their number.
func vector(entries [][]byte) []byte {
	out := unsigned(uint64(len(entries)))
	for _, e := range entries {
		out = append(out, e...)
	}
	return out
}
