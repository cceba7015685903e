package rpc

import (
	encodingjson "encoding/json" // the library's RawMessage
	"errors"
	"sync/atomic"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// No message that is written is larger than maxMessageBytes, its framing
// included (protocol §10); clients close the connection above limits of their
// own. Where that shows:
//
//   - deltas are split and joined up to it (events),
//   - results and events are shortened, each in its own way (shorten),
//   - errors keep what there is room for (wireError.fit),
//   - the replies of a batch share one message's room (stream.unroll),
//   - requests to the client, notices and all other results are refused.

// framingBytes is the most that framing adds to a message: Content-Length and
// what ends the headers. A line's end is less.
const framingBytes = 32

// leastRoom is what the reply to a request of a batch has beside its id. Each
// error fits in it, without its details.
const leastRoom = 256

// maxErrorBytes bounds an error's text and data, whatever a message may have.
const maxErrorBytes = 64 << 10

// sizes knows how large a message may be.
type sizes struct{ max atomic.Int64 }

func newSizes(max int) *sizes {
	s := new(sizes)
	s.max.Store(int64(max))
	return s
}

// limit is maxMessageBytes.
func (s *sizes) limit() int { return int(s.max.Load()) }

// lower takes a client's wish. It holds for what is written from here on.
func (s *sizes) lower(max int) { s.max.Store(min(s.max.Load(), int64(max))) }

// room is what the JSON of one message may have.
func (s *sizes) room() int { return s.limit() - framingBytes }

// roomForResult is what the result in the reply to call may have.
func (s *sizes) roomForResult(call *call) int {
	room := s.room()
	if call.batch != nil {
		room = call.room
	}
	return room - len(replyHead) - len(call.id) - len(replyResult) - len("}")
}

// roomForError is the same for its error's code, message and data.
func (s *sizes) roomForError(call *call) int {
	return s.roomForResult(call) + len(replyResult) - len(replyError)
}

var errTooLarge = errors.New("too large for a message")

// fitted is encoded for a v whose JSON may have room bytes. A larger one is
// shortened, if its type knows how; else the error is errTooLarge.
func fitted(v any, room int, use func(encodingjson.RawMessage) error) error {
	checked := func(raw encodingjson.RawMessage) error {
		if len(raw) > room {
			return errTooLarge
		}
		return use(raw)
	}
	err := encoded(v, checked)
	if !errors.Is(err, errTooLarge) {
		return err
	}
	short := shorten(v, room)
	if short == nil {
		return err
	}
	return encoded(short, checked)
}

// sizeOf is the length of v's JSON, 0 if it has none, which shows when it is
// written.
func sizeOf(v any) int {
	var n counter
	if json.MarshalWrite(&n, v, outgoing) != nil {
		return 0
	}
	return int(n)
}

type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// widest is the most bytes that one byte of text takes in JSON, as \u0000.
const widest = 6

// fitting is how many bytes of text, whole characters, have an encoding of up
// to room bytes.
func fitting(text string, room int) int {
	if room >= widest*len(text) {
		return len(text)
	}
	used := 0
	for i := 0; i < len(text); {
		_, size := utf8.DecodeRuneInString(text[i:])
		if used += encodedSize(text[i : i+size]); used > room {
			return i
		}
		i += size
	}
	return len(text)
}

// encodedSize is that of one character, or of a byte that is none and becomes
// U+FFFD.
func encodedSize(char string) int {
	switch c := char[0]; {
	case len(char) == 1 && c >= utf8.RuneSelf:
		return len("\uFFFD")
	case c == '"', c == '\\', c == '\b', c == '\f', c == '\n', c == '\r', c == '\t':
		return 2
	case c < ' ', char == "\u2028", char == "\u2029":
		return widest
	}
	return len(char)
}
