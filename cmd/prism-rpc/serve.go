package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"time"

	"go.uber.org/zap"

	"github.com/prism-rpc/prism-rpc/internal/config"
	"github.com/prism-rpc/prism-rpc/rpc"
	"github.com/prism-rpc/prism-rpc/session"
)

// serve answers JSON-RPC on stdin and stdout until either ends. A
// configuration that can't be used does not keep it from answering: whoever
// spawned it reads there what is wrong.
func serve(ctx context.Context, flags *config.Flags) error {
	std, err := takeStdio()
	switch {
	case err != nil:
		return err
	case std.noInput:
		return nil
	case std.noReader:
		return errSilent
	case std.terminal:
		say("prism-rpc: reads JSON-RPC requests, one per line; to ask a question: prism-rpc -p TEXT; for help: prism-rpc --help")
	}
	ctx, cancel := untilSignal(ctx)
	defer cancel(nil)
	std.watch(cancel)

	p, unready := start(flags)
	defer p.lines.flush()
	err = rpc.Serve(ctx, std.in, std.out, p.options(unready))
	closeErr := p.close()
	return p.redacted(serveResult(ctx, err, unready, closeErr))
}

// serveResult is what the process ends with: the signal, then what it could
// never have worked with, then how the connection ended.
func serveResult(ctx context.Context, err, unready, closeErr error) error {
	var killed *signalError
	if errors.As(context.Cause(ctx), &killed) {
		return killed
	}
	if errors.Is(context.Cause(ctx), errNobodyReads) || errors.Is(err, rpc.ErrNoShutdown) {
		err = cmp.Or(unready, errSilent)
	}
	return cmp.Or(unready, err, closeErr)
}

// A process is what serve and ask both run on.
type process struct {
	cfg     *config.Config
	logger  *zap.Logger
	lines   *lineWriter
	manager *session.Manager // nil when the process is not ready
}

// start makes everything from flags, file and environment. The error says why
// the process can't work; it can log and answer all the same.
func start(flags *config.Flags) (*process, error) {
	cfg, err := config.Load(flags, config.ProcessEnv())
	p := &process{cfg: cfg}
	var logErr error
	p.logger, p.lines, logErr = openLog(cfg)
	for _, w := range cfg.Warnings {
		p.logger.Warn(w.Message, zap.String("kind", w.Kind), zap.String("name", w.Name))
	}
	if err = cmp.Or(err, logErr); err == nil {
		p.manager, err = openManager(cfg, os.Getenv, p.logger)
	}
	return p, err
}

func (p *process) options(unready error) rpc.Options {
	return rpc.Options{
		Sessions:       p.manager,
		Version:        version(),
		Unready:        unready,
		DefaultSession: p.cfg.Session,
		Framing:        rpc.Framing(p.cfg.Framing),
		MaxFrame:       p.cfg.MaxFrame,
		DrainTimeout:   time.Duration(p.cfg.DrainTimeout),
		OnEOF:          rpc.OnEOF(p.cfg.OnEOF),
		Redactor:       p.cfg.Redactor,
		Logger:         p.logger,
	}
}

func (p *process) close() error {
	if p.manager == nil {
		return nil
	}
	return closeManager(p.manager)
}

// redacted is err with a text that can be printed.
func (p *process) redacted(err error) error {
	if err == nil {
		return nil
	}
	return &redactedError{err, p.cfg.Redactor.Text(err.Error(), nil)}
}

type redactedError struct {
	err  error
	text string
}

func (e *redactedError) Error() string { return e.text }
func (e *redactedError) Unwrap() error { return e.err }
