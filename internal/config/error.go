package config

import (
	"strconv"
	"strings"
)

// Error is a configuration that can't be used: what is wrong, where, and what
// would be right. It holds keys, never values. Line and Column count from 1,
// columns in code points; 0 where the place is not in a file. Path and key are
// as they were written: whoever shows them takes secrets out, then makes them
// fit to be shown.
type Error struct {
	Path       string `json:"path,omitempty"`
	Line       int    `json:"line,omitzero"`
	Column     int    `json:"column,omitzero"`
	Key        string `json:"key,omitempty"`        // as in injectors[0].when
	Suggestion string `json:"suggestion,omitempty"` // the nearest known key
	Hint       string `json:"hint,omitempty"`
	Message    string `json:"-"`
}

// Error is path:line:column: key: message (hint).
func (e *Error) Error() string {
	var b strings.Builder
	if e.Path != "" {
		b.WriteString(e.Path)
		for _, n := range []int{e.Line, e.Column} {
			if n > 0 {
				b.WriteString(":" + strconv.Itoa(n))
			}
		}
		b.WriteString(": ")
	}
	if e.Key != "" {
		b.WriteString(e.Key + ": ")
	}
	b.WriteString(e.Message)
	if e.Hint != "" {
		b.WriteString(" (" + e.Hint + ")")
	}
	return b.String()
}

// A UsageError is a command line that can't be used. It holds words as they
// were typed, as Error does.
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
