package main

import (
	"context"
	"errors"
	"os"
	"time"
)

// stdio is what the parent gave us to speak through, moved to private
// descriptors: whatever else in the process prints to 1 reaches stderr, what
// reads from 0 finds nothing, and no child inherits either.
type stdio struct {
	in, out *os.File

	noInput  bool // nobody can write to us
	noReader bool // nobody can read us
	terminal bool // a person types

	outFD int // for watch; os.File.Fd would change its mode
}

// errNobodyReads ends what runs when the reading end of stdout is closed.
var errNobodyReads = errors.New("nobody reads the output")

// watchDelay keeps the watch out of the way of the first reply.
const watchDelay = 20 * time.Millisecond

// watch cancels, with errNobodyReads, as soon as nobody can read the output
// any more, also while nothing is written.
func (s *stdio) watch(cancel context.CancelCauseFunc) {
	time.AfterFunc(watchDelay, func() { // ends with the process
		if readerGone(s.outFD) {
			cancel(errNobodyReads)
		}
	})
}
