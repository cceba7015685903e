// Package redact takes secrets out of text: whole, in JSON, and in streams.
//
// It knows values, told to New, and finds them as they are and as they look
// after an encoder: JSON strings (once and twice), percent-encoding, HTML, hex,
// base64. It also knows the formats of the keys of well-known services, and
// finds any of them: see Rules. All occurrences of all of them are found in
// the text as it came, and those that overlap or touch give way to one marker,
// so two values that share bytes never leave a half of one:
//
//	values abcdWXYZ and WXYZefgh: "abcdWXYZefgh" → "[REDACTED]"
//
// Redacting twice changes nothing: a marker is never taken for a part of a
// value. To hold that, a value that begins with an end of "[REDACTED]" or ends
// with a beginning of it (as "]…" or "…[" do) is looked for without that edge,
// and one of which too little is left is refused. No rule takes a bracket.
//
// White space around a value does not count. A value that is not UTF-8 is
// looked for without broken characters at its ends, so that valid text stays
// valid.
//
// Whole text is skimmed: a sampler finds values, and anchors the keywords that
// keys begin with, without reading each byte; only there does a finder read.
// Streams are read by the finder alone.
package redact

import (
	"errors"
	"fmt"
	"strings"
	"sync"
)

// Errors that New and With return, wrapped with the name of the value.
var (
	ErrEmpty = errors.New("value to redact is empty")
	ErrShort = errors.New("value to redact is under 8 bytes and not marked short")
	ErrUnfit = errors.New("value to redact can't be told from the marker, or is not text")
)

// minValue is the length in bytes from which a value, or an encoded spelling
// of one, is looked for anywhere, within words too.
const minValue = 8

// A Value is a secret to look for. Its name, when it has one, stands in the
// marker, [REDACTED:name], if it is made of ASCII letters, digits, "_", "-"
// and "." and holds no known value itself.
type Value struct {
	Name   string
	Secret Secret
	// Short allows a value under 8 bytes. It is found only where it, or its
	// text in another spelling, stands as a word: no ASCII letter, digit or
	// "_" of its own may have another as neighbour, unless that belongs to a
	// longer value's occurrence. Longer values ignore it.
	Short bool
}

// A Redactor knows values and rules. It never changes and is safe for use by
// many goroutines. A nil *Redactor redacts nothing.
type Redactor struct {
	values    []Value
	patterns  []pattern // of the values
	bracketed []string  // those with brackets, which alone may meet a marker
	words     bool      // some of them must stand as words
	longest   int       // of the patterns
	rules     Rules
	sampler   *sampler // nil without patterns, and when there are words

	// What is made when it is first needed.
	labels func() []label // by value, then by rule
	auto   func() *automaton
}

// New returns a Redactor of the values and of DefaultRules. The errors are
// ErrEmpty, also for white space alone, ErrShort and ErrUnfit. They hold no
// secret.
func New(values ...Value) (*Redactor, error) {
	return (*Redactor)(nil).WithRules(DefaultRules).With(values...)
}

// With returns a Redactor that knows these values too; r stays as it is. Of
// two values that are the same, the first given lends its name.
func (r *Redactor) With(values ...Value) (*Redactor, error) {
	b := newBuilder(r, len(values))
	for i, v := range values {
		if err := b.add(v); err != nil {
			return nil, fmt.Errorf("%w: %s", err, r.describe(i, v))
		}
	}
	if r != nil && !b.grown {
		return r, nil
	}
	return b.build(), nil
}

// describe names a value in an error.
func (r *Redactor) describe(i int, v Value) string {
	secret := strings.TrimSpace(v.Secret.Reveal())
	if v.Name == "" || r.Contains(v.Name) || secret != "" && strings.Contains(v.Name, secret) {
		return fmt.Sprintf("value %d", i+1)
	}
	return fmt.Sprintf("%q", v.Name)
}

// Text returns s with a marker for every occurrence of a known value and of
// what the rules look for, counted in t. It returns s itself when there is
// none. A marker that stands for several united occurrences bears the name of
// the one that starts first; of those a value's, the longest, before a rule's.
func (r *Redactor) Text(s string, t *Tally) string {
	marks := r.find(s)
	if len(marks) == 0 {
		return s
	}
	labels := r.labels()
	size := len(s)
	for _, m := range marks {
		size += len(labels[m.value].marker) - (m.end - m.start)
	}
	var out strings.Builder
	out.Grow(size)
	shown := 0
	for _, m := range marks {
		out.WriteString(s[shown:m.start])
		out.WriteString(labels[m.value].mark(t))
		shown = m.end
	}
	out.WriteString(s[shown:])
	return out.String()
}

// Contains tells whether Text would remove anything from s.
func (r *Redactor) Contains(s string) bool { return len(r.find(s)) > 0 }

// find looks for all that is to be removed. Where no value is short, most of
// the text need not be read for that.
func (r *Redactor) find(s string) []span {
	if r.empty() {
		return nil
	}
	f := r.finder(brief(s))
	f.text = s
	if r.words {
		f.auto = r.auto()
		f.scan()
	} else {
		f.skim(len(s))
	}
	f.end()
	return f.marks
}

// shortestKey is the length in bytes from which on a name may hold a key of a
// format that some rule knows.
const shortestKey = 15

// brief tells whether s is a name too short to hold a key, so that no rules
// need be made ready for it. Configured names are, before anything is said.
func brief(s string) bool { return len(s) < shortestKey && plainName(s) }

// empty tells whether there is nothing to look for.
func (r *Redactor) empty() bool { return r == nil || len(r.patterns) == 0 && r.rules == NoRules }

// WithRules returns a Redactor of r's values with these rules in place of its
// own; r stays as it is.
func (r *Redactor) WithRules(rules Rules) *Redactor {
	out := &Redactor{auto: noAutomaton}
	if r != nil {
		*out = *r
	}
	out.rules = rules
	out.labels = sync.OnceValue(out.labelAll)
	return out
}
