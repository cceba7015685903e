package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadTrace(t *testing.T) {
	const message = `{"at":"2026-01-02T03:04:05.006Z","dir":"in","bytes":2,"msg":{}}` + "\n"
	const start = "\n" + `{"at":"2026-01-02T03:04:05.006Z","dir":"start"}` + "\n"
	for name, c := range map[string]struct {
		text string
		runs []int // lines of each; nil: no trace
	}{
		"one run":                         {message + message, []int{2}},
		"no newline at the end":           {strings.TrimSuffix(message, "\n"), []int{1}},
		"two runs":                        {message + start + message, []int{1, 1}},
		"a run that said nothing":         {message + start + start + message, []int{1, 1}},
		"a last line that was torn":       {message + message[:30], []int{2}},
		"a torn line before another run":  {message + message[:30] + start + message, []int{2, 1}},
		"a torn line before a message":    {message + message[:30] + "\n" + message, nil},
		"messages that could not be kept": {message + `{"dropped":7}` + "\n", []int{2}},
		"nothing":                         {"", nil},
		"nothing but a start":             {start, nil},
		"another file":                    {"provider: mock\n", nil},
		"JSON of another kind":            {`{"jsonrpc":"2.0"}` + "\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "trace")
			require.NoError(t, os.WriteFile(path, []byte(c.text), 0o600))
			runs, err := readTrace(path)
			if c.runs == nil {
				require.ErrorIs(t, err, errNoTrace)
				return
			}
			require.NoError(t, err)
			var lines []int
			for _, run := range runs {
				lines = append(lines, len(run))
			}
			assert.Equal(t, c.runs, lines)
		})
	}
}

func TestSentIsWhatWasRead(t *testing.T) {
	cut := `"` + strings.Repeat("a", 4<<10) + `… (5000 bytes)"`
	for msg, want := range map[string]string{
		`{"id": 1.50,"id":2}`:         `{"id":1.50,"id":2}`,
		`"not json"`:                  `not json`,
		`"{\n\"id\": 1}"`:             `{"id":1}`,
		`"[REDACTED] in no message"`:  "", // not as long as it was
		`{"text":` + cut + `}`:        "",
		`{"text":"… (5000 bytes)"}`:   `{"text":"… (5000 bytes)"}`, // so it was written
		`{"a":"\ud800 \u2028","b":3}`: `{"a":"\ud800 \u2028","b":3}`,
	} {
		t.Run(fmt.Sprintf("%.30s", msg), func(t *testing.T) {
			bytes := map[string]int{`"not json"`: 8, `"{\n\"id\": 1}"`: 10}[msg]
			line := traceLine{Dir: dirIn, Bytes: bytes, Msg: []byte(msg)}
			got, whole := line.sent()
			assert.Equal(t, want != "", whole)
			assert.Equal(t, want, string(got))
		})
	}
}
