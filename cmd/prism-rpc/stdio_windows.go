package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// takeStdio keeps the handles and takes them from the standard ones, so that
// stray prints reach stderr.
func takeStdio() (*stdio, error) {
	s := &stdio{in: os.Stdin, out: os.Stdout}
	if kind, err := windows.GetFileType(windows.Handle(os.Stdin.Fd())); err != nil {
		s.noInput = true
	} else if kind == windows.FILE_TYPE_CHAR {
		var mode uint32
		s.terminal = windows.GetConsoleMode(windows.Handle(os.Stdin.Fd()), &mode) == nil
		s.noInput = !s.terminal // NUL
	}
	s.noReader = stdoutClosed()
	os.Stdout = os.Stderr
	return s, windows.SetStdHandle(windows.STD_OUTPUT_HANDLE, windows.Handle(os.Stderr.Fd()))
}

// stdoutClosed tells whether the process was started without a stdout.
func stdoutClosed() bool {
	_, err := windows.GetFileType(windows.Handle(os.Stdout.Fd()))
	return err != nil
}
