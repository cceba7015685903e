package redact

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// brute does what Text does, or with cutOff what a whole stream does, by
// looking for each pattern at each place.
func brute(r *Redactor, text string, cutOff bool) string {
	var found, words []span
	for _, p := range r.patterns {
		for i := 0; i+len(p.text) <= len(text); i++ {
			if sp := (span{i, i + len(p.text), int32(len(p.text)), p.value}); text[i:sp.end] != p.text {
				continue
			} else if p.word {
				words = append(words, sp)
			} else {
				found = append(found, sp)
			}
		}
	}
	found = append(found, bruteDigits(r, text, found)...)
	gone := slices.Clone(found)
	if cutOff {
		gone = append(gone, bruteCut(r, text)...)
	}
	all := slices.Clone(gone)
	for _, w := range words {
		if bruteOpens(text, found, w) && bruteCloses(text, gone, w) {
			all = append(all, w)
		}
	}
	return bruteMark(r, text, all)
}

// bruteDigits are the digit and the padding behind occurrences in base64 that
// share it.
func bruteDigits(r *Redactor, text string, found []span) []span {
	longest := map[int]int32{} // by end
	for _, s := range found {
		longest[s.end] = max(longest[s.end], s.lead)
	}
	var out []span
	for _, s := range found {
		shares := slices.ContainsFunc(r.patterns, func(p pattern) bool { return p.shares && p.text == text[s.start:s.end] })
		if !shares || s.lead < longest[s.end] || s.end == len(text) || !base64Digit(text[s.end]) {
			continue
		}
		end := s.end + 1
		for end < len(text) && end < s.end+3 && text[end] == '=' {
			end++
		}
		for i := s.end; i < end; i++ {
			if out = append(out, span{start: i, end: i + 1}); longest[i+1] > 0 {
				break // another occurrence ends here and says what follows
			}
		}
	}
	return out
}

func bruteOpens(text string, found []span, w span) bool {
	if w.start == 0 || !wordByte(text[w.start-1]) || !wordByte(text[w.start]) {
		return true
	}
	return slices.ContainsFunc(found, func(s span) bool { return s.end == w.start })
}

func bruteCloses(text string, found []span, w span) bool {
	if w.end == len(text) || !wordByte(text[w.end-1]) || !wordByte(text[w.end]) {
		return true
	}
	return slices.ContainsFunc(found, func(s span) bool { return s.start == w.end })
}

func bruteCut(r *Redactor, text string) []span {
	for n := len(text); n >= 8; n-- {
		for _, p := range r.patterns {
			if !p.word && n < len(p.text) && n*2 >= len(p.text) && text[len(text)-n:] == p.text[:n] {
				return []span{{len(text) - n, len(text), int32(n), p.value}}
			}
		}
	}
	return nil
}

func bruteUnion(spans []span) []span {
	spans = slices.Clone(spans)
	slices.SortFunc(spans, func(a, b span) int {
		if a.start != b.start {
			return a.start - b.start
		}
		return int(b.lead - a.lead)
	})
	var out []span
	for _, s := range spans {
		if last := len(out) - 1; last >= 0 && s.start <= out[last].end {
			out[last].end = max(out[last].end, s.end)
			continue
		}
		out = append(out, s)
	}
	return out
}

func bruteMark(r *Redactor, text string, spans []span) string {
	var out strings.Builder
	shown := 0
	for _, s := range bruteUnion(spans) {
		out.WriteString(text[shown:s.start] + r.labels()[s.value].marker)
		shown = s.end
	}
	return out.String() + text[shown:]
}

// checkText holds for every Redactor and text.
func checkText(t *testing.T, r *Redactor, text string) {
	t.Helper()
	var tally Tally
	got := r.Text(text, &tally)
	assert.Equal(t, brute(r, text, false), got, "every occurrence and no more")
	assert.Equal(t, got, r.Text(got, nil), "redacting twice changes nothing")
	assert.Equal(t, got != text, r.Contains(text))
	assertClean(t, r, got)
	checkMarkers(t, text, got, &tally)
}

// checkMarkers compares the tally to the markers that got has more than text.
func checkMarkers(t *testing.T, text, got string, tally *Tally) {
	t.Helper()
	counted := 0
	for _, c := range tally.Counts() {
		counted += c.Count
	}
	if !strings.Contains(text, "[") {
		assert.Equal(t, strings.Count(got, markerStart), counted)
	}
}

// assertClean tells whether a text holds no value whole.
func assertClean(t *testing.T, r *Redactor, text string) {
	t.Helper()
	for _, v := range r.values {
		if value := strings.TrimSpace(v.Secret.Reveal()); len(value) >= minValue {
			assert.NotContains(t, text, core(value))
		}
	}
}

// checkStream holds for every Redactor and every way to cut a text.
func checkStream(t *testing.T, r *Redactor, chunks []string) {
	t.Helper()
	s, shown := r.Stream(), ""
	for _, chunk := range chunks {
		shown += s.Write(chunk)
		assertClean(t, r, shown)
	}
	shown += s.Flush()
	text := strings.Join(chunks, "")
	assert.Equal(t, brute(r, text, true), shown, "of %q", chunks)
	assert.Equal(t, shown, r.Text(shown, nil), "redacting twice changes nothing")
	assertClean(t, r, shown)
	checkMarkers(t, text, shown, s.Tally())
}

// cut cuts text at distances that steps gives, over and over.
func cut(text string, steps []byte) []string {
	var out []string
	for i := 0; text != ""; i++ {
		n := 1
		if len(steps) > 0 {
			n = int(steps[i%len(steps)] % 16)
			if n == 0 {
				n = 1
			}
		}
		n = min(n, len(text))
		out = append(out, text[:n])
		text = text[n:]
	}
	return out
}
