package conformance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	password = "correct-horse-battery-staple"

	base    = "You are helpful."
	always  = "Always answer in JSON."
	project = "A monorepo of forty services."

	configuration = `
system: ` + base + `
injectors:
  - {name: json-always, when: every_turn, instructions: ` + always + `}
  - {name: project, when: first_turn, contextBlocks: [{title: Repo, content: ` + project + `}]}
`
)

type params = map[string]any

// TestProgram holds the built program against the server.
func TestProgram(t *testing.T) {
	program := build(t)
	for name, test := range map[string]func(*testing.T, *aimock, *client){
		"a conversation": conversation,
		"P3: an unknown injector reaches no provider": unknownInjector,
		"U7: failures of the server are errors":       serverFailures,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := startAimock(t)
			c := start(t, program, server)
			test(t, server, c)
		})
	}
}

// start runs the program against server.
func start(t *testing.T, program string, server *aimock) *client {
	t.Helper()
	config := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(config, []byte(configuration), 0o600))
	c := spawn(t, program, []string{"OPENAI_API_KEY=" + apiKey, "DB_PASSWORD=" + password},
		"--provider", "openai", "--base-url", server.url+"/v1", "--model", "gpt-4o-mini",
		"--store=memory", "--config", config, "--redact-env", "DB_PASSWORD")
	reply, _ := c.call("initialize", params{"protocolVersion": 1})
	require.Nil(t, reply.Error)
	return c
}

func conversation(t *testing.T, server *aimock, c *client) {
	first, events := c.turn("prompt", params{"sessionId": "s1", "input": "hello, the password is " + password,
		"instructionInjectors": []string{"json-always", "project"}})
	assert.Equal(t, "Hello there, how are you today?", first.text())
	assert.Equal(t, "end_turn", first.StopReason)
	assert.Equal(t, 1, first.Turn)
	assert.Positive(t, first.Usage.InputTokens)
	assert.Equal(t, first.text(), textOf(events), "the deltas make up the message")
	assert.Equal(t, "turn_ended", events[len(events)-1].Type)
	assert.Equal(t, []string{"json-always", "project"}, injectedBy(events))

	second, _ := c.turn("followUp", params{"sessionId": "s1", "input": "hello again", "instructionInjectors": []string{"json-always", "project"}})
	assert.Equal(t, 2, second.Turn)
	third, _ := c.turn("prompt", params{"sessionId": "s1", "input": "hello once more"})
	assert.Empty(t, third.Injected)
	c.close()

	journal := server.journal(t)
	require.Len(t, journal, 3)
	withRules, hello := base+"\n\n"+always, message{"assistant", first.text()}
	q1, q2, q3 := message{"user", "hello, the password is [REDACTED:DB_PASSWORD]"}, message{"user", "hello again"}, message{"user", "hello once more"}
	assert.Equal(t, []message{{"system", withRules}, {"user", "Repo:\n" + project}, q1}, journal[0].Body.Messages)
	assert.Equal(t, []message{{"system", withRules}, q1, hello, q2}, journal[1].Body.Messages, "history grows by the dialogue alone")
	assert.Equal(t, []message{{"system", base}, q1, hello, q2, hello, q3}, journal[2].Body.Messages)
	for _, e := range journal {
		assert.NotContains(t, string(e.raw), password)
		assert.Equal(t, "gpt-4o-mini", e.Body.Model)
		assert.True(t, e.Body.Stream)
	}
}

func textOf(events []event) string {
	var b strings.Builder
	for _, e := range events {
		if e.Type == "message_delta" {
			b.WriteString(e.Text)
		}
	}
	return b.String()
}

func injectedBy(events []event) []string {
	var names []string
	for _, e := range events {
		if e.Type == "injected" {
			names = append(names, e.Name)
		}
	}
	return names
}

// unknownInjector: such a name sends nothing, uses no turn, and the session works on.
func unknownInjector(t *testing.T, server *aimock, c *client) {
	reply, events := c.call("prompt", params{"sessionId": "s1", "input": "hello", "instructionInjectors": []string{"json-always", "nobody"}})
	require.NotNil(t, reply.Error)
	assert.Equal(t, -32001, reply.Error.Code)
	assert.Equal(t, "Unknown instruction injector: nobody", reply.Error.Message)
	assert.Empty(t, events)
	assert.Empty(t, server.journal(t))

	after, _ := c.turn("prompt", params{"sessionId": "s1", "input": "hello"})
	assert.Equal(t, 1, after.Turn)
	assert.Len(t, server.journal(t), 1)
	c.close()
}

// serverFailures: what a server does wrong is an error with its class, never an answer,
// and leaves its turn's number free.
func serverFailures(t *testing.T, server *aimock, c *client) {
	for input, want := range failures {
		reply, events := c.call("prompt", params{"sessionId": "s1", "input": input})
		require.NotNil(t, reply.Error, input)
		assert.Equal(t, -32006, reply.Error.Code, input)
		assert.Equal(t, string(want.class), reply.Error.Data["class"], input)
		assert.Equal(t, want.partial, textOf(events) != "", input)
		assert.Equal(t, want.partial, reply.Error.Data["partial"] == true, input)
		assert.Equal(t, "turn_ended", events[len(events)-1].Type, input)
	}
	reply, _ := c.call("prompt", params{"sessionId": "s1", "input": "slow down"})
	assert.EqualValues(t, 14_400_000, reply.Error.Data["retryAfterMs"])

	after, _ := c.turn("prompt", params{"sessionId": "s1", "input": "hello"})
	assert.Equal(t, 1, after.Turn)
	c.close()
	journal := server.journal(t)
	assert.Equal(t, []message{{"system", base}, {"user", "hello"}}, journal[len(journal)-1].Body.Messages)
}

// TestProgramOverTheOtherAPIs: what is injected reaches the model whatever its
// API is.
func TestProgramOverTheOtherAPIs(t *testing.T) {
	program := build(t)
	for provider, of := range map[string]struct{ base, path string }{
		"openai-responses": {"/v1", "/v1/responses"}, "anthropic": {"", "/v1/messages"},
	} {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			server := startAimock(t)
			config := filepath.Join(t.TempDir(), "config.yaml")
			require.NoError(t, os.WriteFile(config, []byte(configuration), 0o600))
			c := spawn(t, program, []string{"OPENAI_API_KEY=" + apiKey, "ANTHROPIC_API_KEY=" + apiKey},
				"--provider", provider, "--base-url", server.url+of.base, "--model", "m", "--store=memory", "--config", config)
			reply, _ := c.call("initialize", params{"protocolVersion": 1})
			require.Nil(t, reply.Error)
			for turn := 1; turn <= 2; turn++ {
				got, events := c.turn("prompt", params{"sessionId": "s1", "input": "hello", "instructionInjectors": []string{"json-always", "project"}})
				assert.Equal(t, "Hello there, how are you today?", got.text())
				assert.Equal(t, turn, got.Turn)
				assert.Equal(t, got.text(), textOf(events))
			}
			failed, _ := c.call("prompt", params{"sessionId": "s1", "input": "cut"})
			require.NotNil(t, failed.Error)
			assert.Equal(t, "interrupted", failed.Error.Data["class"])
			c.close()
			journal := server.journal(t)
			require.Len(t, journal, 3)
			for i, e := range journal {
				assert.Equal(t, of.path, e.Path)
				assert.Equal(t, i < 2, strings.Contains(string(e.raw), always), "where it was asked for")
				assert.Equal(t, i == 0, strings.Contains(string(e.raw), project), "on the first turn alone")
			}
			assert.Contains(t, string(journal[1].raw), "Hello there, how are you today?")
		})
	}
}
