package main

import (
	"fmt"
	"runtime"
	"strings"
)

// recovered is deferred where a goroutine begins. It says which panic it was
// by its type and place: the value may hold anything, and must not be printed.
func recovered(where string) {
	if p := recover(); p != nil {
		say(panicText(where, p))
	}
}

func panicText(where string, p any) string {
	return fmt.Sprintf("prism-rpc: %s panicked with a %T in %s", where, p, strings.Join(functions(), ", "))
}

// functions names those on the stack, from the one that panicked on down.
func functions() []string {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(4, pcs[:])])
	var names []string
	for {
		frame, more := frames.Next()
		if !strings.HasPrefix(frame.Function, "runtime.") {
			names = append(names, frame.Function)
		}
		if !more {
			return names
		}
	}
}
