//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
)

// canaries are secrets by the way on which the program comes to know them.
var canaries = map[string]string{
	"key":        "canary+of/the=key\\\"1",
	"env":        "canary of the environment é",
	"initialize": "canary-of-initialize-0123456789",
	"session":    "canary%of%the%session",
	"turn":       "canary:of:the:turn:abcdefgh",
	"rule":       "ghp_0123456789abcdefABCDEF0123456789abcd", // nobody tells it; it looks like one
}

// Who is told of a secret hides it from then on: the process, the session, or
// the turn and its session.
var (
	ofTheProcess = []string{"key", "env", "initialize", "rule"}
	ofTheSession = append(slices.Clone(ofTheProcess), "session")
	ofTheTurn    = append(slices.Clone(ofTheSession), "turn")
)

// text holds the canaries of those names.
func text(names []string) string {
	var b strings.Builder
	for _, name := range names {
		b.WriteString(" «" + canaries[name] + "» ")
	}
	return b.String()
}

// spellings are the forms of a secret that must not be found.
func spellings(secret string) map[string]string {
	quoted, err := json.Marshal(secret)
	if err != nil {
		panic(err)
	}
	return map[string]string{
		"as it is": secret, "in JSON": string(quoted[1 : len(quoted)-1]), "percent-encoded": url.QueryEscape(secret),
		"in hex": hex.EncodeToString([]byte(secret)), "in base64": strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(secret)), "="),
	}
}

// A leaky provider says all canaries back: in its answers, cut in the middle
// of each character, in errors and in headers.
type leaky struct {
	mu   sync.Mutex
	seen bytes.Buffer // all that it was sent, but for the header that has the key
}

func (l *leaky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Header.Del("Authorization")
	l.mu.Lock()
	fmt.Fprintln(&l.seen, r.URL, r.Header, string(body))
	l.mu.Unlock()
	for name, value := range canaries {
		w.Header().Set("X-"+name, url.QueryEscape(value))
	}
	switch {
	case bytes.Contains(body, []byte("fail")):
		w.WriteHeader(http.StatusBadRequest)
		said, _ := json.Marshal(map[string]any{"error": map[string]string{"message": "no: " + text(ofTheTurn), "code": canaries["turn"]}})
		_, _ = w.Write(said)
		return
	case bytes.Contains(body, []byte("page")):
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusBadGateway)
		_, _ = io.WriteString(w, "<html>"+text(ofTheTurn))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, c := range text(ofTheTurn) {
		delta, _ := json.Marshal(map[string]any{"choices": []any{map[string]any{"delta": map[string]string{"content": string(c)}}}})
		_, _ = fmt.Fprintf(w, "data: %s\n\n", delta)
	}
	_, _ = io.WriteString(w, `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
}

// A canary run is a process that is told everything, and all that it wrote.
type canaryRun struct {
	*child
	t       *testing.T
	home    string
	written bytes.Buffer
	next    int
}

func newCanaryRun(t *testing.T, server string) *canaryRun {
	t.Helper()
	home := t.TempDir()
	path := filepath.Join(home, "config.yaml")
	said := text([]string{"key", "env", "rule"})
	config, err := json.Marshal(map[string]any{
		"provider": "openai", "baseUrl": server + "/v1", "model": "m", "system": "Base " + said,
		"injectors": []any{
			map[string]any{"name": "rule", "when": "every_turn", "description": said, "instructions": "Rule " + said},
			map[string]any{"name": "note", "when": "every_turn", "placement": "notice", "title": "Title " + said, "instructions": "Note " + said},
		},
		"instructionInjectors": []string{"rule", "note"}, "contextInjections": true,
		"contextBlocks": []any{map[string]any{"name": "House", "content": said}},
		"reminders":     map[string]any{"enabled": true, "prompts": []any{map[string]any{"id": "r", "title": "T " + said, "text": said, "enabled": true}}},
		"redact":        map[string]any{"env": []string{"CANARY"}},
	})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, config, 0o600))
	cmd := exec.CommandContext(t.Context(), "prism-rpc", "--config", path, "--log-level=debug", "--log-file", filepath.Join(home, "log"), "--trace-file", filepath.Join(home, "trace"))
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "OPENAI_API_KEY=" + canaries["key"], "CANARY=" + canaries["env"], "GORACE=atexit_sleep_ms=0"}
	run := &canaryRun{child: &child{Cmd: cmd}, t: t, home: home}
	launch(t, run.child)
	run.out = bufio.NewReader(io.TeeReader(run.out, &run.written))
	return run
}

// call sends a request and waits for its reply.
func (r *canaryRun) call(method string, params map[string]any) {
	r.t.Helper()
	r.next++
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": fmt.Sprint("call-", r.next), "method": method, "params": params})
	require.NoError(r.t, err)
	r.send(r.t, string(line))
	for {
		got, err := r.out.ReadString('\n')
		require.NoError(r.t, err, method)
		if strings.Contains(got, `"method":"applyInjector"`) {
			r.answer(got)
		}
		if strings.HasPrefix(got, `{"jsonrpc":"2.0","id":"`+fmt.Sprint("call-", r.next)+`"`) {
			return
		}
	}
}

// answer gives all canaries for an injector's contribution.
func (r *canaryRun) answer(line string) {
	var asked struct {
		ID string `json:"id"`
	}
	require.NoError(r.t, json.Unmarshal([]byte(line), &asked))
	reply, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": asked.ID, "result": map[string]any{
		"instructions": text(ofTheTurn), "contextBlocks": []any{map[string]any{"title": text(ofTheTurn), "content": text(ofTheTurn)}}, text(ofTheTurn): 1}})
	require.NoError(r.t, err)
	r.send(r.t, string(reply))
}

// everything is all that the process left behind, by its place.
func (r *canaryRun) everything() map[string]string {
	out := map[string]string{"stdout": r.written.String(), "stderr": r.stderr.String()}
	require.NoError(r.t, filepath.WalkDir(r.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Base(path) == "config.yaml" {
			return err
		}
		kept, err := os.ReadFile(path)
		out[strings.TrimPrefix(path, r.home)] = string(kept)
		return err
	}))
	return out
}

// S2: whatever way a secret comes in, it is in nothing that comes out.
func TestS2_canaries_are_nowhere(t *testing.T) {
	provider := &leaky{}
	server := httptest.NewServer(provider)
	t.Cleanup(server.Close)
	r := newCanaryRun(t, server.URL)
	mine, his, all := text(ofTheProcess), text(ofTheSession), text(ofTheTurn)
	blocks := []any{map[string]any{"title": all, "content": all, "metadata": map[string]any{all: all}}}
	told := func(name string) []any { return []any{map[string]any{"name": name, "value": canaries[name]}} }

	r.call("initialize", map[string]any{"clientInfo": map[string]any{"name": mine}, "initializationOptions": map[string]any{"redact": told("initialize")}})
	r.call("newSession", map[string]any{"sessionId": "s", "redact": told("session"), "instructions": his, "metadata": map[string]any{"a": his}, "cwd": his})
	r.call("registerInjector", map[string]any{"name": "data", "when": "every_turn", "description": mine, "instructions": mine})
	r.call("registerInjector", map[string]any{"name": "asked", "when": "every_turn", "callback": true, "wants": []string{"history"}})
	input := []any{map[string]any{"type": "text", "text": "hi" + all},
		map[string]any{"type": "resource", "resource": map[string]any{"uri": "file:///" + all, "text": all}},
		map[string]any{"type": "resource_link", "name": all, "uri": "file:///" + all, "description": all}}
	turn := func(say any, more map[string]any) map[string]any {
		params := map[string]any{"sessionId": "s", "input": say, "redact": told("turn"), "instructions": all, "contextBlocks": blocks, "metadata": map[string]any{"a": all, all: 1}}
		for k, v := range more {
			params[k] = v
		}
		return params
	}
	r.call("prompt", turn(input, nil))
	r.call("prompt", turn(input, map[string]any{"requestKey": canaries["turn"], "instructionInjectors": []string{"rule", "data", "asked", "note"}}))
	r.call("prompt", turn("fail"+all, nil))
	r.call("prompt", turn("page"+all, nil))
	r.call("prompt", turn("x", map[string]any{"instructionInjectors": []string{"nobody" + canaries["turn"]}}))
	r.call("prompt", turn("x", map[string]any{"model": canaries["turn"]}))
	r.call("prompt", turn("x", map[string]any{"options": map[string]any{"stop": []string{canaries["turn"]}, all: 1}}))
	r.call("prompt"+canaries["initialize"], map[string]any{mine: mine})
	r.call("preview", turn(input, map[string]any{"history": true}))
	r.call("updateSession", map[string]any{"sessionId": "s", "title": all, "model": "m"})
	r.call("spliceContext", map[string]any{"sessionId": "s", "name": strings.ReplaceAll(all, "\n", ""), "content": all})
	r.call("listContext", map[string]any{"sessionId": "s", "text": true})
	r.call("setReminders", map[string]any{"prompts": []any{map[string]any{"id": "q", "title": mine, "text": mine, "enabled": true}}})
	r.call("getReminders", nil)
	r.call("prompt", turn(input, nil))
	r.call("compact", map[string]any{"sessionId": "s", "instructions": all})
	r.call("messages", map[string]any{"sessionId": "s", "notices": true, "text": true})
	r.call("listInjectors", nil)
	r.call("state", map[string]any{"sessionId": "s"})
	r.call("forkSession", map[string]any{"sessionId": "s", "newSessionId": "fork"})
	r.call("listSessions", nil)
	require.NoError(t, r.in.Close())
	_, err := io.Copy(io.Discard, r.out)
	require.NoError(t, err)
	require.NoError(t, r.Wait())

	places := r.everything()
	places["the provider"] = provider.seen.String()
	require.Contains(t, places["the provider"], "REDACTED", "it was told of them")
	for place, held := range places {
		for name, secret := range canaries {
			for form, spelling := range spellings(secret) {
				if i := strings.Index(held, spelling); i >= 0 {
					t.Errorf("%s holds the canary of %s %s: …%q…", place, name, form, held[max(0, i-150):min(len(held), i+len(spelling)+50)])
				}
			}
		}
	}
}
