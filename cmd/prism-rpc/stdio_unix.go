//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// firstPrivate is the lowest descriptor that is nobody's by convention.
const firstPrivate = 3

// takeStdio moves stdin and stdout. Pipes and sockets come back on the
// runtime's poller, so that closing stdin ends a blocked read and a write that
// can't be done at once does not hold a thread.
func takeStdio() (*stdio, error) {
	in, err := private(0)
	if err != nil {
		return nil, fmt.Errorf("stdin: %w", err)
	}
	out, err := private(1)
	if err != nil {
		return nil, fmt.Errorf("stdout: %w", err)
	}
	s := &stdio{}
	s.describe(in, out)
	in, out = pollable(in, unix.O_RDONLY), pollable(out, unix.O_WRONLY)
	if err := plug(); err != nil {
		return nil, err
	}
	s.in, s.out, s.outFD = os.NewFile(uintptr(in), "stdin"), os.NewFile(uintptr(out), "stdout"), out
	return s, nil
}

func private(fd int) (int, error) {
	return unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, firstPrivate)
}

// plug leaves nothing at 0 and stderr at 1.
func plug() error {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer null.Close()
	return errors.Join(dup2(int(null.Fd()), 0), dup2(2, 1))
}

// describe looks at what stands at both ends. Go opens the null device for
// reading and writing where a descriptor was closed, and so do parents that
// mean "none"; a shell's redirection of stdout opens it for writing alone.
func (s *stdio) describe(in, out int) {
	var null, a unix.Stat_t
	if unix.Stat(os.DevNull, &null) != nil {
		return
	}
	if unix.Fstat(in, &a) == nil {
		s.noInput = isCharDevice(a) && a.Rdev == null.Rdev
		s.terminal = isCharDevice(a) && !s.noInput
	}
	s.noReader = nobodyReads(out)
}

func nobodyReads(out int) bool {
	var null, st unix.Stat_t
	if unix.Stat(os.DevNull, &null) != nil || unix.Fstat(out, &st) != nil || !isCharDevice(st) || st.Rdev != null.Rdev {
		return false
	}
	mode, err := unix.FcntlInt(uintptr(out), unix.F_GETFL, 0)
	return err == nil && mode&unix.O_ACCMODE == unix.O_RDWR
}

// stdoutClosed tells whether the process was started without a stdout.
func stdoutClosed() bool { return nobodyReads(1) }

func isCharDevice(st unix.Stat_t) bool { return st.Mode&unix.S_IFMT == unix.S_IFCHR }

// pollable makes fd non-blocking where that disturbs nobody who shares it. A
// pipe is opened anew; a socket has one owner; a terminal is the shell's too.
func pollable(fd, flag int) int {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return fd
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFIFO:
		return reopened(fd, flag)
	case unix.S_IFSOCK:
		if unix.SetNonblock(fd, true) != nil {
			return fd // stays blocking, which works too
		}
	}
	return fd
}
