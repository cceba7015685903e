package schema

// ErrorKind is the stable name of an error, in its data.
type ErrorKind string

// The kinds of error (protocol §8).
const (
	KindParseError     ErrorKind = "parse_error"
	KindInvalidRequest ErrorKind = "invalid_request"
	KindDuplicateID    ErrorKind = "duplicate_id"
	KindFrameTooLarge  ErrorKind = "frame_too_large"
	KindHeaderTooLarge ErrorKind = "header_too_large"
	KindBatchTooLarge  ErrorKind = "batch_too_large"
	KindTooDeep        ErrorKind = "too_deep"
	KindIDTooLong      ErrorKind = "id_too_long"
	KindMethodNotFound ErrorKind = "method_not_found"
	KindInvalidParams  ErrorKind = "invalid_params"
	KindRequestKeyUsed ErrorKind = "request_key_reused"
	KindResultTooLarge ErrorKind = "result_too_large"
	KindInternal       ErrorKind = "internal"
	KindCancelled      ErrorKind = "cancelled"

	KindAlreadyInitialized ErrorKind = "already_initialized"
	KindUnknownInjector    ErrorKind = "unknown_injector"
	KindSessionNotFound    ErrorKind = "session_not_found"
	KindSessionBusy        ErrorKind = "session_busy"
	KindSessionLocked      ErrorKind = "session_locked"
	KindTurnConflict       ErrorKind = "turn_conflict"
	KindStaleRevision      ErrorKind = "stale_revision"
	KindProviderError      ErrorKind = "provider_error"
	KindNoProvider         ErrorKind = "provider_not_configured"
	KindInjectorFailed     ErrorKind = "injector_failed"
	KindOverloaded         ErrorKind = "overloaded"
	KindShuttingDown       ErrorKind = "shutting_down"
	KindStoreError         ErrorKind = "store_error"
	KindBadConfig          ErrorKind = "bad_config"
)

// An ErrorRow says what an error of a kind means and which code it has.
type ErrorRow struct {
	Kind    ErrorKind
	Code    int
	Meaning string
}

// ErrorKinds lists every kind of error that a client can meet. A kind has one
// code; a code may have several kinds.
func ErrorKinds() []ErrorRow {
	return []ErrorRow{
		{KindParseError, -32700, "A message is not JSON or not UTF-8."},
		{KindInvalidRequest, -32600, "A message is no JSON-RPC 2.0 request."},
		{KindDuplicateID, -32600, "The id is that of a request in flight."},
		{KindFrameTooLarge, -32600, "A message is larger than the limit."},
		{KindHeaderTooLarge, -32600, "A message's headers are larger than the limit."},
		{KindBatchTooLarge, -32600, "A batch holds more messages than the limit."},
		{KindTooDeep, -32600, "A message nests deeper than the limit."},
		{KindIDTooLong, -32600, "An id is longer than the limit."},
		{KindResultTooLarge, -32600, "The result is larger than the limit on messages, and can't be shortened."},
		{KindAlreadyInitialized, -32600, "initialize came a second time."},
		{KindMethodNotFound, -32601, "There is no such method."},
		{KindInvalidParams, -32602, "The params are not of the method's shape; errors names the fields."},
		{KindRequestKeyUsed, -32602, "The request key came with other params before."},
		{KindInternal, -32603, "A fault of the server's; its log says more."},
		{KindCancelled, -32800, "The request was cancelled."},
		{KindUnknownInjector, -32001, "A name resolves to no injector."},
		{KindSessionNotFound, -32002, "No store knows the session."},
		{KindSessionBusy, -32003, "A turn runs in the session."},
		{KindSessionLocked, -32004, "Another process holds the session."},
		{KindTurnConflict, -32005, "The turn would have another number than expected."},
		{KindStaleRevision, -32005, "What is to be changed is not what the caller had read."},
		{KindProviderError, -32006, "The model's provider failed."},
		{KindNoProvider, -32007, "No provider is set."},
		{KindInjectorFailed, -32008, "An injector whose onError is fail gave nothing."},
		{KindOverloaded, -32009, "Too much is under way; retry later."},
		{KindShuttingDown, -32010, "The server takes no new work."},
		{KindStoreError, -32011, "The store can't be used."},
		{KindBadConfig, -32012, "The configuration can't be used."},
	}
}

// CommonErrors lists the kinds that every method's requests can meet.
func CommonErrors() []ErrorKind {
	return []ErrorKind{KindInvalidParams, KindInternal, KindCancelled, KindOverloaded, KindBadConfig, KindResultTooLarge}
}

// ErrorData is the data of all errors: the kind, and what else helps.
type ErrorData struct {
	Kind   ErrorKind `json:"kind"`
	Hint   string    `json:"hint,omitempty"`   // what to do, for people
	Limit  int       `json:"limit,omitzero"`   // the limit that was passed
	Offset *int      `json:"offset,omitempty"` // bytes of the message before the fault
	Method string    `json:"method,omitempty"` // method_not_found

	Errors []FieldError `json:"errors,omitempty"` // invalid_params

	Name       *string  `json:"name,omitempty"`       // unknown_injector, injector_failed
	Known      []string `json:"known,omitzero"`       // unknown_injector: names that resolve
	Suggestion string   `json:"suggestion,omitempty"` // the nearest name or key
	Reason     string   `json:"reason,omitempty"`     // unknown_injector: why a known name does not resolve; injector_failed: error or timeout

	Turn     int    `json:"turn,omitzero"`      // session_busy: the running one; turn_conflict: the number it would have
	Queued   *int   `json:"queued,omitempty"`   // session_busy: turns that wait
	Revision string `json:"revision,omitempty"` // stale_revision: the present one

	PID   int    `json:"pid,omitzero"`    // session_locked: the process that holds it
	Since string `json:"since,omitempty"` // session_locked

	Class        string `json:"class,omitempty"`       // provider_error
	Status       int    `json:"status,omitzero"`       // provider_error: of HTTP
	Retryable    *bool  `json:"retryable,omitempty"`   // provider_error
	RetryAfterMs int64  `json:"retryAfterMs,omitzero"` // provider_error
	Message      string `json:"message,omitempty"`     // provider_error: the provider's words
	Partial      bool   `json:"partial,omitzero"`      // provider_error: text had been streamed

	Path   string `json:"path,omitempty"`  // bad_config: the file
	Line   int    `json:"line,omitzero"`   // bad_config, from 1
	Column int    `json:"column,omitzero"` // bad_config, from 1, in code points
	Key    string `json:"key,omitempty"`   // bad_config
}
