package clients

import (
	"bytes"
	"regexp"
	"strconv"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What each client writes for what its example says. These are facts about
// the clients, which docs/clients.md tells of: one that changes is no fault of
// ours, and worth knowing.
func TestWhatClientsWrite(t *testing.T) {
	for name, bodies := range map[string][]string{
		"node, lines":    {`{"jsonrpc":"2.0","id":7,"method":"shutdown"}`, `{"jsonrpc":"2.0","method":"exit"}`},
		"python, lines":  {`{"jsonrpc":"2.0","id":"py-6","method":"shutdown","params":{}}`},
		"vscode-jsonrpc": {`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":3}}`, `{"jsonrpc":"2.0","id":5,"method":"shutdown"}`},
		"neovim":         {`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":4}}`, `{"jsonrpc":"2.0","id":6,"method":"shutdown"}`},
		"emacs":          {`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":4}}`, `{"jsonrpc":"2.0","method":"exit","params":null}`},
		"go, headers":    {`{"jsonrpc":"2.0","id":6,"method":"shutdown"}`},
	} {
		t.Run(name, func(t *testing.T) {
			c := example(t, name)
			shown, wire := tapped(t, c)
			checkConversation(t, c, shown)
			written := bodiesOf(t, c.framing, wire.in)
			for _, body := range bodies {
				assert.Contains(t, written, sorted(t, body))
			}
			bodiesOf(t, c.framing, wire.out)
		})
	}
}

func TestNeovimEscapesSlashes(t *testing.T) {
	_, wire := tapped(t, example(t, "neovim"))
	assert.Contains(t, string(wire.in), `"$\/cancelRequest"`)
}

func example(t *testing.T, name string) client {
	t.Helper()
	for _, c := range examples {
		if c.name == name {
			return c
		}
	}
	require.Fail(t, "no such example", name)
	return client{}
}

// header is the whole header of a message, as all of these clients and the
// server write it. Emacs looks for one within 100 bytes alone.
var header = regexp.MustCompile(`^Content-Length: ([0-9]{1,8})\r\n\r\n`)

// bodiesOf are the messages in data, which holds nothing else, each with its
// members in order.
func bodiesOf(t *testing.T, framing string, data []byte) []string {
	t.Helper()
	cut := cutHeaders
	if framing == "lines" {
		cut = cutLine
	}
	var bodies []string
	for len(data) > 0 {
		var body []byte
		body, data = cut(t, data)
		bodies = append(bodies, sorted(t, string(body)))
	}
	return bodies
}

func cutLine(t *testing.T, data []byte) (body, rest []byte) {
	t.Helper()
	body, rest, ended := bytes.Cut(data, []byte("\n"))
	require.True(t, ended, "a line ends")
	return body, rest
}

func cutHeaders(t *testing.T, data []byte) (body, rest []byte) {
	t.Helper()
	found := header.FindSubmatch(data)
	require.NotNil(t, found, "%.100q", data)
	length, err := strconv.Atoi(string(found[1]))
	require.NoError(t, err)
	data = data[len(found[0]):]
	require.LessOrEqual(t, length, len(data))
	return data[:length], data[length:]
}

// sorted is a message in its canonical form.
func sorted(t *testing.T, body string) string {
	t.Helper()
	value := jsontext.Value(body)
	require.NoError(t, value.Canonicalize(), body)
	return string(value)
}
