package main

import "github.com/prism-rpc/prism-rpc/internal/panics"

// recovered is deferred where a goroutine begins. It says which panic it was
// by its type and place: the value may hold anything, and must not be printed.
func recovered(where string) {
	if p := recover(); p != nil {
		say("prism-rpc: " + panics.Text(where, p))
	}
}
