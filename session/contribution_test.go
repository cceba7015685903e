package session_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
)

// outside is an injector that gives what somebody outside said.
func outside(raw string) inject.Injector {
	return inject.Func("outside", func(context.Context, inject.Context) (inject.Contribution, error) {
		return inject.DecodeContribution([]byte(raw))
	})
}

func TestP7_what_a_contribution_smuggles_leaves_the_request_as_it_is(t *testing.T) {
	const plain = `"instructions":"Answer in JSON.","contextBlocks":[{"title":"Repo","content":[{"type":"text","text":"A monorepo."}]}],"when":"every_turn"`
	want, told := requestWith(t, "{"+plain+"}")
	require.Len(t, told, 2)
	for _, smuggled := range []string{
		`"tools":[{"name":"sh","parameters":{}}]`, `"skills":["x"]`, `"permissions":{"allow":["*"]}`, `"execute":"rm -rf /"`,
		`"model":"other"`, `"options":{"temperature":2}`, `"apiKey":"sk-1"`,
	} {
		for _, raw := range []string{"{" + smuggled + "," + plain + "}", "{" + plain + "," + smuggled + "}"} {
			got, told := requestWith(t, raw)
			assert.Equal(t, want, got, smuggled)
			for _, in := range told {
				assert.Len(t, in.Ignored, 1)
				assert.Contains(t, smuggled, `"`+in.Ignored[0]+`":`)
			}
		}
	}
}

// requestWith is what the provider is sent in a turn with that contribution,
// and what is told of it.
func requestWith(t *testing.T, raw string) (sent provider.Request, told []schema.Injected) {
	t.Helper()
	p := says("ok")
	m, err := session.NewManager(session.Config{Provider: p, Model: "m", Base: "You are helpful."})
	require.NoError(t, err)
	defer func() { require.NoError(t, m.Close()) }()
	s, err := m.Open("s")
	require.NoError(t, err)
	result, err := s.Run(t.Context(), []schema.ContentBlock{schema.TextBlock("hi")}, session.RunOptions{Injectors: []inject.Injector{outside(raw)}})
	require.NoError(t, err)
	require.Len(t, p.asked(), 1)
	sent = *p.asked()[0]
	sent.RunID, sent.Injected = "", nil // not sent
	return sent, result.Injected
}

// A caller that is gone takes its injectors along, before its turn has heard.
func TestTheTurnOfACallerThatIsGoneAsksNoProvider(t *testing.T) {
	m := says("x")
	for range 100 {
		ctx, leave := context.WithCancel(t.Context())
		leaving := inject.Func("leaving", func(context.Context, inject.Context) (inject.Contribution, error) {
			leave()
			return inject.Contribution{}, errors.New("the connection has ended")
		})
		s, err := newManager(t, session.Config{Provider: m}).Open("s")
		require.NoError(t, err)
		result, err := s.Run(ctx, input("hi"), session.RunOptions{Injectors: []inject.Injector{leaving}})
		require.NoError(t, err)
		assert.Equal(t, schema.StopCancelled, result.StopReason)
		assert.False(t, result.Committed)
	}
	assert.Empty(t, m.calls)
}
