package main

import (
	"context"
	"errors"
	"os"
	"time"
)

// Why the process ends although neither its input nor a signal says so.
var (
	errNobodyReads = errors.New("nobody reads the output")
	errParentGone  = errors.New("the parent process has ended")
)

// watchDelay keeps the watch out of the way of the first reply.
const watchDelay = 20 * time.Millisecond

// watch cancels as soon as nobody can read outFD any more, with
// errNobodyReads, or the parent has ended, with errParentGone; both also while
// nothing is read or written, and also where somebody else holds the pipes
// open. What has not ended killAfter later ends then. parent is parentAtStart's,
// or noParent.
func watch(cancel context.CancelCauseFunc, outFD, parent int) {
	time.AfterFunc(watchDelay, func() { // ends with the process
		defer recovered("the watch")
		if cause := awaitLoss(outFD, parent); cause != nil {
			cancel(cause)
			time.AfterFunc(killAfter, func() { os.Exit(exitFailed) })
		}
	})
}

// noParent is a parent that is not watched.
const noParent = 0
