package rpc

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// An envelope holds the members of one message as they were sent. All slices
// lie in the frame.
type envelope struct {
	version, id, method, params, result, err []byte

	object   bool   // it is one at all
	repeated string // a member that stands twice
	depth    int    // containers that were open at once, the message included
}

// scanEnvelope checks the object at b[i] and picks its members in the same
// pass, so what goes on from here is what was checked. Keys match exactly,
// after their escapes are decoded. It returns the index behind the object, or
// that of the fault.
func scanEnvelope(b []byte, i int, open *nesting) (envelope, int, error) {
	e := envelope{object: true}
	open.deepest = open.depth
	i, whole, err := startObject(b, i, open)
	for err == nil && !whole {
		var name, value []byte
		if name, value, i, err = scanMember(b, i, open); err != nil {
			break
		}
		e.take(name, value)
		if i, whole, err = endMember(b, i, open); err != nil {
			break
		}
	}
	e.depth = open.deepest
	return e, i, err
}

// startObject stops before the first name.
func startObject(b []byte, i int, open *nesting) (next int, whole bool, err error) {
	open.push(true)
	i = skipWS(b, i+1)
	if i < len(b) && b[i] == '}' {
		open.pop()
		return i + 1, true, nil
	}
	return i, false, nil
}

func scanMember(b []byte, i int, open *nesting) (name, value []byte, next int, err error) {
	start := skipWS(b, i)
	colon, err := scanName(b, start)
	if err != nil {
		return nil, nil, colon, err
	}
	name = bytes.TrimRight(b[start:colon-1], " \t\r\n")
	from := skipWS(b, colon)
	to, err := scanValue(b, from, open)
	if err != nil {
		return nil, nil, to, err
	}
	return name, b[from:to:to], to, nil
}

// endMember stops before the next name.
func endMember(b []byte, i int, open *nesting) (next int, whole bool, err error) {
	i = skipWS(b, i)
	switch {
	case i >= len(b):
		return i, false, errCut
	case b[i] == ',':
		return i + 1, false, nil
	case b[i] == '}':
		open.pop()
		return i + 1, true, nil
	}
	return i, false, errSyntax
}

// take files one member; name is a JSON string.
func (e *envelope) take(name, value []byte) {
	slot := e.slot(unquote(name))
	switch {
	case slot == nil: // other members are ignored
	case *slot != nil:
		e.repeated = string(unquote(name))
	default:
		*slot = value
	}
}

func (e *envelope) slot(name []byte) *[]byte {
	switch string(name) {
	case "jsonrpc":
		return &e.version
	case "id":
		return &e.id
	case "method":
		return &e.method
	case "params":
		return &e.params
	case "result":
		return &e.result
	case "error":
		return &e.err
	}
	return nil
}

// isReply says whether the message answers a request. Such a message is never
// answered, whatever else is wrong with it: two servers would go on for ever.
func (e *envelope) isReply() bool {
	return e.method == nil && (e.result != nil || e.err != nil)
}

// fault says why the message is no request, and nil if it is one. The id
// that the answer may carry is answerID's.
func (e *envelope) fault(l limits) *wireError {
	switch {
	case !e.object:
		return invalidRequest("a message must be an object", "")
	case e.id != nil && !validID(e.id):
		return invalidRequest("the id must be a string, a number or null", "")
	case len(e.id) > l.maxIDBytes:
		return pastLimit("id_too_long", "the id has", l.maxIDBytes, "bytes")
	case e.depth > l.maxDepth:
		return pastLimit("too_deep", "the message nests", l.maxDepth, "levels")
	case e.repeated != "":
		return invalidRequest(`"`+e.repeated+`" stands twice`, "send each member once")
	case !isString(e.version) || string(unquote(e.version)) != "2.0":
		return invalidRequest(`"jsonrpc" must be "2.0"`, `add "jsonrpc":"2.0" to the message`)
	case !isString(e.method):
		return invalidRequest(`"method" must be a string`, "")
	case hasValue(e.result), hasValue(e.err):
		return invalidRequest("it is both a request and a reply", `leave out "result" and "error"`)
	}
	return nil
}

// answerID is the id to refuse the message with: its own where that is usable
// and not ambiguous, else nil for null.
func (e *envelope) answerID(l limits) []byte {
	if e.repeated == "id" || !validID(e.id) || len(e.id) > l.maxIDBytes {
		return nil
	}
	return e.id
}

func validID(id []byte) bool {
	return len(id) > 0 && (id[0] == '"' || id[0] == '-' || isDigit(id[0]) || id[0] == 'n')
}

func isString(value []byte) bool { return len(value) > 0 && value[0] == '"' }

func hasValue(value []byte) bool { return value != nil && string(value) != "null" }

// unquote decodes a checked JSON string; a lone surrogate becomes U+FFFD.
// Without escapes the result lies in the frame.
func unquote(quoted []byte) []byte {
	inner := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	text, _ := jsontext.AppendUnquote(nil, quoted) // its one possible error is the lone surrogate
	return text
}
