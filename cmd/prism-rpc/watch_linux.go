package main

import "golang.org/x/sys/unix"

// processFD becomes readable when the process ends. (PR_SET_PDEATHSIG would
// fire at the end of the thread that forked us.)
func processFD(pid int) (int, error) { return unix.PidfdOpen(pid, 0) }
