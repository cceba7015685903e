package rpc

import (
	"encoding/base64"

	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
)

// attachment is an image that the session holds, or as much of it from offset
// on as fits. It is read on the reading goroutine, so that a client which does
// not read has no more than one of them made beside what waits for it.
func attachment(target *session.Session, sum string, offset, room int) (*schema.MessagesResult, error) {
	mimeType, read, err := target.Attachment(sum)
	if err != nil {
		return nil, err
	}
	data, err := read()
	if err != nil {
		return nil, err
	}
	if offset > len(data) {
		return nil, schema.BadField("offset", "max", "is past the end of the attachment")
	}
	found := &schema.Attachment{MimeType: mimeType, SHA256: sum, Bytes: len(data)}
	next := offset + min(len(data)-offset, wholeTriples(room-sizeOf(found)))
	found.Data = base64.StdEncoding.EncodeToString(data[offset:next])
	result := &schema.MessagesResult{Attachment: found}
	if next < len(data) {
		result.NextOffset = &next
	}
	return result, nil
}

// wholeTriples is how many bytes have a base64 that fits room beside what stands
// around it: a multiple of three, so that pieces need no padding but the last.
func wholeTriples(room int) int {
	const around = len(`{"attachment":,"nextOffset":1234567890}`)
	return max(room-around, 0) / 4 * 3
}
