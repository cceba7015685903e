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
	"github.com/prism-rpc/prism-rpc/internal/panics"
	"github.com/prism-rpc/prism-rpc/internal/plain"
	"github.com/prism-rpc/prism-rpc/rpc"
	"github.com/prism-rpc/prism-rpc/session"
)

func main() { os.Exit(run(os.Args[1:])) }

// run executes one command line and returns the exit code.
func run(args []string) (code int) {
	defer func() {
		if p := recover(); p != nil {
			say("prism-rpc: " + panics.Text("the command", p))
			code = exitFailed
		}
	}()
	flags := &config.Flags{}
	err := newRoot(flags, args).Execute()
	if text := complaint(withoutEarlySecrets(err, flags)); text != "" {
		say("prism-rpc: " + text)
	}
	return exitCode(err)
}

// withoutEarlySecrets is err without what flags, environment and file say is a
// secret, where it came before they were read.
func withoutEarlySecrets(err error, flags *config.Flags) error {
	var done *redactedError
	if err == nil || errors.As(err, &done) || complaint(err) == "" {
		return err
	}
	cfg, _ := config.Load(flags, config.ProcessEnv()) // what can't be read is not what err is about
	return withoutSecrets(err, cfg.Redactor)
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

// complaint is the one line, without the program's name, that says why the process ends; nothing where
// nobody reads, or where whoever ends it knows why.
func complaint(err error) string {
	var killed *signalError
	if err == nil || errors.As(err, &killed) || errors.Is(err, errSilent) || errors.Is(err, syscall.EPIPE) {
		return ""
	}
	text := err.Error()
	if errors.Is(err, rpc.ErrOutput) { // what follows from it goes without saying
		text, _, _ = strings.Cut(text, "\n")
	}
	return plain.Text(strings.ReplaceAll(text, "\n", "; "), maxComplaint)
}

const maxComplaint = 4 << 10 // bytes

var (
	// errSilent is an end with code 1 that needs no words.
	errSilent = errors.New("silent")

	// errNoStore is a store that could not be opened.
	errNoStore = fmt.Errorf("%w to open", session.ErrStore)
)
