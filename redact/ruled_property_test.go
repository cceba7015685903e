package redact

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// read does what find does by reading all of the text.
func read(r *Redactor, text string) string {
	f := r.finder(false)
	f.auto, f.text = r.auto(), text
	for i := range len(text) {
		f.read(text[i])
	}
	f.end()
	return bruteMark(r, text, f.marks)
}

// checkRuled holds for every Redactor, with rules too, every text and every
// way to cut it.
func checkRuled(t *testing.T, r *Redactor, chunks []string) {
	t.Helper()
	text := strings.Join(chunks, "")
	got := r.Text(text, nil)
	assert.Equal(t, read(r, text), got, "leaving out clean text leaves out no secret")
	assert.Equal(t, got, r.Text(got, nil), "redacting twice changes nothing")
	assertClean(t, r, got)

	whole, s, shown := r.Stream(), r.Stream(), ""
	want := whole.Write(text) + whole.Flush()
	for _, chunk := range chunks {
		shown += s.Write(chunk)
		assertClean(t, r, shown)
		assert.True(t, strings.HasPrefix(want, shown), "%q shows what it must not, of %q", shown, want)
	}
	assert.Equal(t, want, shown+s.Flush())
	assert.Equal(t, whole.Tally().Counts(), s.Tally().Counts())
	if len(r.values) == 0 {
		assert.Equal(t, got, want, "no value can be cut off")
	}
}

// ruled is a text of pieces of what rules look for, and of values.
func (s source) ruled(values string) string {
	pieces := []string{
		"sk-", "ghp_", "eyJ", ".", ".eyJ", "://", "h://", "u:", "pw@", "@", ":", "Bearer ", "authorization", ": \"", "BASIC ", "AKIA", "SG.",
		"BEGIN PRIVATE KEY-----", "-----END", "password", "=\"", "_", "-", " ", "x", "\n", `\n`, "%3D", "\x1b[1m", "[", "]", "[REDACTED:jwt]", "sig=", "1:AA",
		"aB3xY7kQ9m", "0123456789abcdef", "ABCDEFGH12345678", "=", "/", "pin", "é", "DEK-Info: A,", "token", ";", "key-",
	}
	lines := strings.Split(values, "\n")
	var b strings.Builder
	for range 1 + s.IntN(14) {
		switch s.IntN(8) {
		case 0:
			line := lines[s.IntN(len(lines))]
			all := spellings(line)
			line = all[s.IntN(len(all))].text
			b.WriteString(line[:len(line)-s.IntN(2)*s.IntN(len(line)+1)])
		case 1, 2:
			b.WriteString(fill("aB3xY7kQ9mZ2", s.IntN(45)))
		default:
			b.WriteString(pieces[s.IntN(len(pieces))])
		}
	}
	return b.String()
}

func ruledValues(t *testing.T, seed uint64) (*Redactor, string) {
	t.Helper()
	values := []string{
		"zzzzzzzzzzzz", "SECRETab\nSECRETabcdef\nabcdefgh", "pin\nsecret-1ghp\nkQ9maB3x\nxY7k", "x=\"sk-abcdef\nkey-0123\nn",
		"eyJaB3xY7kQ9\n0123456789abcdef0123456789abcdef\nprefix-ghp_aB3xY7kQ9mZ2aB3xY7kQ9mZ2aB3xY7kQ9mZ2", "p@ss/w:rd\ntoken\nBearer aB3xY7",
	}[seed%6]
	return valuesOf(t, values).WithRules([]Rules{DefaultRules, StrictRules}[seed/6%2]), values
}

func TestS1RulesInStreams(t *testing.T) {
	for seed := range uint64(6000) {
		s := source{rand.New(rand.NewPCG(seed, 11))}
		r, values := ruledValues(t, seed)
		if seed%7 == 0 {
			r = ruledBy(t, StrictRules)
		}
		text := s.ruled(values)
		checkRuled(t, r, cut(text, []byte{byte(1 + s.IntN(15)), byte(1 + s.IntN(3))}))
		if t.Failed() {
			t.Fatalf("seed %d, values %q, text %q", seed, values, text)
		}
	}
}

func TestS1LargeChunks(t *testing.T) {
	for seed := range uint64(400) {
		s := source{rand.New(rand.NewPCG(seed, 13))}
		r, values := ruledValues(t, seed)
		var chunks []string
		for range 3 {
			var chunk strings.Builder
			for range s.IntN(12) {
				chunk.WriteString(s.ruled(values) + strings.Repeat(" clean", s.IntN(20)))
			}
			chunks = append(chunks, chunk.String())
		}
		checkRuled(t, r, chunks)
		if t.Failed() {
			t.Fatalf("seed %d, values %q, chunks %q", seed, values, chunks)
		}
	}
}

func TestS1EveryKeyCutAtEachByte(t *testing.T) {
	for name, all := range examples {
		t.Run(name, func(t *testing.T) {
			r := ruledBy(t, StrictRules)
			for _, e := range all {
				text := e.before + e.secret + e.after + strings.Repeat(" clean", 40) // enough to be skimmed
				want := r.Text(text, nil)
				for i := range len(text) {
					s := r.Stream()
					assert.Equal(t, want, s.Write(text[:i])+s.Write(text[i:])+s.Flush())
				}
				checkRuled(t, r, cut(text, nil))
			}
		})
	}
}

func FuzzRules(f *testing.F) {
	n := uint64(0)
	for _, all := range examples {
		for _, e := range all {
			f.Add(n, "say "+e.before+e.secret+e.after, []byte{byte(n), 3})
			n++
		}
	}
	for _, text := range []string{
		"SECRETabghp_" + mixed[:40], "pinghp_" + mixed[:36] + "pin", "sk-sk-sk-" + mixed[:48], "eyJeyJeyJ" + mixed[:20] + ".eyJeyJ" + mixed[:20] + ".eyJ" + mixed[:20],
		"a://b:c@d:e@f/a://b:c", "password=SECRETabcdefgh", "Bearer [REDACTED:x]" + mixed[:20], "BEGIN PRIVATE KEY-----BEGIN PRIVATE KEY-----" + mixed[:40], "\\nghp_" + mixed[:40] + "n",
	} {
		f.Add(n, text, []byte{1})
		n++
	}
	f.Fuzz(func(t *testing.T, seed uint64, text string, steps []byte) {
		if len(text) < 1000 {
			r, _ := ruledValues(t, seed)
			checkRuled(t, r, cut(text, steps))
		}
	})
}
