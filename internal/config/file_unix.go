//go:build unix

package config

import "golang.org/x/sys/unix"

// noWait keeps the opening of a pipe from waiting for its other end, and that
// of a terminal from becoming ours.
const noWait = unix.O_NONBLOCK | unix.O_NOCTTY
