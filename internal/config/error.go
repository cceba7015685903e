package config

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"

	"github.com/prism-rpc/prism-rpc/internal/plain"
)

// Error is a configuration that can't be used: what is wrong, where, and what
// would be right. It holds keys, never values. Line and Column count from 1,
// columns in code points; 0 where the place is not in a file.
type Error struct {
	Path       string `json:"path,omitempty"`
	Line       int    `json:"line,omitzero"`
	Column     int    `json:"column,omitzero"`
	Key        string `json:"key,omitempty"`        // as in injectors[0].when
	Suggestion string `json:"suggestion,omitempty"` // the nearest known key
	Hint       string `json:"hint,omitempty"`
	Message    string `json:"-"`
}

// Error is one line: path:line:column: key: message (hint).
func (e *Error) Error() string {
	var b strings.Builder
	if e.Path != "" {
		b.WriteString(plain.Text(e.Path, 1024))
		for _, n := range []int{e.Line, e.Column} {
			if n > 0 {
				b.WriteString(":" + strconv.Itoa(n))
			}
		}
		b.WriteString(": ")
	}
	if e.Key != "" {
		b.WriteString(plain.Text(e.Key, 256) + ": ")
	}
	b.WriteString(e.Message)
	if e.Hint != "" {
		b.WriteString(" (" + e.Hint + ")")
	}
	return strings.ReplaceAll(b.String(), "\n", `\n`)
}

// A UsageError is a command line that can't be used.
type UsageError struct {
	Message string
	Hint    string
}

func (e *UsageError) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + " (" + e.Hint + ")"
}

// Reason is why a file could not be read, without its path.
func Reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}
