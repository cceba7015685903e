package redact

import (
	"fmt"
	"io"
)

const hidden = "[redacted]"

// A Secret holds a string that must not be printed. However it is formatted,
// logged or encoded, it shows as "[redacted]"; only Reveal gives the string.
// The zero value holds the empty string. Two Secrets of one string differ
// under ==.
type Secret struct {
	// A pointer, since fmt prints the unexported fields of a struct around
	// it by reflection and without asking its methods: then an address shows.
	s *string
}

// NewSecret returns a Secret that holds s.
func NewSecret(s string) Secret { return Secret{&s} }

// Reveal returns the string itself, for the one line that sends it.
func (s Secret) Reveal() string {
	if s.s == nil {
		return ""
	}
	return *s.s
}

// String returns "[redacted]".
func (Secret) String() string { return hidden }

// GoString returns "[redacted]".
func (Secret) GoString() string { return hidden }

// Format prints "[redacted]" for every verb and flag.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hidden) }

// MarshalText returns "[redacted]".
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// MarshalJSON returns "[redacted]" as a JSON string.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + hidden + `"`), nil }
