// The prism-rpc command holds conversations with language models for whoever
// spawns it, over JSON-RPC 2.0 on stdin and stdout.
//
// This package alone touches the process: descriptors, signals, environment,
// exit codes.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/prism-rpc/prism-rpc/internal/config"
	"github.com/prism-rpc/prism-rpc/internal/plain"
	"github.com/prism-rpc/prism-rpc/session"
)

func main() { os.Exit(run(os.Args[1:])) }

// run executes one command line and returns the exit code.
func run(args []string) (code int) {
	defer func() {
		if p := recover(); p != nil {
			say(panicText("the command", p))
			code = exitFailed
		}
	}()
	err := newRoot(args).Execute()
	if text := complaint(err); text != "" {
		say(text)
	}
	return exitCode(err)
}

// say prints a line on stderr, unless that is full and nobody reads it.
func say(text string) {
	lines := &lineWriter{out: os.Stderr}
	lines.add([]byte(text + "\n"))
	lines.flush()
}

// Exit codes; a signal's is 128 and its number.
const (
	exitFailed = 1
	exitUsage  = 2
)

func exitCode(err error) int {
	var killed *signalError
	var usage *config.UsageError
	var bad *config.Error
	switch {
	case err == nil:
		return 0
	case errors.As(err, &killed):
		return 128 + int(killed.signal)
	case errors.As(err, &usage), errors.As(err, &bad), errors.Is(err, errNoStore):
		return exitUsage
	}
	return exitFailed
}

// complaint is the one line that says why the process ends; nothing where
// nobody reads, or where whoever ends it knows why.
func complaint(err error) string {
	var killed *signalError
	if err == nil || errors.As(err, &killed) || errors.Is(err, errSilent) || errors.Is(err, syscall.EPIPE) {
		return ""
	}
	text := strings.ReplaceAll(plain.Text(err.Error(), 4<<10), "\n", " ")
	if exitCode(err) == exitUsage {
		return "prism-rpc: " + text
	}
	return text
}

var (
	// errSilent is an end with code 1 that needs no words.
	errSilent = errors.New("silent")

	// errNoStore is a store that could not be opened.
	errNoStore = fmt.Errorf("%w to open", session.ErrStore)
)
