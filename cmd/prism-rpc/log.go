package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/prism-rpc/prism-rpc/internal/config"
	"github.com/prism-rpc/prism-rpc/redact"
)

const (
	maxLogBytes = 1 << 20                // of lines that wait to be written
	flushWait   = 200 * time.Millisecond // for them at the end
)

// openLog makes the logger that cfg asks for: JSON lines, each redacted as a
// whole. It writes to stderr, also when the log file can't be opened, which is
// the error.
func openLog(cfg *config.Config) (*zap.Logger, *lineWriter, error) {
	out, err := logOutput(cfg)
	lines := &lineWriter{out: out}
	level, levelErr := zapcore.ParseLevel(cfg.LogLevel)
	if levelErr != nil {
		level = zapcore.ErrorLevel
	}
	core := zapcore.NewCore(zapcore.NewJSONEncoder(logFormat()), &scrubber{cfg.Redactor, lines}, level)
	return zap.New(core), lines, err
}

func logOutput(cfg *config.Config) (io.Writer, error) {
	if cfg.LogFile == "" {
		return os.Stderr, nil
	}
	f, err := os.OpenFile(cfg.LogFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return os.Stderr, cfg.Bad("logFile", "can't be opened: "+config.Reason(err), "")
	}
	return f, nil
}

func logFormat() zapcore.EncoderConfig {
	return zapcore.EncoderConfig{
		TimeKey: "at", LevelKey: "level", MessageKey: "msg", NameKey: "logger",
		EncodeLevel: zapcore.LowercaseLevelEncoder,
		EncodeTime: func(t time.Time, enc zapcore.PrimitiveArrayEncoder) {
			enc.AppendString(t.UTC().Format("2006-01-02T15:04:05.000Z"))
		},
		EncodeDuration: zapcore.MillisDurationEncoder,
	}
}

// A scrubber redacts whole lines, so that no field can go around it.
type scrubber struct {
	redactor *redact.Redactor
	lines    *lineWriter
}

func (s *scrubber) Write(line []byte) (int, error) {
	clean := s.redactor.JSON(bytes.TrimRight(line, "\n"), nil)
	s.lines.add(append(bytes.Clone(clean), '\n'))
	return len(line), nil
}

func (s *scrubber) Sync() error { return nil }

// A lineWriter writes lines in the background. A line for which there is no
// room, since nobody reads, is dropped and counted.
type lineWriter struct {
	out io.Writer

	mu      sync.Mutex
	waiting []byte
	writing int // bytes
	dropped int
	done    chan struct{} // closed when the writing goroutine ends; nil without one
}

// add never blocks.
func (w *lineWriter) add(line []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.waiting)+w.writing+len(line) > maxLogBytes {
		w.dropped++
		return
	}
	w.waiting = append(w.waiting, line...)
	if w.done == nil {
		w.done = make(chan struct{})
		go w.write() // flush waits for it
	}
}

// write goes on until nothing waits.
func (w *lineWriter) write() {
	for {
		lines := w.take()
		if lines == nil {
			return
		}
		_, _ = w.out.Write(lines) // where a log can't be written there is nowhere to say it
	}
}

func (w *lineWriter) take() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	lines := w.waiting
	if w.dropped > 0 {
		lines = fmt.Appendf(lines, `{"level":"warn","msg":"log lines were dropped","count":%d}`+"\n", w.dropped)
	}
	w.waiting, w.writing, w.dropped = nil, len(lines), 0
	if lines == nil {
		close(w.done)
		w.done = nil
	}
	return lines
}

// flush gives the lines that wait a moment to get out.
func (w *lineWriter) flush() {
	w.mu.Lock()
	done := w.done
	w.mu.Unlock()
	if done == nil {
		return
	}
	select {
	case <-done:
	case <-time.After(flushWait):
	}
}
