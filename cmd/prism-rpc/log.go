package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/prism-rpc/prism-rpc/internal/config"
	"github.com/prism-rpc/prism-rpc/redact"
)

// openLog makes the logger that cfg asks for: JSON lines, each redacted as a
// whole. It writes to stderr, also when the log file can't be opened, which is
// the error. What the libraries print through the standard logger goes the same
// way, at level debug: net/http prints there what a server sent unasked.
func openLog(cfg *config.Config) (*zap.Logger, *lineWriter, error) {
	out, err := logOutput(cfg)
	lines := &lineWriter{out: out}
	level, levelErr := zapcore.ParseLevel(cfg.LogLevel)
	if levelErr != nil {
		level = zapcore.ErrorLevel
	}
	core := zapcore.NewCore(zapcore.NewJSONEncoder(logFormat()), &scrubber{cfg.Redactor, lines}, level)
	logger := zap.New(core)
	_, redirectErr := zap.RedirectStdLogAt(logger, zapcore.DebugLevel)
	return logger, lines, errors.Join(err, redirectErr)
}

func logOutput(cfg *config.Config) (io.Writer, error) {
	if cfg.LogFile == "" {
		return os.Stderr, nil
	}
	f, err := openAppend(cfg.LogFile)
	if err != nil {
		return os.Stderr, cfg.Bad("logFile", "can't be opened: "+config.Reason(err), "")
	}
	return f, nil
}

func openAppend(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
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
