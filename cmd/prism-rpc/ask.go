package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/prism-rpc/prism-rpc/internal/config"
	"github.com/prism-rpc/prism-rpc/internal/plain"
	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
)

// How the answer to -p is written.
const (
	modePrint = "print" // its text, as it comes
	modeJSON  = "json"  // the result of the turn, one line
)

// A query is what -p asks, and how its answer is written.
type query struct {
	text string
	mode string
	raw  bool // as it comes, also to a terminal
}

// ask asks one question and writes the answer to out.
func ask(ctx context.Context, flags *config.Flags, q query, out *os.File) error {
	return once(ctx, flags, func(ctx context.Context, cancel context.CancelCauseFunc, p *process) error {
		input, err := question(q.text, p.cfg.MaxFrame)
		if err != nil {
			return err
		}
		return p.ask(ctx, cancel, input, q, out)
	})
}

// once does one thing with a process that is ready, and ends it. A signal
// cancels it.
func once(ctx context.Context, flags *config.Flags, do func(context.Context, context.CancelCauseFunc, *process) error) error {
	ctx, cancel, ready := untilSignal(ctx)
	defer cancel(nil)
	<-ready
	p, err := start(ctx, flags)
	defer p.lines.flush()
	if err != nil {
		return p.redacted(errors.Join(err, p.close()))
	}
	err = cmp.Or(do(ctx, cancel, p), p.close())
	var killed *signalError
	if errors.As(context.Cause(ctx), &killed) {
		return killed
	}
	return p.redacted(err)
}

// question is the text to ask; "-" reads it from stdin.
func question(text string, max int) (schema.Input, error) {
	if text == "-" {
		raw, err := io.ReadAll(io.LimitReader(os.Stdin, int64(max)+1))
		if err != nil {
			return nil, fmt.Errorf("read stdin: %w", err)
		}
		if len(raw) > max {
			return nil, &config.UsageError{Message: fmt.Sprintf("stdin holds more than %d bytes", max), Hint: "--max-frame raises the limit"}
		}
		text = string(bytes.TrimRight(raw, "\r\n"))
	}
	text = strings.ToValidUTF8(text, "\ufffd")
	if strings.TrimSpace(text) == "" {
		return nil, &config.UsageError{Message: "there is nothing to ask", Hint: "give the text, or - to read it from stdin"}
	}
	return schema.Input{schema.TextBlock(text)}, nil
}

func (p *process) ask(ctx context.Context, cancel context.CancelCauseFunc, input schema.Input, q query, out *os.File) error {
	answer := &printer{out: out, fit: isTerminal(out) && !q.raw, cancel: cancel}
	options := session.RunOptions{}
	if q.mode == modePrint {
		options.OnEvent = answer.event
	}
	run, err := p.manager().Begin(ctx, session.Start{
		SessionID: cmp.Or(p.cfg.Session, session.NewID()), Input: input, Create: true, RunOptions: options,
	})
	if err != nil {
		return err
	}
	defer run.Settle()
	result, err := run.Wait()
	if q.mode == modePrint {
		answer.end()
	}
	switch {
	case answer.err != nil:
		return answer.err
	case err != nil:
		return err
	case q.mode == modeJSON:
		return writeLine(out, result)
	case result.StopReason != schema.StopEndTurn: // what was printed is not the whole of it
		say("prism-rpc: the answer ended early: " + string(result.StopReason))
	}
	return nil
}

func writeLine(out io.Writer, v any) error {
	line, err := json.Marshal(v)
	if err == nil {
		_, err = out.Write(append(line, '\n'))
	}
	return err
}

// A printer writes the text of an answer as it comes, on a terminal made fit
// for it.
type printer struct {
	out    io.Writer
	fit    bool
	cancel context.CancelCauseFunc
	last   byte
	err    error // of the first write that failed
}

func (a *printer) event(e schema.Event) {
	delta, ok := e.(*schema.MessageDelta)
	switch {
	case !ok || delta.Text == "":
	case a.fit:
		a.write(fit(delta.Text))
	default:
		a.write(delta.Text)
	}
}

// fit is all of a text, as it can be shown on a terminal.
func fit(text string) string { return plain.Text(text, len(text)*len(`\u0000`)) }

// isTerminal tells whether what is written to f may be shown to a person as it
// is: f is a device.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func (a *printer) write(text string) {
	if a.err != nil {
		return
	}
	if _, a.err = io.WriteString(a.out, text); a.err != nil {
		a.cancel(a.err) // nobody reads the rest
	}
	a.last = text[len(text)-1]
}

// end ends the line.
func (a *printer) end() {
	if a.last != 0 && a.last != '\n' {
		a.write("\n")
	}
}
