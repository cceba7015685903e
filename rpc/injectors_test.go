package rpc

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/inject/bundle"
	"github.com/prism-rpc/prism-rpc/provider/mock"
	"github.com/prism-rpc/prism-rpc/provider/openai"
	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/memstore"
)

// askAnswering is ask of a client that answers what the server asks
// meanwhile, with the whole rest of the reply; "" gives no answer.
func (p *peer) askAnswering(method, params string, answer func(a answered) string) answered {
	p.t.Helper()
	id := p.send(method, params)
	for {
		a := p.recv()
		switch {
		case a.Method == "" && string(a.ID) == id:
			return a
		case a.Method == "" || a.ID == nil:
		default:
			if rest := answer(a); rest != "" {
				_, err := io.WriteString(p.in, replyTo(string(a.ID), rest)+"\n")
				require.NoError(p.t, err)
			}
		}
	}
}

// toldTurn is what an applyInjector says.
func toldTurn(t *testing.T, a answered) schema.ApplyInjectorParams {
	t.Helper()
	require.Equal(t, "applyInjector", a.Method)
	var p schema.ApplyInjectorParams
	require.NoError(t, json.Unmarshal(a.Params, &p))
	return p
}

func injectedNames(t *testing.T, a answered) (names []string) {
	t.Helper()
	require.Nil(t, a.Error)
	var r schema.TurnResult
	require.NoError(t, json.Unmarshal(a.Result, &r))
	for _, in := range r.Injected {
		names = append(names, in.Name)
	}
	return names
}

func callback(name, more string) string {
	return `{"name":"` + name + `","when":"every_turn","callback":true` + more + `}`
}

func TestI10_a_hundred_callbacks_in_one_turn_apply_in_the_order_of_selection(t *testing.T) {
	p := serving(t, Options{}, "ok")
	var names []string
	for i := range 100 {
		name := fmt.Sprintf("n%02d", i)
		names = append(names, name)
		require.Nil(t, p.ask("registerInjector", callback(name, "")).Error)
	}
	list, err := json.Marshal(names)
	require.NoError(t, err)
	var waiting []answered // the first of them are answered last
	most := 0
	a := p.askAnswering("prompt", `{"input":"hi","instructionInjectors":`+string(list)+`}`, func(a answered) string {
		if waiting = append(waiting, a); len(waiting) == 64 || len(waiting) == 36 && most == 64 {
			most = max(most, len(waiting))
			for i := len(waiting) - 1; i >= 0; i-- {
				_, err := io.WriteString(p.in, replyTo(string(waiting[i].ID), `"result":{"instructions":"`+toldTurn(t, waiting[i]).Name+`"}`)+"\n")
				require.NoError(t, err)
			}
			waiting = nil
		}
		return ""
	})
	assert.Equal(t, 64, most, "as many as may wait at the client")
	assert.Equal(t, names, injectedNames(t, a))
}

func TestP7_what_a_callback_smuggles_leaves_the_providers_request_byte_identical(t *testing.T) {
	const plain = `"instructions":"Answer in JSON.","contextBlocks":[{"title":"Repo","content":"A monorepo."}]`
	want := bodyWith(t, `{`+plain+`}`)
	assert.Contains(t, want, "Answer in JSON.")
	for _, smuggled := range []string{
		`"tools":[{"name":"sh","parameters":{}}]`, `"skills":["x"]`, `"permissions":{"allow":["*"]}`, `"execute":"rm -rf /"`,
		`"model":"other"`, `"options":{"temperature":2,"maxOutputTokens":1}`, `"apiKey":"sk-123456789"`, `"system":"x"`, `"metadata":{"a":1}`,
	} {
		assert.Equal(t, want, bodyWith(t, `{`+smuggled+`,`+plain+`}`), smuggled)
	}
}

// bodyWith is what a provider is sent in a turn in which a callback says that.
func bodyWith(t *testing.T, contribution string) (body string) {
	t.Helper()
	vendor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		body = string(raw)
		w.Header().Set("Content-Type", "text/event-stream")
		_, err = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"content":"ok"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
		assert.NoError(t, err)
	}))
	defer vendor.Close()
	model, err := openai.New(openai.Options{BaseURL: vendor.URL})
	require.NoError(t, err)
	p := servingModel(t, Options{}, session.Config{Provider: model, Model: "m", Base: "You are helpful."})
	require.Nil(t, p.ask("registerInjector", callback("a", "")).Error)
	a := p.askAnswering("prompt", `{"sessionId":"s","input":"hi","instructionInjectors":["a"]}`, func(answered) string { return `"result":` + contribution })
	require.Len(t, injectedNames(t, a), 2)
	return body
}

func TestP10_junk_for_an_answer_is_skipped(t *testing.T) {
	p := serving(t, Options{}, "1", "2", "3", "4", "5", "6", "7", "8", "9")
	require.Nil(t, p.ask("registerInjector", callback("a", `,"maxBytes":10`)).Error)
	for _, junk := range []string{
		`"result":[]`, `"result":"text"`, `"result":7`, `"result":{"when":"never"}`, `"result":{"contextBlocks":[{}]}`,
		`"result":{"instructions":"more than its maxBytes"}`, `"result":{"instructions":"x","instructions":"y"}`,
		`"error":"no"`, `"result":1,"error":{"code":1,"message":"no"}`,
	} {
		a := p.askAnswering("prompt", `{"input":"hi","instructionInjectors":["a"]}`, func(answered) string { return junk })
		assert.Empty(t, injectedNames(t, a), junk)
	}
}

func TestP9_a_callback_is_told_as_much_of_the_dialogue_as_a_message_holds(t *testing.T) {
	long := strings.Repeat("word ", 1000)
	p := serving(t, Options{}, long, "short", "ok", "ok")
	require.Nil(t, p.ask("initialize", `{"initializationOptions":{"maxMessageBytes":4096,"injectors":[`+callback("a", `,"wants":["history"]`)+`]}}`).Error)
	ask := func(input string) (heard []schema.Message, injected []string) {
		a := p.askAnswering("prompt", `{"input":"`+input+`","instructionInjectors":["a"]}`, func(a answered) string {
			heard = toldTurn(t, a).Context.History
			return `"result":{"instructions":"x"}`
		})
		return heard, injectedNames(t, a)
	}
	heard, _ := ask("hi")
	assert.Empty(t, heard)
	heard, injected := ask("hi")
	require.Len(t, heard, 1)
	assert.Equal(t, []string{"a"}, injected)
	assert.True(t, strings.HasPrefix(long, heard[0].Content[0].Text), "the beginning of what is too long")
	assert.Greater(t, len(heard[0].Content[0].Text), 3000)
	heard, _ = ask("hi")
	require.Len(t, heard, 2)
	assert.Equal(t, "short", heard[1].Content[0].Text)
	_, injected = ask(strings.Repeat("x", 5000))
	assert.Empty(t, injected, "a turn that no message holds is not told of")
	assert.LessOrEqual(t, p.most, 4096)
}

func TestP5_clients_injectors_are_their_own_and_end_with_the_connection(t *testing.T) {
	manager, err := session.NewManager(session.Config{Store: memstore.New()})
	require.NoError(t, err)
	defer func() { assert.NoError(t, manager.Close()) }()
	one, hangUpOne := connected(t, Options{Sessions: manager})
	two, hangUpTwo := connected(t, Options{Sessions: manager})
	require.Nil(t, one.ask("registerInjector", callback("a", "")).Error)
	require.Nil(t, one.ask("registerInjector", callback("b", "")).Error)
	require.Nil(t, two.ask("unregisterInjector", `{"name":"a"}`).Error)
	assert.Equal(t, []string{"a", "b"}, registered(manager), "nobody else's is removed")
	require.Nil(t, two.ask("registerInjector", callback("b", "")).Error)
	hangUpOne()
	assert.Equal(t, []string{"b"}, registered(manager), "the last one to register it has it")
	hangUpTwo()
	assert.Empty(t, registered(manager))
}

func registered(m *session.Manager) (names []string) {
	for _, info := range m.Registry().List(nil) {
		names = append(names, info.Name)
	}
	return names
}

// connected serves one client until it hangs up.
func connected(t *testing.T, o Options) (p *peer, hangUp func()) {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	over := make(chan error, 1)
	go func() { // hangUp waits for it
		over <- Serve(context.WithoutCancel(t.Context()), inR, outW, o)
		outW.Close()
	}()
	return &peer{t: t, in: inW, out: bufio.NewReader(outR)}, func() {
		inW.Close()
		_, err := io.Copy(io.Discard, outR)
		assert.NoError(t, err)
		assert.NoError(t, <-over)
	}
}

func TestP10_a_client_that_stops_reading_mid_call_ends_the_turn(t *testing.T) {
	model := mock.New()
	defer model.Close()
	manager, err := session.NewManager(session.Config{Provider: model, Store: memstore.New()})
	require.NoError(t, err)
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	over := make(chan error, 1)
	go func() { // read below
		over <- Serve(context.WithoutCancel(t.Context()), inR, outW, Options{Sessions: manager, DrainTimeout: time.Hour})
	}()
	p := &peer{t: t, in: inW, out: bufio.NewReader(outR)}
	require.Nil(t, p.ask("registerInjector", callback("a", "")).Error)
	p.send("prompt", `{"input":"hi","instructionInjectors":["a"]}`)
	for p.recv().Method != "applyInjector" {
	}
	outR.Close()
	p.send("ping", "{}") // whose answer finds that nobody reads
	assert.ErrorIs(t, <-over, ErrOutput)
	assert.NoError(t, manager.Close())
	assert.Empty(t, model.Requests(), "a cancelled turn asks no provider")
}

// hosted is a server with a client handle, whose client said what it can do.
func hosted(t *testing.T, initialize string) (*peer, *Client) {
	t.Helper()
	client := new(Client)
	p := servingWith(t, Options{Client: client}, session.Config{}, mock.Entry{Text: "ok", Repeat: true})
	require.Nil(t, p.ask("initialize", initialize).Error)
	return p, client
}

// during runs ask while the client answers what it is asked.
func during[T any](p *peer, answer string, ask func() (T, error)) (asked answered, got T, err error) {
	done := make(chan struct{})
	go func() { // during waits for it
		defer close(done)
		got, err = ask()
	}()
	asked = p.recv()
	_, werr := io.WriteString(p.in, replyTo(string(asked.ID), answer)+"\n")
	require.NoError(p.t, werr)
	<-done
	return asked, got, err
}

func TestP22_the_client_permits_a_read(t *testing.T) {
	request := bundle.ReadRequest{Path: "/etc/x.md", Bundle: "b", Reason: "it lies outside"}
	for answer, want := range map[string]bool{
		`"result":{"allow":true}`: true, `"result":{"allow":false}`: false, `"result":{}`: false, `"result":null`: false,
		`"result":{"allow":"true"}`: false, `"result":{"allow":1}`: false, `"error":{"code":1,"message":"no"}`: false,
		`"result":{"allow":true,"why":"x"}`: true, `"result":{"Allow":true}`: false, `"result":[true]`: false,
	} {
		p, client := hosted(t, `{"initializationOptions":{"permitRead":true}}`)
		require.NoError(t, client.PermitReady())
		asked, allow, err := during(p, answer, func() (bool, error) { return client.Permit(t.Context(), request) })
		assert.Equal(t, "permitRead", asked.Method)
		assert.JSONEq(t, `{"path":"/etc/x.md","bundle":"b","reason":"it lies outside"}`, string(asked.Params))
		assert.Equal(t, want, allow && err == nil, answer)
	}
}

func TestP22_a_client_that_did_not_declare_it_is_not_asked(t *testing.T) {
	p, client := hosted(t, `{}`)
	assert.ErrorIs(t, client.PermitReady(), errNoPermitter)
	allow, err := client.Permit(t.Context(), bundle.ReadRequest{})
	assert.ErrorIs(t, err, errNoPermitter)
	assert.False(t, allow)
	require.Nil(t, p.ask("ping", "{}").Error)
	nobody := new(Client)
	assert.ErrorIs(t, nobody.PermitReady(), errNoClient)
	assert.ErrorIs(t, nobody.Ready(), errNoClient)
	_, err = nobody.Permit(t.Context(), bundle.ReadRequest{})
	assert.ErrorIs(t, err, errNoClient)
	_, err = nobody.Load(t.Context(), bundle.Module{})
	assert.ErrorIs(t, err, errNoClient)
}

func TestP20_the_client_loads_a_module_and_is_asked_under_the_bundles_name(t *testing.T) {
	p, client := hosted(t, `{}`)
	require.NoError(t, client.Ready())
	module := bundle.Module{Name: "review", File: "apply.ts", Path: "/w/.agents/instructions/review/apply.ts", ExportName: "apply"}
	load := func(answer string) (inject.Injector, error) {
		asked, inj, err := during(p, answer, func() (inject.Injector, error) { return client.Load(t.Context(), module) })
		assert.Equal(t, "loadModule", asked.Method)
		assert.JSONEq(t, `{"name":"review","module":"apply.ts","exportName":"apply","path":"/w/.agents/instructions/review/apply.ts"}`, string(asked.Params))
		return inj, err
	}
	inj, err := load(`"result":null`)
	assert.NoError(t, err)
	assert.Nil(t, inj)
	for _, bad := range []string{`"result":7`, `"result":{"when":"always"}`, `"result":{"when":"on_input","predicate":"("}`, `"result":{"wants":["keys"]}`, `"error":{"code":1,"message":"no"}`} {
		_, err := load(bad)
		assert.Error(t, err, bad)
	}
	inj, err = load(`"result":{"when":"on_input","predicate":"input contains \"diff\"","wants":["history"],"x":1}`)
	require.NoError(t, err)
	assert.Equal(t, "review", inj.Name())

	apply := func(input string) (inject.Decisions, error) {
		turn := inject.Context{SessionID: "s", Input: []schema.ContentBlock{schema.TextBlock(input)}}
		return inject.Apply(t.Context(), []inject.Resolved{{Name: "review", Injector: inj}}, turn, nil, nil, inject.Options{})
	}
	got, err := apply("hello")
	require.NoError(t, err)
	assert.Equal(t, schema.ReasonPredicateFalse, got[0].Reason)
	asked, got, err := during(p, `"result":{"instructions":"Read it."}`, func() (inject.Decisions, error) { return apply("the diff") })
	require.NoError(t, err)
	assert.Equal(t, "review", toldTurn(t, asked).Name)
	assert.NotNil(t, jsontext.Value(asked.Params))
	assert.Equal(t, "Read it.", got[0].Applied.Instructions)
}
