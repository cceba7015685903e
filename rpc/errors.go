package rpc

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/zap"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/inject/reminder"
	"github.com/prism-rpc/prism-rpc/internal/plain"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
)

// Codes of the errors of methods (protocol §8).
const (
	codeUnknownInjector = -32001
	codeSessionNotFound = -32002
	codeSessionBusy     = -32003
	codeSessionLocked   = -32004
	codeTurnConflict    = -32005
	codeProviderError   = -32006
	codeNoProvider      = -32007
	codeInjectorFailed  = -32008
	codeStoreError      = -32011
	codeBadConfig       = -32012
)

// Bytes of what an error shows.
const (
	maxErrorMessage = 1024
	maxErrorText    = 512 // of each text in data
)

// callData is the data of the errors that concern what a method does.
type callData struct {
	errorData

	Name       *string  `json:"name,omitempty"`
	Known      []string `json:"known,omitzero"`
	Suggestion string   `json:"suggestion,omitempty"`
	Reason     string   `json:"reason,omitempty"`

	Turn   int  `json:"turn,omitzero"`
	Queued *int `json:"queued,omitempty"`

	Revision string `json:"revision,omitempty"`

	PID   int    `json:"pid,omitzero"`
	Since string `json:"since,omitempty"`

	Class        string `json:"class,omitempty"`
	Status       int    `json:"status,omitzero"`
	Retryable    *bool  `json:"retryable,omitempty"`
	RetryAfterMs int64  `json:"retryAfterMs,omitzero"`
	Message      string `json:"message,omitempty"`
	Partial      bool   `json:"partial,omitzero"`

	More jsontext.Value `json:",embed"` // members that only the error's own type knows
}

// describe is the one table from Go errors to what a client is told. An error
// without a row is internal: its detail goes to the log alone. No text leaves
// here with a secret.
func (s *server) describe(err error) *wireError {
	w := s.row(err)
	if w == nil {
		s.Logger.Error("internal error", zap.String("error", s.shown(err)))
		w = wire(codeInternal, "internal", "internal error", "the server's log says more", callData{})
	}
	if w.Code == codeStoreError {
		s.Logger.Warn("the store failed", zap.String("error", s.shown(err)))
	}
	return show(w, redact.Hider(err, s.redacting()))
}

// shown is an error's text without secrets.
func (s *server) shown(err error) string {
	return redact.Hider(err, s.redacting()).Text(err.Error(), nil)
}

// wire makes an answer; more are the members of data beside kind and hint.
func wire(code int, kind, message, hint string, more callData) *wireError {
	more.Kind, more.Hint = kind, hint
	return &wireError{Code: code, Message: message, Data: more}
}

func (s *server) row(err error) *wireError {
	if s.Unready != nil && errors.Is(err, s.Unready) {
		return unready(s.Unready)
	}
	for _, row := range []func(error) *wireError{storeRow, requestRow, sessionRow, providerRow} {
		if w := row(err); w != nil {
			return w
		}
	}
	return nil
}

// storeRow knows what the disk can be at fault for. It is asked first: what is
// wrong with a log may be told by the same errors as what is wrong with params.
func storeRow(err error) *wireError {
	switch {
	case errors.Is(err, reminder.ErrSave):
		return wire(codeStoreError, "store_error", reminder.ErrSave.Error()+": "+savingReason(err), "see to reminders.json in the folder of the user's configuration, or run with --store=memory", callData{})
	case errors.Is(err, session.ErrStore):
		return wire(codeStoreError, "store_error", "the session store failed: "+storeReason(err), "the log says more; see to the store folder (--store-dir), or run with --store=memory", callData{})
	}
	return nil
}

// requestRow knows what can be wrong with a request by itself.
func requestRow(err error) *wireError {
	var own *wireError
	var bad *schema.ParamsError
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &bad):
		return wire(codeInvalidParams, "invalid_params", "Invalid params: "+bad.Error(), "", callData{errorData: errorData{Errors: bad.Errors, Limit: bad.Limit}})
	case errors.Is(err, session.ErrKeyReused):
		return wire(codeInvalidParams, "request_key_reused", "Invalid params: "+err.Error(), "give each request a requestKey of its own", callData{})
	case errors.Is(err, errInitialized):
		return wire(codeInvalidRequest, "already_initialized", err.Error(), "", callData{})
	case errors.Is(err, errShuttingDown), errors.Is(err, session.ErrClosed):
		return wire(codeShuttingDown, "shutting_down", errShuttingDown.Error(), "start a new server for further work", callData{})
	case errors.Is(err, context.Canceled):
		return wire(codeCancelled, "cancelled", "Request cancelled", "", callData{})
	}
	return nil
}

// sessionRow knows what can stand between a request and its session.
func sessionRow(err error) *wireError {
	var unknown *inject.UnknownError
	var failed *inject.FailedError
	var busy *session.BusyError
	var full *session.FullError
	var locked *session.LockedError
	var conflict *session.ConflictError
	var stale *reminder.StaleError
	switch {
	case errors.As(err, &unknown):
		return wire(codeUnknownInjector, "unknown_injector", unknown.Error(), "listInjectors names those that can be selected",
			callData{Name: &unknown.Name, Known: listed(unknown.Known), Suggestion: unknown.Suggestion, Reason: unknown.Reason})
	case errors.As(err, &failed):
		return wire(codeInjectorFailed, "injector_failed", failed.Error(), "its onError is fail; the log says more",
			callData{Name: &failed.Name, Reason: string(failed.Reason)})
	case errors.Is(err, session.ErrNotFound):
		return wire(codeSessionNotFound, "session_not_found", "Unknown session", "newSession or prompt makes a session", callData{})
	case errors.As(err, &busy):
		return wire(codeSessionBusy, "session_busy", busy.Error(), "followUp queues behind the running turn; abort stops it",
			callData{Turn: busy.Turn, Queued: &busy.Queued})
	case errors.As(err, &full):
		return wire(codeOverloaded, "overloaded", full.Error(), "", callData{errorData: errorData{Limit: full.Limit}})
	case errors.As(err, &locked):
		return wire(codeSessionLocked, "session_locked", locked.Error(), "end that process, or use another session",
			callData{PID: locked.PID, Since: locked.Since})
	case errors.As(err, &conflict):
		return wire(codeTurnConflict, "turn_conflict", conflict.Error(), "", callData{Turn: conflict.Turn})
	case errors.As(err, &stale):
		return wire(codeTurnConflict, "stale_revision", stale.Error(), "getReminders gives what stands now", callData{Revision: stale.Revision})
	}
	return nil
}

// storeReason is what went wrong in the store, without the paths of this
// machine.
func storeReason(err error) string { return reasonWithout(session.ErrStore, err) }

// savingReason is storeReason for reminders.
func savingReason(err error) string { return reasonWithout(reminder.ErrSave, err) }

// reasonWithout is what the system says in an error, or all that the error
// says behind its sentinel.
func reasonWithout(sentinel, err error) string {
	var path *fs.PathError
	var link *os.LinkError
	var number syscall.Errno
	switch {
	case errors.As(err, &path):
		return path.Err.Error()
	case errors.As(err, &link):
		return link.Err.Error()
	case errors.As(err, &number):
		return number.Error()
	}
	return strings.TrimPrefix(err.Error(), sentinel.Error()+": ")
}

// providerRow knows what can be wrong with the model's side.
func providerRow(err error) *wireError {
	var failed *session.ProviderError
	switch {
	case errors.As(err, &failed):
		return providerFailed(failed)
	case errors.Is(err, session.ErrNoProvider):
		return wire(codeNoProvider, "provider_not_configured", err.Error(), "--provider mock works offline; --help names the others", callData{})
	}
	return nil
}

func providerFailed(e *session.ProviderError) *wireError {
	f := e.Failure
	message, retryable := f.Message, f.Class.Retryable()
	return wire(codeProviderError, "provider_error", "Provider error ("+string(f.Class)+"): "+message, "", callData{
		Class: string(f.Class), Status: f.Status, Retryable: &retryable,
		RetryAfterMs: f.RetryAfter.Milliseconds(), Message: message, Partial: e.Partial,
	})
}

func listed(names []string) []string {
	if names == nil {
		return []string{}
	}
	return names
}

// unready is the answer to everything while the configuration or the store
// can't be used; what the error's own type knows becomes members of data.
func unready(err error) *wireError {
	if errors.Is(err, session.ErrStore) {
		return storeRow(err)
	}
	var more callData
	if raw, merr := json.Marshal(err); merr == nil && jsontext.Value(raw).Kind() == jsontext.KindBeginObject {
		more.More = raw
	}
	return wire(codeBadConfig, "bad_config", err.Error(), "", more)
}

// show takes secrets out of an error's texts, then makes them fit to be shown.
// Errors hold what was sent as it was sent until they come here.
func show(w *wireError, red *redact.Redactor) *wireError {
	out := *w
	out.Message = plain.Text(red.Text(w.Message, nil), maxErrorMessage)
	if raw := w.rawData(); raw != nil {
		data, err := bound{text: maxErrorText, plain: true}.abridge(red.JSON(*raw, nil))
		if err != nil { // too deep; it is ours, so it is not
			return &wireError{Code: w.Code, Message: out.Message, Data: kindOnly(raw)}
		}
		out.Data = jsontext.Value(data)
	}
	return &out
}
