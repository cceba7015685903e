package conformance

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What was answered is on disk: a process that is killed at any moment, under
// load, loses no turn that it answered, and the next one goes on with it (U11).
func TestKilledProcessLosesNothingAnswered(t *testing.T) {
	rounds := 200
	if testing.Short() {
		rounds = 10
	}
	program, store := build(t), t.TempDir()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	kept := ledger{}
	for round := range rounds {
		killed(t, program, store, random.IntN(120), kept, round)
		if round%10 == 9 || round == rounds-1 {
			kept.check(t, program, store)
		}
	}
	assert.Greater(t, len(kept), rounds, "too few turns were answered to tell anything")
}

var loaded = []string{"a", "b", "c"}

// killed runs a process under load and kills it when it has written so many
// lines.
func killed(t *testing.T, program, store string, lines int, kept ledger, round int) {
	cmd := exec.CommandContext(t.Context(), program, "--provider=mock", "--store-dir="+store)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	go load(in, round) // ends with the process
	read := bufio.NewReader(out)
	for range lines {
		line, err := read.ReadBytes('\n')
		require.NoError(t, err)
		kept.note(t, line)
	}
	require.NoError(t, cmd.Process.Kill())
	for { // what was written before the end was answered too
		line, err := read.ReadBytes('\n')
		if err != nil {
			break
		}
		kept.note(t, line)
	}
	_ = cmd.Wait() // it was killed
}

func load(in io.WriteCloser, round int) {
	defer in.Close()
	for i := range 300 {
		session, method := loaded[i%len(loaded)], "followUp"
		if i < len(loaded) {
			method = "prompt"
		}
		_, err := fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"sessionId":%q,"input":"round %d, line %d %s"}}`+"\n",
			i, method, session, round, i, strings.Repeat("x", i*7))
		if err != nil {
			return
		}
	}
}

// A ledger holds the answered turns' texts.
type ledger map[string]string

func place(session string, turn int) string { return fmt.Sprintf("%s/%d", session, turn) }

func (l ledger) note(t *testing.T, line []byte) {
	var m incoming
	require.NoError(t, json.Unmarshal(line, &m), "%s", line)
	if m.Result == nil {
		return
	}
	var r turnResult
	require.NoError(t, json.Unmarshal(m.Result, &r, json.MatchCaseInsensitiveNames(true)))
	if !r.Committed {
		return
	}
	_, twice := l[place(r.SessionID, r.Turn)]
	require.False(t, twice, "turn %d of %s was answered twice", r.Turn, r.SessionID)
	l[place(r.SessionID, r.Turn)] = r.text()
}

// check reads all sessions and looks for each answered turn.
func (l ledger) check(t *testing.T, program, store string) {
	c := spawn(t, program, nil, "--provider=mock", "--store-dir="+store)
	found := map[string]string{}
	for _, session := range loaded {
		for after := 0; after >= 0; {
			after = c.page(session, after, found)
		}
	}
	c.close()
	for at, text := range l {
		require.Equal(t, text, found[at], "%s", at)
	}
}

// page reads a page of a session's answers; it returns where the next one
// begins, -1 behind the last.
func (c *client) page(session string, after int, found map[string]string) int {
	reply, _ := c.call("messages", map[string]any{"sessionId": session, "afterTurn": after})
	require.Nil(c.t, reply.Error)
	var page struct {
		Messages []struct {
			Turn    int
			Role    string
			Content []struct{ Text string }
		}
		NextAfterTurn *int
	}
	require.NoError(c.t, json.Unmarshal(reply.Result, &page, json.MatchCaseInsensitiveNames(true)))
	for _, m := range page.Messages {
		if m.Role == "assistant" {
			found[place(session, m.Turn)] = m.Content[0].Text
		}
	}
	if page.NextAfterTurn == nil {
		return -1
	}
	return *page.NextAfterTurn
}
