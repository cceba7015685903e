//go:build unix

package main

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// pollParent is how often the parent's id is compared where the system can't
// tell us of its end.
const pollParent = 50 * time.Millisecond

// parentAtStart is the process that started this one. Process 1, or one
// outside of this pid namespace, is not to be watched: it may have inherited
// us from a parent that is gone already, or ends together with all others.
func parentAtStart() int {
	if pid := os.Getppid(); pid > 1 {
		return pid
	}
	return noParent
}

// awaitLoss waits until the other end of outFD is closed or the parent gone.
// It returns nil where neither can be told.
func awaitLoss(outFD, parent int) error {
	fds := []unix.PollFd{{Fd: int32(outFD)}, {Fd: -1, Events: unix.POLLIN}}
	timeout := -1
	if parent != noParent {
		if fd, err := processFD(parent); err == nil {
			fds[1].Fd = int32(fd)
		} else {
			timeout = int(pollParent.Milliseconds())
		}
	}
	for {
		// After processFD: now it is known to be the parent that was opened.
		if parent != noParent && os.Getppid() != parent {
			return errParentGone
		}
		if fds[0].Fd < 0 && parent == noParent {
			return nil
		}
		n, err := unix.Poll(fds, timeout)
		switch out := fds[0].Revents; {
		case errors.Is(err, unix.EINTR) || n == 0:
		case err != nil:
			return nil
		case fds[1].Revents != 0:
			return errParentGone
		case out&unix.POLLNVAL != 0:
			fds[0].Fd = -1
		case out&(unix.POLLERR|unix.POLLHUP) != 0:
			return errNobodyReads
		}
	}
}
