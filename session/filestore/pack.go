package filestore

import (
	"encoding/binary"
	"hash/crc32"
	"strings"

	"github.com/prism-rpc/prism-rpc/session"
)

// indexMagic begins an index. Another format of rows needs another magic.
const indexMagic = "prism-rpc index 1\n"

// minRowBytes is what the shortest row takes.
const minRowBytes = 11

// Flags of a row.
const (
	rowForeign = 1 << iota
	rowUnbegun
	rowFlags
)

// appendIndex packs an index: the magic, how many rows, the rows, and the
// CRC32C of all before it. Rows are packed, not JSON, so that listing 10,000
// sessions takes little longer than looking at their files.
func appendIndex(b []byte, all []*listed) []byte {
	b = append(b, indexMagic...)
	b = binary.AppendUvarint(b, uint64(len(all)))
	for _, l := range all {
		b = appendRow(b, l)
	}
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli()))
}

func appendRow(b []byte, l *listed) []byte {
	var flags uint64
	if l.Foreign {
		flags |= rowForeign
	}
	if l.unbegun {
		flags |= rowUnbegun
	}
	for _, text := range []string{l.ID, l.Title, l.CWD, string(l.mark)} {
		b = binary.AppendUvarint(b, uint64(len(text)))
		b = append(b, text...)
	}
	for _, n := range []int64{int64(l.Turn), l.Updated, l.Touched, l.size, l.modified} {
		b = binary.AppendVarint(b, n)
	}
	b = binary.AppendUvarint(b, l.file)
	return binary.AppendUvarint(b, flags)
}

// parseIndex is what an index knows by session id; nil when it isn't whole.
func parseIndex(b []byte) map[string]*listed {
	body := len(b) - crc32.Size
	if body < 0 || crc32.Checksum(b[:body], castagnoli()) != binary.BigEndian.Uint32(b[body:]) {
		return nil
	}
	text, ok := strings.CutPrefix(string(b[:body]), indexMagic)
	if !ok {
		return nil
	}
	u := unpacker{rest: text}
	count := u.uint()
	if count > uint64(len(text)/minRowBytes) {
		return nil
	}
	rows := make([]listed, count)
	known := make(map[string]*listed, count)
	for i := range rows {
		u.row(&rows[i])
		if u.failed || !rows[i].Valid() {
			return nil
		}
		known[rows[i].ID] = &rows[i]
	}
	if u.rest != "" {
		return nil
	}
	return known
}

// An unpacker takes values off rest; once one isn't there it has failed, and
// gives zeros.
type unpacker struct {
	rest   string
	failed bool
}

func (u *unpacker) row(l *listed) {
	l.ID, l.Title, l.CWD, l.mark = u.text(), u.text(), u.text(), session.Mark(u.text())
	l.Turn, l.Updated, l.Touched = int(u.int()), u.int(), u.int()
	l.size, l.modified, l.file = u.int(), u.int(), u.uint()
	flags := u.uint()
	l.Foreign, l.unbegun = flags&rowForeign != 0, flags&rowUnbegun != 0
	u.failed = u.failed || flags >= rowFlags
}

func (u *unpacker) text() string {
	n := u.uint()
	if n > uint64(len(u.rest)) {
		u.fail()
		return ""
	}
	text := u.rest[:n]
	u.rest = u.rest[n:]
	return text
}

// int is the inverse of binary.AppendVarint.
func (u *unpacker) int() int64 {
	n := u.uint()
	return int64(n>>1) ^ -int64(n&1)
}

func (u *unpacker) uint() (n uint64) {
	for i := 0; i < len(u.rest) && i < binary.MaxVarintLen64; i++ {
		c := u.rest[i]
		n |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			u.rest = u.rest[i+1:]
			return n
		}
	}
	u.fail()
	return 0
}

func (u *unpacker) fail() { u.rest, u.failed = "", true }
