//go:build unix

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/internal/wat"
)

// rule writes the bundle of that name.
func rule(t *testing.T, root, name, manifest, text string) {
	t.Helper()
	dir := filepath.Join(root, ".agents", "instructions", name)
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(manifest), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "INSTRUCTIONS.md"), []byte(text), 0o600))
}

// echoScript makes the mock echo.
func echoScript(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "echo.yaml")
	require.NoError(t, os.WriteFile(path, []byte("[]\n"), 0o600))
	return path
}

func TestP25_an_edited_bundle_is_live_at_the_next_turn(t *testing.T) {
	root := t.TempDir()
	c := startChild(t, "--mock-script", echoScript(t), "--discover", "--watch", "--workspace", root)
	const turn = `{"jsonrpc":"2.0","id":"t","method":"prompt","params":{"input":"hi","instructionInjectors":["style"]}}`
	c.send(t, ping)
	c.until(t, `"id":1`)
	c.send(t, turn)
	assert.Contains(t, c.until(t, `"id":"t"`), "Unknown instruction injector: style")

	rule(t, root, "style", `{}`, "Tabs.")
	assert.Contains(t, c.until(t, "injectors_changed"), `"names":["style"]`)
	c.send(t, turn)
	assert.Contains(t, c.until(t, `"id":"t"`), `"bytes":5`)

	rule(t, root, "style", `{}`, "Tabs, not spaces.")
	c.until(t, "injectors_changed")
	c.send(t, turn)
	assert.Contains(t, c.until(t, `"id":"t"`), `"bytes":17`)

	rule(t, root, "style", `{`, "Tabs, not spaces.")
	assert.Contains(t, c.until(t, "bundle_error"), `"name":"style","path":"`+root)
	require.NoError(t, c.in.Close())
	require.NoError(t, c.Wait())
	assert.Empty(t, c.stderr.String())
}

func TestP25_a_reload_takes_up_an_edit_and_a_turn_keeps_what_it_has(t *testing.T) {
	root := t.TempDir()
	rule(t, root, "style", `{}`, "Tabs.")
	c := startChild(t, "--discover", "--workspace", root)
	c.send(t, `{"jsonrpc":"2.0","id":"a","method":"prompt","params":{"sessionId":"s","input":"hi","instructionInjectors":["style"]}}`)
	c.until(t, "message_delta")
	c.send(t, `{"jsonrpc":"2.0","id":"b","method":"followUp","params":{"sessionId":"s","input":"hi","instructionInjectors":["style"]}}`)
	c.until(t, "prompt_queued")
	rule(t, root, "style", `{}`, "Tabs, not spaces.")
	c.send(t, `{"jsonrpc":"2.0","id":"r","method":"reloadInjectors"}`+"\n"+`{"jsonrpc":"2.0","id":"x","method":"abort","params":{"sessionId":"s"}}`)
	assert.Contains(t, c.until(t, `"id":"r"`), `"bytes":17`)
	assert.Contains(t, c.until(t, `"id":"a"`), `"bytes":5`)
	assert.Contains(t, c.until(t, `"id":"b"`), `"bytes":17`, "P4: what was queued has the newest")
	require.NoError(t, c.in.Close())
	require.NoError(t, c.Wait())
}

func TestP22_a_client_is_asked_before_a_resource_elsewhere_is_read(t *testing.T) {
	root, other := t.TempDir(), t.TempDir()
	outside := filepath.Join(other, "rules.md")
	require.NoError(t, os.WriteFile(outside, []byte("Rules from elsewhere."), 0o600))
	rule(t, root, "far", `{"resource":"`+outside+`"}`, "not this one")
	const turn = `{"jsonrpc":"2.0","id":"t","method":"prompt","params":{"input":"hi","instructionInjectors":["far"]}}`
	const initialize = `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"initializationOptions":{"permitRead":true}}}`
	for name, tt := range map[string]struct {
		answer func(id string) string
		want   string
	}{
		"yes": {func(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"result":{"allow":true}}` }, `"bytes":21`},
		"no":  {func(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"result":{"allow":false}}` }, `"stopReason":"end_turn"`},
		"error": {func(id string) string {
			return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32601,"message":"?"}}`
		}, `"stopReason":"end_turn"`},
	} {
		t.Run(name, func(t *testing.T) {
			c := startChild(t, "--mock-script", echoScript(t), "--discover", "--workspace", root)
			c.send(t, turn)
			assert.Contains(t, c.until(t, `"id":"t"`), "did not declare permitRead")
			c.send(t, initialize+"\n"+turn)
			asked := c.until(t, `"method":"permitRead"`)
			assert.Contains(t, asked, `"path":"`+outside+`","bundle":"far","reason":"`)
			id := regexp.MustCompile(`"id":("[^"]*"|[0-9]+)`).FindStringSubmatch(asked)
			require.NotNil(t, id, asked)
			c.send(t, tt.answer(id[1]))
			reply := c.until(t, `"id":"t"`)
			assert.Contains(t, reply, tt.want)
			assert.Equal(t, name == "yes", strings.Contains(reply, `"name":"far"`), reply)
		})
	}
}

func TestP20_a_client_runs_the_code_of_a_bundle(t *testing.T) {
	root := t.TempDir()
	rule(t, root, "coded", `{"module":"rules.js","exportName":"main"}`, "not this one")
	require.NoError(t, os.WriteFile(filepath.Join(root, ".agents/instructions/coded/rules.js"), []byte("export"), 0o600))
	c := startChild(t, "--mock-script", echoScript(t), "--discover", "--workspace", root, "--module-loader", "client")
	c.send(t, `{"jsonrpc":"2.0","id":"t","method":"prompt","params":{"input":"hi","instructionInjectors":["coded"]}}`)
	id := regexp.MustCompile(`"id":("[^"]*"|[0-9]+)`)
	asked := c.until(t, `"method":"loadModule"`)
	assert.Contains(t, asked, `"name":"coded","module":"rules.js","exportName":"main","path":"`+root)
	c.send(t, `{"jsonrpc":"2.0","id":`+id.FindStringSubmatch(asked)[1]+`,"result":{}}`)
	asked = c.until(t, `"method":"applyInjector"`)
	c.send(t, `{"jsonrpc":"2.0","id":`+id.FindStringSubmatch(asked)[1]+`,"result":{"instructions":"By code."}}`)
	assert.Contains(t, c.until(t, `"id":"t"`), `"name":"coded","origin":"bundle","placement":"system","when":"every_turn","bytes":8`)
}

func TestP20_a_module_of_a_bundle_runs_in_the_sandbox(t *testing.T) {
	text, err := os.ReadFile("../../examples/module-wat/json.wat")
	require.NoError(t, err)
	code, err := wat.Assemble(string(text))
	require.NoError(t, err)
	root := t.TempDir()
	rule(t, root, "coded", `{"module":"json.wasm"}`, "not this one")
	require.NoError(t, os.WriteFile(filepath.Join(root, ".agents/instructions/coded/json.wasm"), code, 0o600))
	c := startChild(t, "--mock-script", echoScript(t), "--discover", "--workspace", root, "--module-loader", "wasm")
	c.send(t, `{"jsonrpc":"2.0","id":"t","method":"prompt","params":{"input":"as json","instructionInjectors":["coded"]}}`)
	assert.Contains(t, c.until(t, `"id":"t"`), `"name":"coded","origin":"bundle","placement":"system","when":"every_turn","bytes":15`)
	c.send(t, `{"jsonrpc":"2.0","id":"u","method":"prompt","params":{"input":"as text","instructionInjectors":["coded"]}}`)
	assert.Contains(t, c.until(t, `"id":"u"`), `"injected":[]`)
}
