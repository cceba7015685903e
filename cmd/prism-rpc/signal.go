package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// A signalError says that a signal asked the process to end.
type signalError struct{ signal syscall.Signal }

func (e *signalError) Error() string { return "ended by signal: " + e.signal.String() }

// killAfter bounds what may still happen after a signal: by then every pending
// request was answered, or its reader has stopped reading.
const killAfter = 3 * time.Second

// untilSignal is ctx until the first signal that ends the process, which is
// then its cause. A second one, or killAfter, ends the process at once. Signals
// are caught from when ready is closed: to begin that takes a tenth of the time
// to the first answer, in which other things can be done.
func untilSignal(ctx context.Context) (_ context.Context, _ context.CancelCauseFunc, ready <-chan struct{}) {
	ctx, cancel := context.WithCancelCause(ctx)
	caught := make(chan struct{})
	go func() { // ends with the process
		defer recovered("the signal handler")
		got := catchSignals()
		close(caught)
		s, _ := (<-got).(syscall.Signal)
		cause := &signalError{s}
		cancel(cause)
		select {
		case <-got:
		case <-time.After(killAfter):
		}
		os.Exit(exitCode(cause))
	}()
	return ctx, cancel, caught
}

func catchSignals() <-chan os.Signal {
	signal.Ignore(syscall.SIGPIPE) // a reader that has gone is an error, not the end
	got := make(chan os.Signal, 2)
	for _, s := range []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		if !signal.Ignored(s) { // as nohup does
			signal.Notify(got, s)
		}
	}
	return got
}
