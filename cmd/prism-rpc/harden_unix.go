//go:build unix

package main

import "golang.org/x/sys/unix"

// noCore keeps what the process knows from a core file.
func noCore() error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &limit); err != nil {
		return err
	}
	limit.Cur = 0 // the other one is left to whoever is allowed to change it
	return unix.Setrlimit(unix.RLIMIT_CORE, &limit)
}
