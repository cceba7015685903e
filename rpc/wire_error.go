package rpc

import (
	encodingjson "encoding/json" // the library's RawMessage
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-rpc/prism-rpc/internal/plain"
	"github.com/prism-rpc/prism-rpc/schema"
)

// Codes of the errors that a connection itself answers with.
const (
	codeParseError     = -32700
	codeInvalidRequest = -32600
	codeMethodNotFound = -32601
	codeInvalidParams  = -32602
	codeInternal       = -32603
	codeOverloaded     = -32009
	codeShuttingDown   = -32010
	codeCancelled      = -32800
)

// A wireError is an error as the client sees it.
type wireError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (e *wireError) Error() string { return e.Message }

// shorter are the bounds of an error's texts and lists, each tried when the
// one before is not enough.
var shorter = [...]bound{{text: 4096, items: 256}, {text: 1024, items: 64}, {text: 256, items: 16}, {text: 64, items: 4}}

// fit is the error's text and data in as much room as there is for the error
// object: whole, shortened, or in the end the kind alone.
func (e *wireError) fit(room int) (message string, data *encodingjson.RawMessage) {
	room = min(room, maxErrorBytes) - len(`{"code":-32768,"message":,"data":}`)
	data = e.rawData()
	if errorSize(e.Message, data) <= room {
		return e.Message, data
	}
	for _, b := range shorter {
		message, data = plain.Text(e.Message, b.text), b.shortData(e.rawData())
		if errorSize(message, data) <= room {
			return message, data
		}
	}
	return message, kindOnly(data)
}

func errorSize(message string, data *encodingjson.RawMessage) int {
	size := len(appendText(nil, message)) + len(`""`)
	if data != nil {
		size += len(*data)
	}
	return size
}

func (b bound) shortData(raw *encodingjson.RawMessage) *encodingjson.RawMessage {
	if raw == nil {
		return nil
	}
	short, err := b.abridge(*raw)
	if err != nil {
		return nil
	}
	return (*encodingjson.RawMessage)(&short)
}

func kindOnly(data *encodingjson.RawMessage) *encodingjson.RawMessage {
	var d struct {
		Kind string `json:"kind"`
	}
	if data == nil || json.Unmarshal(*data, &d, jsontext.AllowInvalidUTF8(true)) != nil {
		return nil
	}
	return (&wireError{Data: d}).rawData()
}

// errorData is the data of the errors that concern the transport. Kind is
// stable; the rest is there where it helps.
type errorData struct {
	Kind   string              `json:"kind"`
	Hint   string              `json:"hint,omitempty"`
	Limit  int                 `json:"limit,omitzero"`
	Offset *int                `json:"offset,omitempty"` // bytes of the message before the fault
	Method string              `json:"method,omitempty"`
	Errors []schema.FieldError `json:"errors,omitempty"`
}

func parseError(reason string, at int, hint string) *wireError {
	return &wireError{codeParseError, "Parse error: " + reason, errorData{Kind: "parse_error", Offset: &at, Hint: hint}}
}

func invalidRequest(reason, hint string) *wireError {
	return &wireError{codeInvalidRequest, "Invalid request: " + reason, errorData{Kind: "invalid_request", Hint: hint}}
}

// resultTooLarge is the answer in place of a result that can't be shortened.
func resultTooLarge(limit int) *wireError {
	return &wireError{codeInvalidRequest, fmt.Sprintf("The result does not fit a message of %d bytes", limit),
		errorData{Kind: "result_too_large", Limit: limit, Hint: "ask for less, or for a larger maxMessageBytes in initialize"}}
}

func duplicateID() *wireError {
	return &wireError{codeInvalidRequest, "Invalid request: this id is in flight",
		errorData{Kind: "duplicate_id", Hint: "give each request an id of its own until it is answered"}}
}

func pastLimit(kind, what string, limit int, unit string) *wireError {
	return &wireError{codeInvalidRequest, fmt.Sprintf("Invalid request: %s more than %d %s", what, limit, unit),
		errorData{Kind: kind, Limit: limit}}
}

// methodNotFound names the method as it was sent.
func methodNotFound(name string) *wireError {
	return &wireError{codeMethodNotFound, "Method not found: " + name,
		errorData{Kind: "method_not_found", Method: name, Hint: "initialize lists the methods in capabilities.methods"}}
}

func overloaded(limit int) *wireError {
	return &wireError{codeOverloaded, fmt.Sprintf("Overloaded: %d requests run already", limit),
		errorData{Kind: "overloaded", Limit: limit, Hint: "retry when one of them has been answered"}}
}

func shuttingDown() *wireError {
	return &wireError{codeShuttingDown, "Shutting down: nothing new is begun",
		errorData{Kind: "shutting_down", Hint: "start a new process"}}
}

func cancelled() *wireError {
	return &wireError{codeCancelled, "Request cancelled", errorData{Kind: "cancelled"}}
}

// internalError says nothing of its cause, which goes to the log alone.
func internalError() *wireError {
	return &wireError{codeInternal, "Internal error", errorData{Kind: "internal", Hint: "the log has the cause"}}
}
