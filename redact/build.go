package redact

import (
	"slices"
	"strings"
	"sync"
)

// A builder gathers the patterns of a Redactor.
type builder struct {
	values   []Value
	patterns []pattern
	index    map[string]int // of patterns, by text
	rules    Rules
	grown    bool // beyond the Redactor it began with
}

func newBuilder(r *Redactor, more int) *builder {
	b := &builder{index: make(map[string]int, 16*more), patterns: make([]pattern, 0, 16*more), rules: NoRules}
	if r != nil {
		b.values, b.patterns, b.rules = slices.Clone(r.values), append(b.patterns, r.patterns...), r.rules
		for i, p := range b.patterns {
			b.index[p.text] = i
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
	}
	if _, ok := fit(secret, short); !ok {
		return ErrUnfit
	}
	value := int32(len(b.values))
	for _, s := range spellings(secret) {
		word := short && s.literal
		if c, ok := fit(s.text, word); ok && (s.literal || len(s.text) >= minValue) {
			b.pattern(pattern{text: c, value: value, word: word, shares: s.shares})
		}
	}
	b.values = append(b.values, v)
	return nil
}

// pattern takes p, or widens an earlier one until that finds all that p would.
func (b *builder) pattern(p pattern) {
	i, taken := b.index[p.text]
	if !taken {
		b.index[p.text] = len(b.patterns)
		b.patterns = append(b.patterns, p)
		b.grown = true
		return
	}
	wider := b.patterns[i]
	if wider.word && !p.word {
		wider.value, wider.word = p.value, false
	}
	wider.shares = wider.shares || p.shares
	b.grown = b.grown || wider != b.patterns[i]
	b.patterns[i] = wider
}

func (b *builder) build() *Redactor {
	r := &Redactor{values: b.values, patterns: b.patterns, rules: b.rules, auto: noAutomaton}
	for _, p := range r.patterns {
		r.words = r.words || p.word
		r.longest = max(r.longest, len(p.text))
		if bracketed(p.text) {
			r.bracketed = append(r.bracketed, p.text)
		}
	}
	if len(r.patterns) > 0 {
		r.auto = sync.OnceValue(func() *automaton { return newAutomaton(r.patterns) })
		if !r.words {
			r.sampler = newSampler(r.patterns)
		}
	}
	r.labels = sync.OnceValue(r.labelAll)
	return r
}

func noAutomaton() *automaton { return nil }
