//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package main

import "golang.org/x/sys/unix"

// processFD becomes readable when the process ends.
func processFD(pid int) (int, error) {
	queue, err := unix.Kqueue()
	if err != nil {
		return -1, err
	}
	unix.CloseOnExec(queue)
	event := unix.Kevent_t{Fflags: unix.NOTE_EXIT}
	unix.SetKevent(&event, pid, unix.EVFILT_PROC, unix.EV_ADD)
	if _, err := unix.Kevent(queue, []unix.Kevent_t{event}, nil, nil); err != nil {
		_ = unix.Close(queue)
		return -1, err
	}
	return queue, nil
}
