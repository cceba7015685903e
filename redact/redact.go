// Package redact takes secrets out of text: whole, in JSON, and in streams.
//
// It knows values, told to New, and finds them as they are and as they look
// after an encoder: JSON strings (once and twice), percent-encoding, HTML, hex,
// base64. All occurrences of all values are found in the text as it came, and
// those that overlap or touch give way to one marker, so two values that share
// bytes never leave a half of one:
//
//	values abcdWXYZ and WXYZefgh: "abcdWXYZefgh" → "[REDACTED]"
//
// Redacting twice changes nothing: a marker is never taken for a part of a
// value. To hold that, a value that begins with an end of "[REDACTED]" or ends
// with a beginning of it (as "]…" or "…[" do) is looked for without that edge,
// and one of which too little is left is refused.
//
// White space around a value does not count. A value that is not UTF-8 is
// looked for without broken characters at its ends, so that valid text stays
// valid.
package redact

import (
	"errors"
	"fmt"
	"slices"
	"strings"
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

// A Redactor knows values. It never changes and is safe for use by many
// goroutines. A nil *Redactor redacts nothing.
type Redactor struct {
	values []Value
	labels []label // by value
	auto   *automaton
}

// New returns a Redactor of the values. The errors are ErrEmpty, also for
// white space alone, ErrShort and ErrUnfit. They hold no secret.
func New(values ...Value) (*Redactor, error) {
	return (*Redactor)(nil).With(values...)
}

// With returns a Redactor that knows these values too; r stays as it is. Of
// two values that are the same, the first given lends its name.
func (r *Redactor) With(values ...Value) (*Redactor, error) {
	b := newBuilder(r)
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

// Text returns s with a marker for every occurrence of a known value, counted
// in t. It returns s itself when there is none. A marker that stands for
// several united occurrences bears the name of the one that starts first, of
// those the longest.
func (r *Redactor) Text(s string, t *Tally) string {
	marks := r.find(s)
	if len(marks) == 0 {
		return s
	}
	var out strings.Builder
	shown := 0
	for _, m := range marks {
		out.WriteString(s[shown:m.start])
		out.WriteString(r.labels[m.value].mark(t))
		shown = m.end
	}
	out.WriteString(s[shown:])
	return out.String()
}

// Contains tells whether Text would remove anything from s.
func (r *Redactor) Contains(s string) bool { return len(r.find(s)) > 0 }

func (r *Redactor) find(s string) []span {
	if r == nil || r.auto == nil {
		return nil
	}
	f := finder{auto: r.auto, text: s}
	f.scan()
	f.end()
	return f.marks
}

// A builder gathers the patterns of a Redactor.
type builder struct {
	values   []Value
	patterns map[string]pattern
	grown    bool // beyond the Redactor it began with
}

func newBuilder(r *Redactor) *builder {
	b := &builder{patterns: map[string]pattern{}}
	if r != nil {
		b.values = slices.Clone(r.values)
		for _, p := range r.auto.all() {
			b.patterns[p.text] = p
		}
	}
	return b
}

func (b *builder) add(v Value) error {
	secret := strings.TrimSpace(v.Secret.Reveal())
	short := len(secret) < minValue
	switch {
	case secret == "":
		return ErrEmpty
	case short && !v.Short:
		return ErrShort
	case !fit(secret, short):
		return ErrUnfit
	}
	value := int32(len(b.values))
	for _, s := range spellings(secret) {
		word := short && s.literal
		if fit(s.text, word) && (s.literal || len(s.text) >= minValue) {
			b.pattern(pattern{text: core(s.text), value: value, word: word})
		}
	}
	b.values = append(b.values, v)
	return nil
}

// pattern takes p, unless an earlier one finds all that it would.
func (b *builder) pattern(p pattern) {
	old, taken := b.patterns[p.text]
	if taken && (p.word || !old.word) {
		return
	}
	b.grown = true
	b.patterns[p.text] = p
}

func (b *builder) build() *Redactor {
	r := &Redactor{values: b.values}
	if len(b.values) == 0 {
		return r
	}
	patterns := make([]pattern, 0, len(b.patterns))
	for _, p := range b.patterns {
		patterns = append(patterns, p)
	}
	slices.SortFunc(patterns, func(a, b pattern) int { return strings.Compare(a.text, b.text) })
	r.auto = newAutomaton(patterns)
	r.labels = r.labelValues()
	return r
}
