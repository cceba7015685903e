package wat

import (
	"fmt"
	"slices"
	"strings"
)

// A module is what has been read of one, each section as its encoded entries.
type module struct {
	types, imports, functionTypes, memories, tables, declaredGlobals, exports, bodies, data [][]byte
	elements                                                                                [][]byte
	start                                                                                   []byte

	functions, globals map[string]uint32 // by $name
	functionCount      uint32
	globalCount        uint32
}

var valueTypes = map[string]byte{"i32": 0x7f, "i64": 0x7e, "f32": 0x7d, "f64": 0x7c, "funcref": 0x70, "externref": 0x6f}

// declare gives every function and global its number.
func (m *module) declare(fields []node) error {
	for _, f := range fields {
		switch f.head() {
		case "import":
			if len(f.list) < 4 || f.list[3].head() != "func" {
				return fmt.Errorf("wat: an import is of a func here")
			}
			name(f.list[3], m.functions, &m.functionCount)
		case "func":
			name(f, m.functions, &m.functionCount)
		case "global":
			name(f, m.globals, &m.globalCount)
		}
	}
	return nil
}

func name(f node, names map[string]uint32, count *uint32) {
	if len(f.list) > 1 && strings.HasPrefix(f.list[1].atom, "$") {
		names[f.list[1].atom] = *count
	}
	*count++
}

func (m *module) define(fields []node) error {
	functions, globals := uint32(0), uint32(0)
	for _, f := range fields {
		var err error
		switch f.head() {
		case "import":
			err = m.addImport(f)
			functions++
		case "func":
			err = m.addFunction(f, functions)
			functions++
		case "memory":
			err = m.addLimits(f, &m.memories, 2, nil)
		case "table":
			err = m.addLimits(f, &m.tables, 1, []byte{valueTypes["funcref"]})
		case "global":
			err = m.addGlobal(f, globals)
			globals++
		case "data":
			err = m.addData(f)
		case "elem":
			err = m.addElements(f)
		case "start":
			m.start = unsigned(uint64(m.functions[f.list[1].atom]))
		default:
			err = fmt.Errorf("wat: unknown field (%s", f.head())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// signature takes (param …) and (result …), naming parameters in locals.
func signature(fields []node, locals map[string]uint32) (encoded []byte, params int, rest []node) {
	var in, out []byte
	for len(fields) > 0 && (fields[0].head() == "param" || fields[0].head() == "result") {
		for _, t := range fields[0].list[1:] {
			switch {
			case strings.HasPrefix(t.atom, "$"):
				locals[t.atom] = uint32(len(in))
			case fields[0].head() == "param":
				in = append(in, valueTypes[t.atom])
			default:
				out = append(out, valueTypes[t.atom])
			}
		}
		fields = fields[1:]
	}
	return slices.Concat([]byte{0x60}, sized(in), sized(out)), len(in), fields
}

func (m *module) typeOf(encoded []byte) []byte {
	i := slices.IndexFunc(m.types, func(t []byte) bool { return string(t) == string(encoded) })
	if i < 0 {
		i = len(m.types)
		m.types = append(m.types, encoded)
	}
	return unsigned(uint64(i))
}

func (m *module) addImport(f node) error {
	from, err := f.list[1].text()
	if err != nil {
		return err
	}
	what, err := f.list[2].text()
	if err != nil {
		return err
	}
	fields := f.list[3].list[1:]
	if len(fields) > 0 && strings.HasPrefix(fields[0].atom, "$") {
		fields = fields[1:]
	}
	t, _, _ := signature(fields, map[string]uint32{})
	m.imports = append(m.imports, slices.Concat(sized([]byte(from)), sized([]byte(what)), []byte{0}, m.typeOf(t)))
	return nil
}

// takeExports takes a $name and (export "…") of what has that kind and number.
func (m *module) takeExports(fields []node, kind byte, number uint32) ([]node, error) {
	if len(fields) > 0 && strings.HasPrefix(fields[0].atom, "$") {
		fields = fields[1:]
	}
	for len(fields) > 0 && fields[0].head() == "export" {
		as, err := fields[0].list[1].text()
		if err != nil {
			return nil, err
		}
		m.exports = append(m.exports, slices.Concat(sized([]byte(as)), []byte{kind}, unsigned(uint64(number))))
		fields = fields[1:]
	}
	return fields, nil
}

func (m *module) addFunction(f node, number uint32) error {
	fields, err := m.takeExports(f.list[1:], 0, number)
	if err != nil {
		return err
	}
	b := &body{module: m, locals: map[string]uint32{}}
	t, count, fields := signature(fields, b.locals)
	m.functionTypes = append(m.functionTypes, m.typeOf(t))
	var locals [][]byte
	for len(fields) > 0 && fields[0].head() == "local" {
		for _, l := range fields[0].list[1:] {
			if strings.HasPrefix(l.atom, "$") {
				b.locals[l.atom] = uint32(count)
				continue
			}
			locals = append(locals, []byte{1, valueTypes[l.atom]})
			count++
		}
		fields = fields[1:]
	}
	if err := b.sequence(fields); err != nil {
		return fmt.Errorf("%w in function %d", err, number)
	}
	m.bodies = append(m.bodies, sized(slices.Concat(vector(locals), b.code, []byte{0x0b})))
	return nil
}

func (m *module) addLimits(f node, to *[][]byte, kind byte, before []byte) error {
	fields, err := m.takeExports(f.list[1:], kind, 0)
	if err != nil {
		return err
	}
	limits, numbers := []byte{0}, []byte(nil)
	for _, n := range fields {
		size, err := n.number()
		if err != nil {
			break // funcref
		}
		numbers = append(numbers, unsigned(uint64(size))...)
		limits[0]++
	}
	limits[0]--
	*to = append(*to, slices.Concat(before, limits, numbers))
	return nil
}

func (m *module) addGlobal(f node, number uint32) error {
	fields, err := m.takeExports(f.list[1:], 3, number)
	if err != nil {
		return err
	}
	kind := []byte{valueTypes[fields[0].atom], 0}
	if fields[0].head() == "mut" {
		kind = []byte{valueTypes[fields[0].list[1].atom], 1}
	}
	first, err := m.constant(fields[1])
	m.declaredGlobals = append(m.declaredGlobals, append(kind, first...))
	return err
}

func (m *module) constant(n node) ([]byte, error) {
	b := &body{module: m}
	err := b.sequence([]node{n})
	return append(b.code, 0x0b), err
}

func (m *module) addData(f node) error {
	at, err := m.constant(f.list[1])
	if err != nil {
		return err
	}
	var content []byte
	for _, s := range f.list[2:] {
		text, err := s.text()
		if err != nil {
			return err
		}
		content = append(content, text...)
	}
	m.data = append(m.data, slices.Concat([]byte{0}, at, sized(content)))
	return nil
}

func (m *module) addElements(f node) error {
	at, err := m.constant(f.list[1])
	if err != nil {
		return err
	}
	var entries [][]byte
	for _, n := range f.list[2:] {
		entries = append(entries, unsigned(uint64(m.functions[n.atom])))
	}
	m.elements = append(m.elements, slices.Concat([]byte{0}, at, vector(entries)))
	return nil
}

func (m *module) binary() []byte {
	out := []byte("\x00asm\x01\x00\x00\x00")
	sections := [][][]byte{1: m.types, 2: m.imports, 3: m.functionTypes, 4: m.tables, 5: m.memories, 6: m.declaredGlobals, 7: m.exports, 9: m.elements, 10: m.bodies, 11: m.data}
	for id, entries := range sections {
		if id == 8 && m.start != nil {
			out = append(append(out, 8), sized(m.start)...)
		}
		if len(entries) > 0 {
			out = append(append(out, byte(id)), sized(vector(entries))...)
		}
	}
	return out
}
