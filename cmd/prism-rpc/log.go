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
// whole with what hidden gives at that moment. It writes to stderr, also when the log file can't be opened, which is
// the error. What the libraries print through the standard logger goes the same
// way, at level debug: net/http prints there what a server sent unasked.
func openLog(cfg *config.Config, hidden func() *redact.Redactor) (*zap.Logger, *lineWriter, error) {
	out, err := logOutput(cfg)
	lines := &lineWriter{out: out}
	level, levelErr := zapcore.ParseLevel(cfg.LogLevel)
	if levelErr != nil {
		level = zapcore.ErrorLevel
	}
	core := zapcore.NewCore(zapcore.NewJSONEncoder(logFormat()), &scrubber{hidden, lines}, level)
	logger := zap.New(core)
	_, redirectErr := zap.RedirectStdLogAt(logger, zapcore.DebugLevel)
	return logger, lines, errors.Join(err, redirectErr)
}

func logOutput(cfg *config.Config) (io.Writer, error) {
	if cfg.LogFile == "" {
		return os.Stderr, nil
	}
	f, err := config.OpenAppend(cfg.LogFile)
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
	hidden func() *redact.Redactor
	lines  *lineWriter
}

func (s *scrubber) Write(line []byte) (int, error) {
	clean := s.hidden().JSON(bytes.TrimRight(line, "\n"), nil)
	s.lines.add(append(bytes.Clone(clean), '\n'))
	return len(line), nil
}

func (s *scrubber) Sync() error { return nil }
