package clients

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const refused = `{"code":-32602}`

// want holds lines of a transcript to what they say; a client orders the
// members of an object as it likes.
func (tr transcript) want(t *testing.T, want map[string]string) {
	t.Helper()
	for name, value := range want {
		assert.Equal(t, sorted(t, value), sorted(t, string(tr[tr.at(t, name)].value)), name)
	}
	assert.Len(t, tr, len(want), "nothing else is shown")
}

func quirks(t *testing.T, c client, env ...string) transcript {
	t.Helper()
	program, stderr := direct(t)
	shown := c.run(t, program, env...)
	said, err := os.ReadFile(stderr)
	require.NoError(t, err)
	assert.Empty(t, string(said), "the server's stderr")
	return shown
}

// T4, T7: over a megabyte of what trips up framing comes back as it was.
func TestVSCodeQuirks(t *testing.T) {
	c := client{command: "node conformance/clients/testdata/vscode.mjs"}
	quirks(t, c).want(t, map[string]string{
		"nothing":    "{}",
		"undefined":  refused, // it sends [null]
		"null":       refused,
		"positional": refused, // [{}, null]: an undefined token becomes a param
		"slash":      `{"code":-32601}`,
		"pings":      "200",
		"large":      "true",
		"exit":       "0",
	})
}

// An empty table is sent as [], and a server is ended with SIGTERM.
func TestNeovimQuirks(t *testing.T) {
	c := client{command: "nvim --headless -u NONE -i NONE -S conformance/clients/testdata/neovim.lua -c qall!"}
	quirks(t, c).want(t, map[string]string{
		"nothing": "{}", "null": "{}", "table": "{}", "dict": "{}",
		"none":     "1",
		"metadata": refused, // [] is no object; vim.empty_dict() is
		"slash":    `{"code":-32601}`,
		"large":    "true",
		"exit":     "143",
	})
}

// nil is sent as null, and a server is ended with SIGKILL: what it answered is
// on disk, and the next one goes on with it.
func TestEmacsQuirks(t *testing.T) {
	c := client{command: "emacs -Q --batch -l conformance/clients/testdata/emacs.el", chatter: obituary}
	shown := quirks(t, c, "STORE="+t.TempDir())
	field := shown[shown.at(t, "field")].value
	assert.Equal(t, "end_turn", decode[turn](t, field).StopReason, "a field that is null is one that isn't there")
	shown.want(t, map[string]string{
		"null": "null", "vector": "null", // {} is nil, too
		"field":  string(field),
		"slash":  `{"code":-32601}`,
		"status": "9",
		"kept":   "2",
		"large":  "true",
		"next":   "2",
	})
}
