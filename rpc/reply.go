package rpc

import (
	"bytes"
	encodingjson "encoding/json" // the library's RawMessage
	"errors"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/sourcegraph/jsonrpc2"
)

// The bytes around a reply's id and body.
const (
	replyHead   = `{"jsonrpc":"2.0","id":`
	replyResult = `,"result":`
	replyError  = `,"error":`
)

var errAnswered = errors.New("the request has its answer")

// outgoing are the options of all JSON that is written: text that came in with
// lone surrogates goes out again, and a map has one encoding.
var outgoing = json.JoinOptions(
	jsontext.AllowInvalidUTF8(true),
	jsontext.AllowDuplicateNames(true),
	jsontext.PreserveRawStrings(true),
	json.Deterministic(true),
	jsontext.EscapeForJS(true), // some readers of lines split at U+2028 and U+2029 too
)

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// encoded runs use with v's JSON, which lasts only until use returns. Text that
// is JSON already and fits in a line is checked, not encoded again.
func encoded(v any, use func(encodingjson.RawMessage) error) error {
	if raw, ok := v.(jsontext.Value); ok && isLine(raw) {
		return use(encodingjson.RawMessage(raw))
	}
	buf := buffers.Get().(*bytes.Buffer)
	buf.Reset()
	if err := json.MarshalWrite(buf, v, outgoing); err != nil {
		return &encodingError{err}
	}
	err := use(buf.Bytes())
	if buf.Cap() <= keptBuffer {
		buffers.Put(buf)
	}
	return err
}

func isLine(raw []byte) bool {
	end, err := scanValue(raw, 0, new(nesting))
	return err == nil && end == len(raw) && bytes.IndexByte(raw, '\n') < 0 && utf8.Valid(raw)
}

// An encodingError is a fault of a result, not of the connection.
type encodingError struct{ err error }

func (e *encodingError) Error() string { return "encode: " + e.err.Error() }
func (e *encodingError) Unwrap() error { return e.err }

// appendResponse encodes a response whose ID.Str is JSON.
func appendResponse(dst []byte, resp *jsonrpc2.Response) []byte {
	dst = append(append(dst, replyHead...), resp.ID.Str...)
	if resp.Error == nil {
		dst = append(append(dst, replyResult...), *resp.Result...)
		return append(dst, '}')
	}
	dst = append(dst, replyError...)
	dst = appendErrorObject(dst, resp.Error.Code, resp.Error.Message, resp.Error.Data)
	return append(dst, '}')
}

// appendError encodes an error reply that may have room bytes; a nil id is null.
func appendError(dst, id []byte, e *wireError, room int) []byte {
	if id == nil {
		id = []byte("null")
	}
	message, data := e.fit(room - len(replyHead) - len(id) - len(replyError) - len("}"))
	dst = append(append(append(dst, replyHead...), id...), replyError...)
	return append(appendErrorObject(dst, int64(e.Code), message, data), '}')
}

func appendErrorObject(dst []byte, code int64, message string, data *encodingjson.RawMessage) []byte {
	dst = strconv.AppendInt(append(dst, `{"code":`...), code, 10)
	dst = append(appendText(append(dst, `,"message":"`...), message), '"')
	if data != nil {
		dst = append(append(dst, `,"data":`...), *data...)
	}
	return append(dst, '}')
}

// rawData encodes the data, and leaves out what has no encoding: an error must
// reach the client in any case.
func (e *wireError) rawData() *encodingjson.RawMessage {
	if e.Data == nil {
		return nil
	}
	b, err := json.Marshal(e.Data, outgoing)
	if err != nil {
		return nil
	}
	return (*encodingjson.RawMessage)(&b)
}
