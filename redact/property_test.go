package redact

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// valuesOf makes values of lines, short ones allowed, those that are refused
// left out. Names of all kinds take turns.
func valuesOf(t *testing.T, lines string) *Redactor {
	t.Helper()
	r, err := New()
	require.NoError(t, err)
	r = r.WithRules(NoRules)
	for i, line := range strings.Split(lines, "\n") {
		name := []string{"", "key", "a b", line, "x.y"}[i%5]
		if with, err := r.With(Value{Name: name, Secret: NewSecret(line), Short: true}); err == nil {
			r = with
		}
	}
	return r
}

// A source draws texts whose pieces collide often.
type source struct{ *rand.Rand }

func (s source) text(n int) string {
	pieces := []string{"a", "b", "ab", "[", "]", "é", " ", "_", "[REDACTED]", "ED]", "[RE", "aaaabbbb", "+", "/", `\`, `"`, "%"}
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(pieces[s.IntN(len(pieces))])
	}
	return b.String()
}

func (s source) values() string {
	lines := make([]string, 1+s.IntN(5))
	for i := range lines {
		lines[i] = s.text([]int{1, 3, 8, 9, 12, 20}[s.IntN(6)])
	}
	return strings.Join(lines, "\n")
}

// mixed is a text with values, and parts of some, in it.
func (s source) mixed(values string) string {
	lines := strings.Split(values, "\n")
	var b strings.Builder
	for range 1 + s.IntN(6) {
		line := lines[s.IntN(len(lines))]
		if s.IntN(3) == 0 {
			all := spellings(line)
			line = all[s.IntN(len(all))].text
		}
		b.WriteString(line[:len(line)-s.IntN(2)*s.IntN(len(line)+1)])
		b.WriteString(s.text(s.IntN(4)))
	}
	return b.String()
}

func TestS3RandomValuesAndTexts(t *testing.T) {
	for seed := range uint64(3000) {
		s := source{rand.New(rand.NewPCG(seed, 7))}
		values := s.values()
		text := s.mixed(values)
		r := valuesOf(t, values)
		checkText(t, r, text)
		steps := make([]byte, 1+s.IntN(4))
		for i := range steps {
			steps[i] = byte(s.IntN(16))
		}
		checkStream(t, r, cut(text, steps))
		if t.Failed() {
			t.Fatalf("seed %d, values %q, text %q", seed, values, text)
		}
	}
}

func TestS1CutAtEachByte(t *testing.T) {
	r := valuesOf(t, "sk-live-é/+=\"\\0123\nabcdWXYZ\nWXYZefgh\nпароль\npin")
	for _, v := range r.values {
		text := "say pin" + v.Secret.Reveal() + "! pin."
		t.Run("over two deltas", func(t *testing.T) {
			for i := range len(text) {
				checkStream(t, r, []string{text[:i], text[i:]})
			}
		})
		t.Run("over three deltas", func(t *testing.T) {
			for j := range len(text) {
				for i := range j {
					checkStream(t, r, []string{text[:i], text[i:j], text[j:]})
				}
			}
		})
		t.Run("byte by byte", func(t *testing.T) { checkStream(t, r, cut(text, nil)) })
	}
}

func TestStreamShowsWholeCharacters(t *testing.T) {
	r := valuesOf(t, "éàüöéàüö\nabcdefgh\xc3\n\x80\x80abcdefghi")
	text := "ä€😀 éàüöéàüö abcdefghé éàüöéà"
	for i := range 16 {
		s := r.Stream()
		for _, chunk := range cut(text, []byte{byte(i), 3}) {
			out := s.Write(chunk)
			assert.True(t, utf8.ValidString(out), "%q", out)
		}
		out := s.Flush()
		assert.True(t, utf8.ValidString(out), "%q", out)
	}
}

// What is held back is the longest end of the text that begins a value, or a
// broken character, and not a byte more.
func TestStreamHoldsTheLeast(t *testing.T) {
	for seed := range uint64(300) {
		s := source{rand.New(rand.NewPCG(seed, 17))}
		values := s.values()
		r := withoutWords(valuesOf(t, values))
		if r == nil {
			continue
		}
		stream := r.Stream()
		text := s.mixed(values)
		for i := range len(text) {
			stream.Write(text[i : i+1])
			least := partialRune(text[:i+1])
			for _, p := range r.patterns {
				for n := 1; n < len(p.text); n++ {
					if strings.HasSuffix(text[:i+1], p.text[:n]) {
						least = max(least, n)
					}
				}
			}
			require.Equal(t, least, stream.f.pos-stream.f.base, "of %q, values %q", text[:i+1], values)
		}
	}
}

// withoutWords knows r's values but the short ones; nil when there are no others.
func withoutWords(r *Redactor) *Redactor {
	out := (*Redactor)(nil)
	for _, v := range r.values {
		v.Short = false
		if with, err := out.With(v); err == nil {
			out = with
		}
	}
	return out
}

func seeds(f *testing.F, add func(values, text string)) {
	f.Helper()
	for _, s := range [][2]string{
		{"abcdWXYZ\nWXYZefgh", "abcdWXYZefgh abcdWXYZ"},
		{"abababab", "ababababababab"},
		{"pin\nsecret-1", "pinsecret-1pin pin_ pinpinsecret-1"},
		{"]abcdefg\nabcdefg[\nREDACTED\n[REDACTED]", "[REDACTED]abcdefg[REDACTED] abcdefg[ ]abcdefg"},
		{"a\nb\n_", "a b ab_ _ a_b"},
		{`p"\ss/w+rd=`, `{"k":"p\"\\ss\/w+rd=","p\"\\ss/w+rd=":1}`},
		{"éàüöéàüö\nabcdefgh\xc3", "éàüöéàüöabcdefghé\xc3"},
		{"aaaaaaaa\naaaaaaaaaaaa\naaab", "aaaaaaabaaaaaaaaaaaaaaa"},
		{"12345678", `{"a":12345678,"12345678":["12345678",{"12345678":{}}],"\u003112345678":0}`},
		{"", ""},
	} {
		add(s[0], s[1])
	}
}

func FuzzText(f *testing.F) {
	seeds(f, func(values, text string) { f.Add(values, text) })
	f.Fuzz(func(t *testing.T, values, text string) {
		if len(values) < 200 && len(text) < 1000 {
			checkText(t, valuesOf(t, values), text)
		}
	})
}

func FuzzStream(f *testing.F) {
	seeds(f, func(values, text string) {
		f.Add(values, text, []byte{1})
		f.Add(values, text, []byte{3, 1, 7})
	})
	f.Fuzz(func(t *testing.T, values, text string, steps []byte) {
		if len(values) < 200 && len(text) < 1000 {
			checkStream(t, valuesOf(t, values), cut(text, steps))
		}
	})
}

func FuzzJSON(f *testing.F) {
	seeds(f, func(values, text string) {
		quoted, _ := jsontext.AppendQuote(nil, text)
		f.Add(values, text)
		f.Add(values, fmt.Sprintf(`{"a":[%s,{%[1]s : 1}],%[1]s:2e1}`, quoted))
	})
	f.Fuzz(func(t *testing.T, values, text string) {
		lax := jsontext.AllowInvalidUTF8(true)
		if len(values) > 200 || len(text) > 1000 || !jsontext.Value(text).IsValid(lax) {
			return
		}
		r := valuesOf(t, values)
		out := r.JSON([]byte(text), nil)
		assert.True(t, jsontext.Value(out).IsValid(lax), "%s", out)
		assert.Equal(t, string(out), string(r.JSON(out, nil)), "redacting twice changes nothing")
		for tokens := (tokens{text: string(out)}); tokens.next(); {
			if tokens.kind == '"' {
				assert.False(t, r.Contains(tokens.decoded()))
			}
		}
	})
}
