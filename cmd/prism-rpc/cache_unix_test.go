//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A promptCache is what a vendor keeps of the requests that it answered. hit is
// how many bytes of a request it reads from there; all is the request as the
// model reads it.
type promptCache interface {
	ask(t *testing.T, body string) (all string, hit int)
}

// An automatic cache keeps the beginnings of requests of one key, in steps of
// 128 tokens, as OpenAI's does.
type automatic struct {
	list string // the member that holds the messages
	kept map[string]string
}

func (c *automatic) ask(t *testing.T, body string) (all string, hit int) {
	var sent map[string]jsontext.Value
	require.NoError(t, json.Unmarshal([]byte(body), &sent))
	key := string(sent["prompt_cache_key"])
	all = strings.TrimSuffix(string(sent[c.list]), "]")
	if key == "" {
		return all, 0
	}
	const step = 128 * 4
	hit = shared(c.kept[key], all) / step * step
	c.kept[key] = all
	return all, hit
}

// A marked cache keeps what stands before a mark, and finds it again from a mark
// up to 20 blocks further on, as Anthropic's does.
type marked struct{ kept map[string]bool }

func (c *marked) ask(t *testing.T, body string) (all string, hit int) {
	var sent struct {
		System   []jsontext.Value `json:"system"`
		Messages []struct {
			Role    string         `json:"role"`
			Content jsontext.Value `json:"content"`
		} `json:"messages"`
	}
	require.NoError(t, json.Unmarshal([]byte(body), &sent))
	var ends, marks []int // of the blocks, and which of them are marked
	add := func(role string, block jsontext.Value) {
		var b map[string]jsontext.Value
		require.NoError(t, json.Unmarshal(block, &b))
		if _, is := b["cache_control"]; is {
			marks = append(marks, len(ends))
			delete(b, "cache_control")
		}
		plain, err := json.Marshal(b, json.Deterministic(true))
		require.NoError(t, err)
		all += role + string(plain)
		ends = append(ends, len(all))
	}
	for _, b := range sent.System {
		add("system", b)
	}
	for _, m := range sent.Messages {
		var blocks []jsontext.Value
		if m.Content.Kind() == jsontext.KindString { // short for one text
			blocks = []jsontext.Value{jsontext.Value(`{"type":"text","text":` + string(m.Content) + `}`)}
		} else {
			require.NoError(t, json.Unmarshal(m.Content, &blocks))
		}
		for _, b := range blocks {
			add(m.Role, b)
		}
	}
	require.LessOrEqual(t, len(marks), 4, "the vendor takes no more")
	for _, at := range marks {
		for i := at; i >= max(0, at-20); i-- {
			if c.kept[all[:ends[i]]] {
				hit = max(hit, ends[i])
			}
		}
	}
	for _, at := range marks {
		c.kept[all[:ends[at]]] = true
	}
	return all, hit
}

func shared(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// Over 20 turns, with injected system text, a context block and a reminder, at
// least 95 % of what a request repeats of the one before it come from the
// vendor's cache.
func TestThePromptCacheIsHit(t *testing.T) {
	config := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(config, []byte(`
system: "`+strings.Repeat("You know this project by heart. ", 400)+`"
injectors:
  - {name: json, when: every_turn, instructions: Answer in JSON.}
  - {name: repo, when: every_turn, contextBlocks: [{title: Repo, content: A monorepo.}]}
instructionInjectors: [json, repo]
reminders: {enabled: true, prompts: [{id: wiki, title: Wiki, text: Search the wiki., enabled: true}]}
providers: {openai: {promptCacheKey: true}}
`), 0o600))
	for _, a := range apis {
		t.Run(a.provider, func(t *testing.T) {
			var cache promptCache = &marked{map[string]bool{}}
			switch a.provider {
			case "openai":
				cache = &automatic{"messages", map[string]string{}}
			case "openai-responses":
				cache = &automatic{"input", map[string]string{}}
			}
			last, hit, repeated := "", 0, 0
			server := serveAPI(t, func(_ int, body string) []string {
				var all string
				all, hit = cache.ask(t, body)
				repeated = shared(last, all)
				last = all
				return a.events(strings.Repeat("An answer of some length. ", 20), hit/4)
			})
			c := &child{Cmd: command(t, "--provider", a.provider, "--model", "m", "--config", config)}
			c.Env = a.env(c.Env, a.baseEnv+"="+server.URL+a.base)
			launch(t, c)
			for turn := 1; turn <= 20; turn++ {
				c.send(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":"p","method":"prompt","params":{"input":"Question %d: %s"}}`, turn, strings.Repeat("and so on ", 30)))
				reply := c.until(t, `"id":"p"`)
				require.Contains(t, reply, fmt.Sprintf(`"turn":%d,"committed":true`, turn))
				if turn == 1 {
					continue
				}
				assert.GreaterOrEqual(t, float64(hit), 0.95*float64(repeated), "turn %d: %d of %d", turn, hit, repeated)
				assert.Greater(t, repeated, 12000, "the system text at least")
				assert.Contains(t, reply, fmt.Sprintf(`"cacheReadTokens":%d`, hit/4))
			}
		})
	}
}
