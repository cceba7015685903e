package rpc

import (
	"bufio"
	"context"
	"io"
	"strconv"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/provider/mock"
	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/memstore"
)

// A peer talks to a whole server, and notes the size of each line.
type peer struct {
	t    *testing.T
	in   io.Writer
	out  *bufio.Reader
	most int
	next int
}

// serving starts a server whose model says these texts, one a turn.
func serving(t *testing.T, o Options, texts ...string) *peer {
	t.Helper()
	var script []mock.Entry
	for _, text := range texts {
		script = append(script, mock.Entry{Text: text})
	}
	return servingWith(t, o, session.Config{}, script...)
}

// stalled is a model's call that goes on until it is cancelled.
var stalled = mock.Entry{Then: mock.Stall, Repeat: true}

func servingWith(t *testing.T, o Options, cfg session.Config, script ...mock.Entry) *peer {
	t.Helper()
	model := mock.New(mock.WithScript(script))
	t.Cleanup(model.Close)
	cfg.Provider, cfg.Model = model, "m"
	return servingModel(t, o, cfg)
}

// servingModel starts a server on a model that the cleanup does not close.
func servingModel(t *testing.T, o Options, cfg session.Config) *peer {
	t.Helper()
	cfg.Store = memstore.New()
	manager, err := session.NewManager(cfg)
	require.NoError(t, err)
	o.Sessions, o.OnEOF = manager, EOFCancel
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	over := make(chan error, 1)
	go func() { over <- Serve(context.WithoutCancel(t.Context()), inR, outW, o) }() // the cleanup waits for it
	t.Cleanup(func() {
		inW.Close()
		go func() { _, _ = io.Copy(io.Discard, outR) }() // ends with the server
		assert.NoError(t, <-over)
		outW.Close()
		assert.NoError(t, manager.Close())
	})
	return &peer{t: t, in: inW, out: bufio.NewReader(outR)}
}

type answered struct {
	ID     jsontext.Value `json:"id"`
	Method string         `json:"method"`
	Params jsontext.Value `json:"params"`
	Result jsontext.Value `json:"result"`
	Error  *struct {
		Code int              `json:"code"`
		Data schema.ErrorData `json:"data"`
	} `json:"error"`
}

func (p *peer) recv() (a answered) {
	p.t.Helper()
	line, err := p.out.ReadString('\n')
	require.NoError(p.t, err)
	p.most = max(p.most, len(line))
	require.NoError(p.t, json.Unmarshal([]byte(line), &a))
	return a
}

func (p *peer) send(method, params string) (id string) {
	p.t.Helper()
	p.next++
	id = strconv.Itoa(p.next)
	_, err := io.WriteString(p.in, request(id, method, params)+"\n")
	require.NoError(p.t, err)
	return id
}

// ask sends a request and gives its answer, after the notifications before it.
func (p *peer) ask(method, params string) answered {
	p.t.Helper()
	id := p.send(method, params)
	for {
		if a := p.recv(); string(a.ID) == id {
			return a
		}
	}
}

func (p *peer) must(method, params string, result any) {
	p.t.Helper()
	a := p.ask(method, params)
	require.Nil(p.t, a.Error, method)
	require.NoError(p.t, json.Unmarshal(a.Result, result))
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}
