package main

import (
	"strconv"

	"golang.org/x/sys/unix"
)

func dup2(from, to int) error { return unix.Dup3(from, to, 0) }

// reopened is the same pipe with a file description of its own, non-blocking;
// fd itself where that can't be had.
func reopened(fd, flag int) int {
	own, err := unix.Open("/proc/self/fd/"+strconv.Itoa(fd), flag|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return fd
	}
	if unix.Close(fd) != nil {
		return fd
	}
	return own
}
