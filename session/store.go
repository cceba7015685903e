package session

import "errors"

// Errors that a Store returns, wrapped with what it knows.
var (
	ErrNotFound = errors.New("no such session")
	ErrExists   = errors.New("session exists already")
	ErrConflict = errors.New("another turn was committed first")
	ErrForeign  = errors.New("the log has another format; it can be read but not written")
)

// A LockedError reports a session that another live process holds.
type LockedError struct {
	PID   int
	Since string // RFC 3339
}

func (e *LockedError) Error() string { return "session is held by another process" }

// A Store keeps sessions' logs. A record is one JSON object without newlines,
// as schema's record types encode it; what a store adds to it (a checksum, a
// line end) it takes off again. All methods may be called from several
// goroutines.
type Store interface {
	// Create begins the log of a new session with its header record.
	// The error is ErrExists when there is one. It need not be durable before
	// the log's first Sync or Commit.
	Create(id string, header []byte) (Log, error)

	// Open takes the session for writing and replays its records, the header
	// first. Records are valid only during the call. An error from replay ends
	// it and is returned. Errors: ErrNotFound, *LockedError, ErrForeign.
	Open(id string, replay func(record []byte) error) (Log, error)

	// Read replays a session's records without taking it. Errors: ErrNotFound.
	Read(id string, replay func(record []byte) error) error

	// Exists tells whether there is a log of that id.
	Exists(id string) (bool, error)

	// Close lets go of everything.
	Close() error
}

// A Log is one session's log, open for writing. Its methods are called by one
// goroutine at a time.
type Log interface {
	// Append adds a record that must survive the process, not the machine.
	Append(record []byte) error

	// Commit adds the record of turn and makes the whole log durable. Turns
	// rise by one: ErrConflict when turn is not the last committed plus one.
	// After an error nothing of the record remains.
	Commit(turn int, record []byte) error

	// Sync makes what was appended durable.
	Sync() error

	// Close lets go of the session.
	Close() error
}
