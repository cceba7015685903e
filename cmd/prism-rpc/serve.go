package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/prism-rpc/prism-rpc/inject/bundle"
	"github.com/prism-rpc/prism-rpc/internal/config"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/rpc"
	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
)

// serve answers JSON-RPC on stdin and stdout until either ends. A
// configuration that can't be used does not keep it from answering: whoever
// spawned it reads there what is wrong.
func serve(ctx context.Context, flags *config.Flags) error {
	ctx, cancel, ready := untilSignal(ctx)
	defer cancel(nil)
	parent := parentAtStart()
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

	p, unready := start(ctx, flags)
	defer p.lines.flush()
	if p.cfg.ParentWatch == "off" {
		parent = noParent
	}
	watch(cancel, std.outFD, parent)
	trace, err := p.openTrace()
	unready = cmp.Or(unready, err)
	opts := p.options(unready)
	opts.AfterFirstReply = func() {
		p.retain()
		p.watchBundles(ctx)
	}
	if trace != nil {
		opts.Trace = trace
	}
	err = rpc.Serve(ctx, &lateReader{std.in, ready}, std.out, opts)
	closeErr := p.close()
	return p.redacted(serveResult(ctx, err, unready, closeErr))
}

// A lateReader is a file from which nothing is read before ready is closed.
type lateReader struct {
	*os.File
	ready <-chan struct{}
}

func (r *lateReader) Read(p []byte) (int, error) {
	<-r.ready
	return r.File.Read(p)
}

// serveResult is what the process ends with: the signal, then what it could
// never have worked with, then how the connection ended.
func serveResult(ctx context.Context, err, unready, closeErr error) error {
	var killed *signalError
	cause := context.Cause(ctx)
	if errors.As(cause, &killed) {
		return killed
	}
	if errors.Is(cause, errNobodyReads) || errors.Is(cause, errParentGone) || errors.Is(err, rpc.ErrNoShutdown) {
		err = cmp.Or(unready, errSilent)
	}
	return cmp.Or(unready, err, closeErr)
}

// A process is what serve and ask both run on.
type process struct {
	cfg      *config.Config
	logger   *zap.Logger
	lines    *lineWriter    // of the log
	store    session.Store  // nil when the process is not ready
	notifier *rpc.Notifier  // what start-up and the store have to say
	bundles  *bundle.Source // nil unless they are looked for
	client   rpc.Client     // asked on behalf of bundles

	running atomic.Pointer[session.Manager] // the log asks it what it has learnt
}

// manager is nil when the process is not ready.
func (p *process) manager() *session.Manager { return p.running.Load() }

// redactor knows all that is known by now and must not be written.
func (p *process) redactor() *redact.Redactor {
	if m := p.manager(); m != nil {
		return m.Redactor()
	}
	return p.cfg.Redactor
}

// start makes everything from flags, file and environment. The error says why
// the process can't work; it can log and answer all the same.
func start(ctx context.Context, flags *config.Flags) (*process, error) {
	p, err := load(flags)
	if err == nil {
		err = p.openManager(ctx, os.Getenv)
	}
	return p, err
}

// load is start without a manager.
func load(flags *config.Flags) (*process, error) {
	cfg, err := config.Load(flags, config.ProcessEnv())
	p := &process{cfg: cfg, notifier: new(rpc.Notifier)}
	var logErr error
	p.logger, p.lines, logErr = openLog(cfg, p.redactor)
	if !cfg.Debuggable {
		p.harden()
	}
	p.warnOf(cfg.Warnings)
	return p, cmp.Or(err, logErr)
}

func (p *process) warnOf(warnings []config.Warning) {
	for _, w := range warnings {
		p.warn(schema.Notice{Kind: schema.NoticeKind(w.Kind), Message: w.Message, Data: map[string]any{"name": w.Name}})
	}
}

// harden is not more than the system allows.
func (p *process) harden() {
	if err := harden(); err != nil {
		p.logger.Warn("the process could not be closed to debuggers", zap.Error(err))
	}
}

// warn tells the client, and the log, of what works, but probably not as it
// was meant.
func (p *process) warn(n schema.Notice) {
	n.Level = schema.LevelWarning
	p.notifier.Notify(n)
	p.logger.Warn(n.Message, zap.String("kind", string(n.Kind)), zap.Any("data", n.Data), about(n.SessionID))
}

func about(sessionID string) zap.Field {
	if sessionID == "" {
		return zap.Skip()
	}
	return zap.String("sessionId", sessionID)
}

func (p *process) options(unready error) rpc.Options {
	return rpc.Options{
		Sessions:       p.manager(),
		Version:        version(),
		Unready:        unready,
		DefaultSession: p.cfg.Session,
		Framing:        rpc.Framing(p.cfg.Framing),
		MaxFrame:       p.cfg.MaxFrame,
		DrainTimeout:   time.Duration(p.cfg.DrainTimeout),
		OnEOF:          rpc.OnEOF(p.cfg.OnEOF),
		Notifier:       p.notifier,
		Client:         &p.client,
		Rescan:         p.rescan(),
		Redactor:       p.cfg.Redactor,
		Logger:         p.logger,
	}
}

func (p *process) close() error {
	if p.manager() == nil {
		return nil
	}
	return closeManager(p.manager())
}

// redacted is err with a text that can be printed.
func (p *process) redacted(err error) error {
	if err == nil {
		return nil
	}
	return withoutSecrets(err, p.redactor())
}

func withoutSecrets(err error, known *redact.Redactor) error {
	return &redactedError{err, redact.Hider(err, known).Text(err.Error(), nil)}
}

type redactedError struct {
	err  error
	text string
}

func (e *redactedError) Error() string { return e.text }
func (e *redactedError) Unwrap() error { return e.err }
