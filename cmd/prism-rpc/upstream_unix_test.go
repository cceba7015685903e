//go:build unix

package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An api is one that the program speaks, as a server of a test's own answers.
type api struct {
	provider, keyEnv, baseEnv, base string
	path, key                       string // of a request, and how it carries its key
	events                          func(text string, cached int) []string
	failure                         string // an event that ends the answer
}

var apis = []api{
	{
		"openai", "OPENAI_API_KEY", "OPENAI_BASE_URL", "/v1", "/v1/chat/completions", "Authorization: Bearer %s",
		func(text string, cached int) []string {
			return []string{
				`{"choices":[{"delta":{"reasoning":"hm"}}]}`, `{"choices":[{"delta":{"content":"` + text + `"}}]}`, `{"choices":[{"delta":{},"finish_reason":"stop"}]}`,
				fmt.Sprintf(`{"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":5,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d}}}`, cached+9, cached+14, cached), "[DONE]",
			}
		},
		`{"error":{"type":"overloaded_error","message":"busy"}}`,
	},
	{
		"openai-responses", "OPENAI_API_KEY", "OPENAI_BASE_URL", "/v1", "/v1/responses", "Authorization: Bearer %s",
		func(text string, cached int) []string {
			return []string{
				`{"type":"response.reasoning_summary_text.delta","delta":"hm"}`, `{"type":"response.output_text.delta","delta":"` + text + `"}`,
				fmt.Sprintf(`{"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":%d,"output_tokens":5,"total_tokens":%d,"input_tokens_details":{"cached_tokens":%d}}}}`, cached+9, cached+14, cached),
			}
		},
		`{"type":"response.failed","response":{"error":{"code":"overloaded_error","message":"busy"}}}`,
	},
	{
		"anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "", "/v1/messages", "X-Api-Key: %s",
		func(text string, cached int) []string {
			return []string{
				fmt.Sprintf(`{"type":"message_start","message":{"usage":{"input_tokens":9,"cache_read_input_tokens":%d,"output_tokens":1}}}`, cached),
				`{"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"hm"}}`, `{"type":"content_block_delta","delta":{"type":"text_delta","text":"` + text + `"}}`,
				`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}`, `{"type":"message_stop"}`,
			}
		},
		`{"type":"error","error":{"type":"overloaded_error","message":"busy"}}`,
	},
}

// An upstream answers an api's requests, one at a time.
type upstream struct {
	*httptest.Server
	mu     sync.Mutex
	got    []*http.Request
	bodies []string
}

// serveAPI answers with what reply gives for the nth body, from 0.
func serveAPI(t *testing.T, reply func(n int, body string) []string) *upstream {
	u := &upstream{}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		u.mu.Lock()
		defer u.mu.Unlock()
		n := len(u.got)
		u.got, u.bodies = append(u.got, r), append(u.bodies, string(body))
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range reply(n, string(body)) {
			fmt.Fprintf(w, "data: %s\n\n", e)
			w.(http.Flusher).Flush()
		}
	}))
	t.Cleanup(u.Close)
	return u
}

// env is a command's environment with only these of the providers' variables.
func (a *api) env(of []string, more ...string) []string {
	left := slices.DeleteFunc(slices.Clone(of), func(v string) bool {
		return strings.HasPrefix(v, "OPENAI_") || strings.HasPrefix(v, "ANTHROPIC_") || strings.Contains(strings.ToLower(v), "_proxy=")
	})
	return append(left, more...)
}

const providersKey = "sk-canary-5f1c0e2d7a"

func TestEachProviderAnswersATurn(t *testing.T) {
	for _, a := range apis {
		t.Run(a.provider, func(t *testing.T) {
			server := serveAPI(t, func(int, string) []string { return a.events("The answer is yes.", 3) })
			c := &child{Cmd: command(t, "--provider", a.provider, "--model", "m-1", "--system", "Be brief.")}
			c.Env = a.env(c.Env, a.keyEnv+"="+providersKey, a.baseEnv+"="+server.URL+a.base)
			launch(t, c)
			c.send(t, prompt)
			assert.Contains(t, c.until(t, `"type":"thinking_delta"`), `"text":"hm"`)
			assert.Contains(t, c.until(t, `"type":"message_delta"`), `"text":"The answer is yes."`)
			reply := c.until(t, `"id":"p"`)
			assert.Contains(t, reply, `"stopReason":"end_turn"`)
			assert.Contains(t, reply, `"usage":{"inputTokens":12,"outputTokens":5,"cacheReadTokens":3,"totalTokens":17}`)
			require.Len(t, server.got, 1)
			assert.Equal(t, a.path, server.got[0].URL.Path)
			name, value, _ := strings.Cut(fmt.Sprintf(a.key, providersKey), ": ")
			assert.Equal(t, value, server.got[0].Header.Get(name))
			assert.Contains(t, server.bodies[0], `"model":"m-1"`)
			assert.Contains(t, server.bodies[0], "Be brief.")
		})
	}
}

// The first server stands for any other than the vendor's: it gets no key that
// the environment does not hold, and the reply to a missing one names it.
func TestAMissingKeyNamesItsVariable(t *testing.T) {
	for _, a := range apis {
		t.Run(a.provider, func(t *testing.T) {
			c := &child{Cmd: command(t, "--provider", a.provider, "--model", "m")}
			c.Env = a.env(c.Env)
			launch(t, c)
			c.send(t, prompt)
			reply := c.until(t, `"id":"p"`)
			assert.Contains(t, reply, `"code":-32007`)
			assert.Contains(t, reply, "the "+a.provider+" provider has no key; set the environment variable "+a.keyEnv)
		})
	}
}

// U7: a turn that fails has its class, and leaves the session for the next one;
// what the server repeats of the key is shown nowhere.
func TestU7ASessionIsUsableAfterAFailure(t *testing.T) {
	for _, a := range apis {
		t.Run(a.provider, func(t *testing.T) {
			server := serveAPI(t, func(n int, _ string) []string {
				whole := a.events("words", 0)
				said := slices.IndexFunc(whole, func(e string) bool { return strings.Contains(e, "words") }) + 1
				switch n {
				case 0: // cut before the terminal event
					return whole[:said]
				case 1:
					return append(whole[:said:said], a.failure)
				case 2:
					return append(whole[:said:said], strings.ReplaceAll(a.failure, "busy", "busy with "+providersKey))
				}
				return whole
			})
			c := &child{Cmd: command(t, "--provider", a.provider, "--model", "m", "--base-url", server.URL+a.base)}
			c.Env = a.env(c.Env, a.keyEnv+"="+providersKey)
			launch(t, c)
			for _, class := range []string{"interrupted", "overloaded", "overloaded"} {
				c.send(t, prompt)
				reply := c.until(t, `"id":"p"`)
				assert.Contains(t, reply, `"class":"`+class+`"`)
				assert.Contains(t, reply, `"partial":true`)
				assert.NotContains(t, reply, providersKey)
			}
			c.send(t, prompt)
			assert.Contains(t, c.until(t, `"id":"p"`), `"turn":1,"committed":true,"stopReason":"end_turn"`)
		})
	}
}

// A host that only the proxy knows is asked for through the environment's
// proxy, without a key over plain http.
func TestTheEnvironmentsProxyIsHonoured(t *testing.T) {
	for _, a := range apis {
		t.Run(a.provider, func(t *testing.T) {
			proxy := serveAPI(t, func(int, string) []string { return a.events("through it", 0) })
			ask := func(more ...string) string {
				cmd := command(t, "--provider", a.provider, "--model", "m", "--base-url", "http://made-up.invalid"+a.base, "-p", "hi")
				cmd.Env = a.env(cmd.Env, append(more, "HTTP_PROXY="+proxy.URL)...)
				out, _ := cmd.CombinedOutput()
				return string(out)
			}
			assert.Equal(t, "through it\n", ask())
			require.Len(t, proxy.got, 1)
			assert.Equal(t, "http://made-up.invalid"+a.path, proxy.got[0].RequestURI)
			assert.Contains(t, ask(a.keyEnv+"="+providersKey), "a key travels only over https or to this machine")
			assert.Len(t, proxy.got, 1)
		})
	}
}

// The name before a model's first slash is a provider's, where one of that name
// is set up.
func TestATurnMayAskAnotherProvider(t *testing.T) {
	dir := t.TempDir()
	config := "provider: mock\nproviders:\n"
	var servers []*upstream
	for _, a := range apis {
		server := serveAPI(t, func(int, string) []string { return a.events("from "+a.provider, 0) })
		servers = append(servers, server)
		config += "  " + a.provider + ": {baseUrl: \"" + server.URL + a.base + "\"}\n"
	}
	path := filepath.Join(dir, "config.yaml")
	require.NoError(t, os.WriteFile(path, []byte(config), 0o600))
	c := &child{Cmd: command(t, "--config", path)}
	c.Env = apis[0].env(c.Env)
	launch(t, c)
	for i, a := range apis {
		c.send(t, `{"jsonrpc":"2.0","id":"p","method":"prompt","params":{"input":"hi","model":"`+a.provider+`/a/b"}}`)
		assert.Contains(t, c.until(t, `"id":"p"`), "from "+a.provider)
		assert.Contains(t, servers[i].bodies[0], `"model":"a/b"`)
	}
	c.send(t, `{"jsonrpc":"2.0","id":"i","method":"initialize"}`)
	assert.Contains(t, c.until(t, `"id":"i"`), `"providers":["mock","anthropic","openai","openai-responses"]`)
}

func TestAKeyOfAFileAndOfACommand(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	write("key", providersKey+"\n")
	for _, a := range apis {
		for claim, setting := range map[string]string{"a file's": "apiKeyFile: key", "a command's": "apiKeyCommand: [cat, " + filepath.Join(dir, "key") + "]"} {
			t.Run(a.provider+", "+claim, func(t *testing.T) {
				server := serveAPI(t, func(_ int, body string) []string {
					return append(a.events("a", 0)[:2], strings.ReplaceAll(a.failure, "busy", providersKey))
				})
				config := write("config.yaml", "provider: "+a.provider+"\nproviders: {"+a.provider+": {"+setting+"}}\n")
				cmd := command(t, "--provider", a.provider, "--model", "m", "--config", config, "-p", "my key is "+providersKey)
				cmd.Env = a.env(cmd.Env, a.baseEnv+"="+server.URL+a.base) // loopback, which is allowed
				out, _ := cmd.CombinedOutput()
				assert.Contains(t, string(out), "overloaded")
				assert.NotContains(t, string(out), providersKey)
				require.NotEmpty(t, server.got)
				name, value, _ := strings.Cut(fmt.Sprintf(a.key, providersKey), ": ")
				assert.Equal(t, value, server.got[0].Header.Get(name))
				assert.NotContains(t, server.bodies[0], providersKey, "it is a secret like any other")

				cmd = command(t, "--provider", a.provider, "--model", "m", "--config", config, "-p", "hi")
				cmd.Env = a.env(cmd.Env, a.baseEnv+"=https://made-up.invalid"+a.base)
				out, _ = cmd.CombinedOutput()
				assert.Contains(t, string(out), a.baseEnv)
				assert.Equal(t, 2, cmd.ProcessState.ExitCode(), string(out))
			})
		}
	}
}

func TestEachProviderListsItsModels(t *testing.T) {
	for _, a := range apis {
		t.Run(a.provider, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				name, value, _ := strings.Cut(fmt.Sprintf(a.key, providersKey), ": ")
				if r.Method != http.MethodGet || r.URL.Path != "/v1/models" || r.Header.Get(name) != value {
					w.WriteHeader(http.StatusNotFound)
				}
				_, _ = io.WriteString(w, `{"data":[{"id":"m-2","display_name":"M two","max_input_tokens":200000},{"id":"m-1"}]}`)
			}))
			t.Cleanup(server.Close)
			c := &child{Cmd: command(t, "--provider", a.provider, "--base-url", server.URL+a.base)}
			c.Env = a.env(c.Env, a.keyEnv+"="+providersKey)
			launch(t, c)
			c.send(t, `{"jsonrpc":"2.0","id":1,"method":"listModels","params":{"provider":"`+a.provider+`"}}`)
			assert.Contains(t, c.until(t, `"id":1`), `"result":{"models":[{"model":"m-2","name":"M two","contextTokens":200000},{"model":"m-1"}]}`)
			server.Close()
			c.send(t, `{"jsonrpc":"2.0","id":2,"method":"listModels"}`)
			assert.Contains(t, c.until(t, `"id":2`), `"class":"network"`)
		})
	}
}

// doctor tells what works, what does not, and what to do; never the key.
func TestTheDoctorSaysWhatToDo(t *testing.T) {
	for _, a := range apis {
		t.Run(a.provider, func(t *testing.T) {
			var status atomic.Int32
			status.Store(http.StatusOK)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				assert.NoError(t, err)
				switch {
				case status.Load() != http.StatusOK:
					w.WriteHeader(int(status.Load()))
					_, _ = io.WriteString(w, `{"error":{"message":"no, `+providersKey+`"}}`)
				case r.Method == http.MethodGet:
					_, _ = io.WriteString(w, `{"data":[{"id":"m-2"}]}`)
				default:
					assert.Regexp(t, `tokens":16\b`, string(body))
					w.Header().Set("Content-Type", "text/event-stream")
					for _, e := range a.events("OK", 0) {
						fmt.Fprintf(w, "data: %s\n\n", e)
					}
				}
			}))
			t.Cleanup(server.Close)
			ask := func(more ...string) (string, int) {
				cmd := command(t)
				cmd.Args = append([]string{cmd.Args[0], "doctor", "--provider", a.provider, "--store=memory", "--base-url", server.URL + a.base, "--model"}, more...)
				cmd.Env = a.env(cmd.Env, a.keyEnv+"="+providersKey)
				out, _ := cmd.CombinedOutput()
				assert.NotContains(t, string(out), providersKey)
				return string(out), cmd.ProcessState.ExitCode()
			}
			out, code := ask("m-2")
			assert.Equal(t, "ok    configuration\nok    itself\nok    "+a.provider+" lists 1 models\nok    "+a.provider+" answers\n", out)
			assert.Zero(t, code)
			out, _ = ask("m-1")
			assert.Contains(t, out, "m-1 is none of them")

			status.Store(http.StatusUnauthorized)
			out, code = ask("m-2")
			assert.Contains(t, out, "FAIL  "+a.provider+" answers: auth: no, [REDACTED:"+a.keyEnv+"]\n      the key of "+a.keyEnv+" is not what ")
			assert.Equal(t, 1, code)
			server.Close()
			out, code = ask("m-2")
			assert.Contains(t, out, "is a server running at "+server.URL)
			assert.Equal(t, 1, code)
		})
	}
	cmd := command(t)
	cmd.Args = []string{cmd.Args[0], "doctor", "--provider", "anthropic", "--store=memory"}
	cmd.Env = apis[0].env(cmd.Env)
	out, _ := cmd.CombinedOutput()
	assert.Contains(t, string(out), "FAIL  provider: the anthropic provider has no key; set the environment variable ANTHROPIC_API_KEY")
	assert.Equal(t, 1, cmd.ProcessState.ExitCode())
}

// A provider that nobody chose may be set up wrong: it says so when it is
// asked, and the doctor says so too.
func TestWhatIsWrongWithAnotherProviderEndsNothing(t *testing.T) {
	config := filepath.Join(t.TempDir(), "config.yaml")
	for setting, why := range map[string]string{
		"apiKeyFile: /nonexistent/key":        "apiKeyFile: can't be read: no such file or directory (it must name a file that holds the key alone)",
		"apiKeyCommand: [\"false\"]":          "apiKeyCommand: failed: exit status 1 (run the command by hand",
		"caFile: /nonexistent/ca":             "caFile: can't be read: no such file or directory",
		"baseUrl: \"http://made-up.invalid\"": "baseUrl: a key travels only over https or to this machine",
	} {
		t.Run(setting, func(t *testing.T) {
			require.NoError(t, os.WriteFile(config, []byte("providers: {anthropic: {"+setting+"}}\n"), 0o600))
			needsKey := func(cmd *exec.Cmd) *exec.Cmd {
				cmd.Env = append(cmd.Env, "ANTHROPIC_BASE_URL=")
				if !strings.HasPrefix(setting, "apiKey") {
					cmd.Env = append(cmd.Env, "ANTHROPIC_API_KEY="+providersKey)
				}
				return cmd
			}
			c := &child{Cmd: needsKey(command(t, "--provider=mock", "--config", config))}
			launch(t, c)
			c.send(t, `{"jsonrpc":"2.0","id":1,"method":"prompt","params":{"input":"hi"}}`)
			assert.Contains(t, c.until(t, `"id":1`), `"stopReason":"end_turn"`)
			c.send(t, `{"jsonrpc":"2.0","id":2,"method":"listModels","params":{"provider":"anthropic"}}`)
			reply := c.until(t, `"id":2`)
			assert.Contains(t, reply, `"class":"bad_request"`)
			assert.Contains(t, reply, "the anthropic provider can't be asked: ")
			assert.Contains(t, reply, why)

			for chosen, code := range map[string]int{"mock": 0, "anthropic": 2} {
				cmd := command(t)
				cmd.Args = []string{cmd.Args[0], "doctor", "--provider", chosen, "--store=memory", "--model=m", "--config", config}
				out, _ := needsKey(cmd).CombinedOutput() // the code is looked at below
				assert.Contains(t, string(out), why)
				assert.Equal(t, code, cmd.ProcessState.ExitCode(), string(out))
			}
		})
	}
}
