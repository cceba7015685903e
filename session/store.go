package session

import (
	"errors"
	"time"

	"github.com/prism-rpc/prism-rpc/schema"
)

// Errors that a Store returns, wrapped with what it knows.
var (
	ErrNotFound = errors.New("no such session")
	ErrExists   = errors.New("session exists already")
	ErrConflict = errors.New("another turn was committed first")
	ErrForeign  = errors.New("the log has another format; it can be read but not written")

	ErrDamaged = errors.New("an attachment is damaged")

	ErrRewritten = errors.New("the log is not the one that was read before")
	ErrCursor    = errors.New("not a cursor of this list")
)

// A LockedError reports a session that another live process holds.
type LockedError struct {
	PID   int
	Since string // RFC 3339
}

func (e *LockedError) Error() string { return "session is held by another process" }

// A Mark is a place in a log, behind the last record that was read from it or
// written to it. It is the store's own text, for the store that gave it; the
// zero Mark is the log's beginning.
type Mark string

// A Store keeps sessions' logs. A record is one JSON object without newlines,
// as schema's record types encode it; what a store adds to it (a checksum, a
// line end) it takes off again. Members that schema doesn't name are kept like
// any other. All methods may be called from several goroutines.
type Store interface {
	// Create begins the log of a new session with its header record.
	// The error is ErrExists when there is one. It need not be durable before
	// the log's first Sync or Commit.
	Create(id string, header []byte) (Log, error)

	// Open takes the session for writing and replays its records, the header
	// first. Records are valid only during the call. An error from replay ends
	// it and is returned. Errors: ErrNotFound, *LockedError, ErrForeign.
	Open(id string, replay func(record []byte) error) (Log, error)

	// OpenFrom is Open that replays only what stands behind from: the Mark of
	// an earlier Log or ReadFrom of that session, whose records the caller
	// still has. Others may have added to the log meanwhile. When it was
	// deleted and made anew, or cut, the error is ErrRewritten, and the caller
	// must Open it and replay all. ErrNotFound, *LockedError and ErrRewritten
	// come before anything is replayed; after any other error the records that
	// were replayed are not to be built upon.
	OpenFrom(id string, from Mark, replay func(record []byte) error) (Log, error)

	// Read replays a session's records without taking it. Errors: ErrNotFound.
	Read(id string, replay func(record []byte) error) error

	// ReadFrom is Read for what stands behind from, as OpenFrom is Open; it
	// returns the place to which it came.
	ReadFrom(id string, from Mark, replay func(record []byte) error) (Mark, error)

	// Attachment gives what a Log of that session has attached, by its SHA-256
	// in lower-case hex, without taking the session. It is the caller's.
	// Errors: ErrNotFound; ErrDamaged when it is not what was attached.
	Attachment(id, sha256 string) ([]byte, error)

	// Exists tells whether there is a log of that id.
	Exists(id string) (bool, error)

	// List gives a page of the sessions, those last updated first and equal
	// ones by id: at most limit (all when it is below 1), and with a cwd only
	// those whose settings have that very one. A session is updated when it is
	// made and by each turn. Next is the cursor of the page behind this one,
	// empty when there is none; an empty cursor is the beginning. A session
	// that isn't updated while a list is paged through comes exactly once,
	// whatever is added; one that is may come again or be left out, and would
	// be found at the beginning. The error is ErrCursor for a cursor that no
	// List gave.
	List(cursor string, limit int, cwd string) (page []schema.SessionInfo, next string, err error)

	// Delete removes all that is kept of a session, also what was attached to it
	// by a process that died before its log said so. One that isn't there is no
	// error. A session that is held, by another process or by a Log of this
	// one, is left as it is: *LockedError.
	Delete(id string) error

	// Prune deletes the sessions that were last touched before that time, by
	// any record that bears one, and that nobody holds. It goes on behind a
	// session that can't be deleted; the error joins what went wrong.
	Prune(before time.Time) (deleted int, err error)

	// Close lets go of everything.
	Close() error
}

// A Log is one session's log, open for writing. Its methods are called by one
// goroutine at a time.
type Log interface {
	// Append adds a record that must survive the process, not the machine. A
	// partial record is refused unless its turn has been started and has not
	// ended.
	Append(record []byte) error

	// Commit adds the record of turn and makes the whole log durable. Turns
	// rise by one: ErrConflict when turn is not the last committed plus one.
	// After an error nothing of the record remains.
	Commit(turn int, record []byte) error

	// Sync makes what was appended durable.
	Sync() error

	// Attach keeps data beside the log, once, under its SHA-256, and makes it
	// durable: a record that names it comes after. Data is not changed.
	Attach(data []byte) error

	// Mark is the log's end, from which Store.OpenFrom goes on after Close.
	// It can be asked for after Close too.
	Mark() Mark

	// Close lets go of the session.
	Close() error
}
