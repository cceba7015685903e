// Package panics reports a panic by its type and place. Its value may hold
// anything, a prompt or a secret, and is never shown.
package panics

import (
	"fmt"
	"runtime"
	"strings"
)

// Recover is deferred where a goroutine begins: it ends a panic and reports it
// as one line.
func Recover(where string, report func(text string)) {
	if v := recover(); v != nil {
		report(Text(where, v))
	}
}

// Text describes a recovered panic. It is called by the function that
// recovered it, or by one that this one called.
func Text(where string, value any) string {
	return fmt.Sprintf("%s panicked with a %T in %s", where, value, strings.Join(Functions(), ", "))
}

// Functions names those on the stack from the one that panicked on down.
func Functions() []string {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	var names []string
	panicked := false
	for {
		frame, more := frames.Next()
		switch {
		case frame.Function == "runtime.gopanic":
			panicked, names = true, nil
		case !strings.HasPrefix(frame.Function, "runtime."):
			names = append(names, frame.Function)
		}
		if !more {
			break
		}
	}
	if !panicked {
		return nil
	}
	return names
}
