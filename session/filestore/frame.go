package filestore

import (
	"bytes"
	"encoding/hex"
	"hash/crc32"
	"sync"
)

// On disk a record {"v":1,…} ends with its checksum and a newline:
//
//	{"v":1,…,"crc":"e3069283"}
//
// The checksum is the CRC32C of every byte before `,"crc"`. A line is one
// valid JSON object, so that people's tools can read a log.
const (
	sumKey     = `,"crc":"`
	sumDigits  = 2 * crc32.Size
	sumEnd     = `"}`
	sealBytes  = len(sumKey) + sumDigits + len(sumEnd) // what stands in for a record's last brace
	frameBytes = sealBytes                             // what a line has more than its record: a newline more, a brace less
)

// MaxRecordBytes bounds one record. The largest legal turn holds 64 MiB of
// input beside an answer of 16 MiB, whose every byte may need an escape.
const MaxRecordBytes = 256 << 20

// castagnoli is made on first use, so that starting does not wait for it.
var castagnoli = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

// seal is the line of record, which sequence.OneLine accepts.
func seal(record []byte) []byte {
	body := record[:len(record)-1]
	line := make([]byte, 0, len(record)+frameBytes)
	line = append(line, body...)
	return append(appendSeal(line, body), '\n')
}

// unseal takes line, without its newline, back to its record. The record
// is made in line's bytes, and ends where appending to it must copy.
func unseal(line []byte) (record []byte, ok bool) {
	body := len(line) - sealBytes
	if body < 1 || line[0] != '{' {
		return nil, false
	}
	var want [sealBytes]byte
	if !bytes.Equal(line[body:], appendSeal(want[:0], line[:body])) {
		return nil, false
	}
	line[body] = '}'
	return line[: body+1 : body+1], true
}

func appendSeal(b, body []byte) []byte {
	sum := crc32.Checksum(body, castagnoli())
	b = append(b, sumKey...)
	b = hex.AppendEncode(b, []byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)})
	return append(b, sumEnd...)
}
