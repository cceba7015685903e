package redact

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

var endsBefore = map[edge]*regexp.Regexp{
	wordStart: regexp.MustCompile(`(?:^|[^0-9A-Za-z_]|\\[nrtbf]|%[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|(?:\x1b|[\\%\x1b](?s:.{0,5})(?:1b|1B|33)|\\e)\[[0-9:;]*[A-Za-z_])$`),
	schemeEnd: regexp.MustCompile(`[0-9A-Za-z]$`),
	digitEnd:  regexp.MustCompile(`[0-9]$`),
}

// edgesOf is what is behind a text, by the regular expressions.
func edgesOf(text string) (e edge) {
	for kind, re := range endsBefore {
		if re.MatchString(text) {
			e |= kind
		}
	}
	return e
}

// edged is a text of what makes edges, and of pieces of keywords.
func (s source) edged() string {
	pieces := []string{
		`\n`, `\u003d`, `\u00`, "%3D", "%", "3", "\x1b[1;31m", "\x1b[38;5;196m", "\x1b[", ";", "m", "\x1b[38;2;255;255;255m\x1b[K", `\u001b[38;5;9m`, `\033[`, `\e[1;2`, "1B[", `%x_____1b[1m`, `%x____1b[1m`, `\\x_______1b[m`, `\`, "_", "-", " ", "é", "\xff",
		"sk-", "ghp_", "github_pat_", "://", ":", "Bearer ", "authorization: ", "AKIA", "eyJ", "BEGIN PRIVATE KEY-----", "xoxb-",
	}
	var b strings.Builder
	for range s.IntN(30) {
		piece := pieces[s.IntN(len(pieces))]
		b.WriteString(piece[:1+s.IntN(len(piece))])
	}
	return b.String()
}

func TestTrailTellsWhatIsBehindIt(t *testing.T) {
	for seed := range uint64(300) {
		text := source{rand.New(rand.NewPCG(seed, 17))}.edged()
		var tr trail
		for i := range len(text) {
			assert.Equal(t, edgesOf(text[:i]), tr.edge(), "%q", text[:i])
			tr = tr.follow(text[i])
		}
		start := trailStart(text)
		assert.Equal(t, tr.edge(), trail{}.over(text[start:]).edge(), "%q", text[start:])
	}
}

// TestKeywordsAreReadAtTheirEdges compares the automaton to a search for each
// keyword at each place.
func TestKeywordsAreReadAtTheirEdges(t *testing.T) {
	rules := strictRules()
	for seed := range uint64(200) {
		text := source{rand.New(rand.NewPCG(seed, 19))}.edged()
		key, before, edges := uint16(0), trail{}, []edge{edgesOf("")}
		for i := range len(text) {
			key = rules.after(key&^ends, before.edge(), text[i])
			before = before.follow(text[i])
			hits, held := keywordsAt(rules, text[:i+1], edges)
			edges = append(edges, edgesOf(text[:i+1]))
			state := rules.states[key&^ends]
			assert.ElementsMatch(t, hits, state.hits, "%q", text[:i+1])
			assert.Equal(t, held, int(state.held), "%q", text[:i+1])
			assert.Equal(t, len(hits) > 0, key&ends != 0)
		}
	}
}

// keywordsAt are the keywords that end a text, of which edges are at each place,
// and the length of the longest beginning of a secret one that does.
func keywordsAt(rules *ruleset, text string, edges []edge) (hits []int32, held int) {
	for i, k := range rules.keywords {
		for n := 1; n <= min(len(k.text), len(text)); n++ {
			end := text[len(text)-n:]
			if end != k.text[:n] && (!k.fold || strings.ToLower(end) != k.text[:n]) || !k.after.holds(edges[len(text)-n]) {
				continue
			}
			if n == len(k.text) {
				hits = append(hits, int32(i))
			} else if k.secret {
				held = max(held, n)
			}
		}
	}
	return hits, held
}

// TestStreamReadsAKeywordInAWord is of keywords that are no secret where they
// stand, so that they are shown before they are read to their ends.
func TestStreamReadsAKeywordInAWord(t *testing.T) {
	r := ruledBy(t, StrictRules)
	for _, k := range strictRules().keywords {
		text := "word" + k.text + "x and"
		for i := range len(text) {
			s := r.Stream()
			assert.Equal(t, r.Text(text, nil), s.Write(text[:i])+s.Write(text[i:])+s.Flush())
		}
		checkRuled(t, r, cut(text, nil))
	}
}
