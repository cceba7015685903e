package rpc_test

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/inject/ambient"
	"github.com/prism-rpc/prism-rpc/internal/contract"
	"github.com/prism-rpc/prism-rpc/internal/talk"
	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/provider/mock"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/rpc"
	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/memstore"
)

// setUp is what a conversation's file server.json may say.
type setUp struct {
	Base       string
	Names      []string
	Injectors  []schema.InjectorSpec
	Secrets    []schema.SecretValue
	NoProvider bool
	Notices    []schema.Notice // of start-up
	Calls      *int            // how often the provider is to be called in all

	MaxContextTokens int
	CompactAt        float64

	ContextInjections bool
	ContextBlocks     []schema.AmbientBlock
	ProtectedPaths    []string
}

func TestTalk(t *testing.T) {
	files, err := filepath.Glob("../testdata/talk/*.talk")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".talk"), func(t *testing.T) {
			talk.Play(t, file, newServer)
		})
	}
}

func newServer(t *testing.T, files map[string][]byte) talk.Serve {
	var up setUp
	if len(files["server.json"]) > 0 {
		require.NoError(t, json.Unmarshal(files["server.json"], &up, json.RejectUnknownMembers(true), json.MatchCaseInsensitiveNames(true)))
	}
	script, err := mock.LoadScript(bytes.NewReader(files["mock.yaml"]))
	require.NoError(t, err)
	model := mock.New(mock.WithScript(script))
	t.Cleanup(model.Close)
	red := redactor(t, up.Secrets)
	cfg := session.Config{
		Provider: model, Model: "test-model", Base: up.Base, Names: up.Names, Registry: registry(t, up.Injectors),
		Redactor: red, Store: memstore.New(), MaxContextTokens: up.MaxContextTokens, CompactAt: up.CompactAt,
	}
	cfg.Ambient = session.Ambient{On: up.ContextInjections, Blocks: up.ContextBlocks, Armed: func(context.Context, string) ambient.Armed {
		return ambient.Armed{ProtectedPaths: up.ProtectedPaths}
	}}
	switch {
	case up.NoProvider:
		cfg.Provider = nil
	case len(script) == 0:
		cfg.Provider = atOnce{model}
	}
	manager, err := session.NewManager(cfg)
	require.NoError(t, err)
	held, err := contract.NewConversation()
	require.NoError(t, err)
	return func(ctx context.Context, r io.Reader, w io.Writer) error {
		err := rpc.Serve(ctx, held.Input(r), held.Output(w), rpc.Options{Sessions: manager, Version: "0.0.0", Redactor: red, DefaultSession: "main", DrainTimeout: time.Hour, Notices: up.Notices})
		model.Close()
		require.NoError(t, held.Err(), "each line is what the schema says")
		require.NoError(t, manager.Close())
		if up.Calls != nil {
			require.Len(t, model.Requests(), *up.Calls, "calls of the provider")
		}
		return err
	}
}

// atOnce passes the text of an answer on in one piece. Of pieces that come at
// the same time it depends on who runs first how many deltas they become.
type atOnce struct{ provider.Provider }

func (p atOnce) Stream(ctx context.Context, req *provider.Request, emit func(provider.Event) error) (*provider.Result, error) {
	var text strings.Builder
	result, err := p.Provider.Stream(ctx, req, func(e provider.Event) error {
		text.WriteString(e.Text)
		return nil
	})
	if err == nil {
		err = emit(provider.Event{Kind: provider.EventText, Text: text.String()})
	}
	return result, err
}

func registry(t *testing.T, specs []schema.InjectorSpec) *inject.Registry {
	r := &inject.Registry{}
	for _, spec := range specs {
		inj, err := inject.FromSpec(spec)
		require.NoError(t, err)
		_, err = r.Register(inj, schema.OriginConfig)
		require.NoError(t, err)
	}
	return r
}

// redactor knows the secrets alone. With rules, a delta of one letter, which
// may begin a key, would wait for the next.
func redactor(t *testing.T, secrets []schema.SecretValue) *redact.Redactor {
	var values []redact.Value
	for _, v := range secrets {
		values = append(values, redact.Value{Name: v.Name, Secret: redact.NewSecret(v.Value)})
	}
	red, err := redact.New(values...)
	require.NoError(t, err)
	return red.WithRules(redact.NoRules)
}
