package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/prism-rpc/prism-rpc/internal/config"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
)

func TestLogIsRedactedWhole(t *testing.T) {
	red, err := redact.New(redact.Value{Name: "K", Secret: redact.NewSecret("hunter2-hunter2")})
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "log")
	logger, lines, err := openLog(&config.Config{Settings: config.Settings{LogFile: path, LogLevel: "debug"}}, func() *redact.Redactor { return red })
	require.NoError(t, err)
	logger.With(zap.String("with", "hunter2-hunter2")).Error("hunter2-hunter2 in a message",
		zap.String("field", "a hunter2-hunter2\n\""), zap.Any("deep", map[string]string{"hunter2-hunter2": "hunter2-hunter2"}))
	red, err = red.With(redact.Value{Name: "L", Secret: redact.NewSecret("learnt-later")})
	require.NoError(t, err)
	logger.Error("learnt-later")
	lines.flush()

	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.NotContains(t, string(raw), "hunter2")
	assert.Equal(t, 1, strings.Count(string(raw), "[REDACTED:L]"), "what is known by now")
	assert.Equal(t, 5, strings.Count(string(raw), "[REDACTED:K]"))
	assert.Equal(t, 2, bytes.Count(raw, []byte("\n")), "one line each")
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Zero(t, info.Mode().Perm()&0o077, "for the user alone")
}

// What the client told is hidden in the log and in the reason to end, too.
func TestS2LearntLater(t *testing.T) {
	var p process
	p.cfg = &config.Config{}
	assert.ErrorContains(t, p.redacted(errors.New("told-by-the-client")), "told-by-the-client")
	m, err := session.NewManager(session.Config{})
	require.NoError(t, err)
	p.running.Store(m)
	path := filepath.Join(t.TempDir(), "log")
	logger, lines, err := openLog(&config.Config{Settings: config.Settings{LogFile: path}}, p.redactor)
	require.NoError(t, err)
	require.NoError(t, m.Learn([]schema.SecretValue{{Name: "x", Value: "told-by-the-client"}}))
	logger.Error("told-by-the-client")
	lines.flush()
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Contains(t, string(raw), `"msg":"[REDACTED:x]"`)
	assert.Equal(t, "[REDACTED:x]", p.redacted(errors.New("told-by-the-client")).Error())
}

// A stuck writer is one that nobody reads, until it is let go.
type stuck struct {
	started chan struct{}
	letGo   chan struct{}
	got     bytes.Buffer
	begun   bool
}

func (s *stuck) Write(p []byte) (int, error) {
	if !s.begun {
		s.begun = true
		close(s.started)
		<-s.letGo
	}
	return s.got.Write(p)
}

func TestLogDropsAndCountsWhatNobodyReads(t *testing.T) {
	out := &stuck{started: make(chan struct{}), letGo: make(chan struct{})}
	w := &lineWriter{out: out}
	line := []byte(strings.Repeat("x", maxWaiting/4-1) + "\n")
	w.add(line)
	<-out.started
	for range 5 {
		w.add(line) // must not block
	}
	close(out.letGo)
	w.flush()
	assert.Equal(t, 4, strings.Count(out.got.String(), "x\n"))
	assert.Contains(t, out.got.String(), `"msg":"log lines were dropped","count":2`)
}
