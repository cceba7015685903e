package session

import (
	"errors"
	"fmt"

	"github.com/prism-rpc/prism-rpc/provider"
)

// Errors that callers branch on.
var (
	ErrNoProvider = errors.New("no provider is configured; start with --provider mock, or set provider in the configuration file")
	ErrClosed     = errors.New("the session manager is closed")
	ErrStore      = errors.New("the session store failed")

	errCancelled = errors.New("the run was cancelled")
	errAnswer    = errors.New("the answer is larger than it may be")
	errLate      = errors.New("the run has ended")
)

// A BusyError reports a session that runs a turn already.
type BusyError struct {
	Turn   int // the number of the running turn
	Queued int // followUps that wait behind it
}

func (e *BusyError) Error() string {
	return "session is busy; wait for its turn to end, or send followUp to queue behind it"
}

// A FullError reports a session whose queue takes no more.
type FullError struct{ Limit int }

func (e *FullError) Error() string {
	return fmt.Sprintf("the session's queue is full (limit %d); send again when a turn has ended", e.Limit)
}

// A ConflictError reports a turn that would not get the number it must get.
type ConflictError struct {
	Expected int
	Turn     int // the number it would get
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("the next turn is %d, not %d", e.Turn, e.Expected)
}

// A ProviderError is a provider's failure and whether text had been answered
// before it.
type ProviderError struct {
	Failure *provider.Error // redacted and fit to be shown, without its cause
	Partial bool
}

func (e *ProviderError) Error() string { return string(e.Failure.Class) + ": " + e.Failure.Message }

func (e *ProviderError) Unwrap() error { return e.Failure }

func storeFailed(err error) error {
	if errors.Is(err, ErrStore) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrStore, err)
}
