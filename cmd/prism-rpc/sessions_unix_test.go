//go:build unix

package main

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/session/filestore"
)

// storeOf is a store's folder with the logs of these sessions, each as its
// records.
func storeOf(t *testing.T, sessions map[string][]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	store, err := filestore.Open(dir, filestore.Options{})
	require.NoError(t, err)
	for id, records := range sessions {
		log, err := store.Create(id, []byte(records[0]))
		require.NoError(t, err)
		for _, record := range records[1:] {
			require.NoError(t, log.Append([]byte(record)))
		}
		require.NoError(t, log.Close())
	}
	require.NoError(t, store.Close())
	return dir
}

func header(id, at string) string {
	return `{"v":1,"t":"session","id":"` + id + `","createdAt":"` + at + `","settings":{}}`
}

const longAgo = "2020-01-02T03:04:05.000Z"

func TestSessionsShowTheTurnThatHasNotEnded(t *testing.T) {
	dir := storeOf(t, map[string][]string{"s": {
		header("s", longAgo),
		`{"v":1,"t":"started","turn":1,"runId":"a","at":"2020-01-02T03:04:06.000Z","input":[{"type":"text","text":"failed"}]}`,
		`{"v":1,"t":"failed","turn":1,"runId":"a","at":"2020-01-02T03:04:07.000Z","kind":"auth"}`,
		`{"v":1,"t":"started","turn":1,"runId":"b","at":"2020-01-02T03:04:08.000Z","input":[{"type":"text","text":"never ended"}]}`,
		`{"v":1,"t":"partial","turn":1,"runId":"b","text":"half"}`,
		`{"v":1,"t":"partial","turn":1,"runId":"b","text":" of it"}`,
	}})
	for args, want := range map[string]string{
		"show":        "[turn 1, 2020-01-02T03:04:08.000Z, not ended]\nuser: never ended\nassistant: half of it\n",
		"show --json": `{"unfinished":{"turn":1,"runId":"b","at":"2020-01-02T03:04:08.000Z","input":[{"type":"text","text":"never ended"}],"partial":"half of it"}}` + "\n",
		"export": `{"sessionId":"s","createdAt":"2020-01-02T03:04:05.000Z","turns":[],"settings":{},` +
			`"unfinished":{"turn":1,"runId":"b","at":"2020-01-02T03:04:08.000Z","input":[{"type":"text","text":"never ended"}],"partial":"half of it"}}` + "\n",
	} {
		out, err := sessionsCommand(t, dir, strings.Fields(args+" s")...)
		require.NoError(t, err, args)
		assert.Equal(t, want, out, args)
	}
}

// sessionsCommand runs prism-rpc sessions and returns what it printed.
func sessionsCommand(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	cmd := command(t)
	cmd.Args = append([]string{cmd.Args[0], "sessions", "--store-dir", dir}, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

// Reading takes no lock; a repair says who has it.
func TestSessionsWhileAnotherProcessHoldsOne(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	c := startChild(t, "--store=file", "--store-dir", dir, "--session", "held")
	c.send(t, prompt)
	c.until(t, "message_delta")
	for args, want := range map[string]string{"list": "\nheld ", "show held": "user: hi", "export held": `"unfinished":{"turn":1,`} {
		out, err := sessionsCommand(t, dir, strings.Fields(args)...)
		require.NoError(t, err, out)
		assert.Contains(t, out, want)
	}
	for _, args := range [][]string{{"repair", "held"}, {"repair", "--all"}} {
		out, err := sessionsCommand(t, dir, args...)
		require.Error(t, err, out)
		assert.Contains(t, out, "held by another process")
	}
	require.NoError(t, c.Process.Kill())
	_ = c.Wait() // says that it was killed
	_, err := sessionsCommand(t, dir, "repair", "held")
	assert.NoError(t, err)
}

// A repair calls nothing healthy that a server would not open.
func TestRepairReadsALogAsAServerDoes(t *testing.T) {
	const (
		splice  = `{"v":1,"t":"splice","serial":1,"at":"2020-01-02T03:04:06.000Z","id":"a","lifetime":"session","name":"n","content":"c"}`
		turn    = `{"v":1,"t":"turn","turn":1,"runId":"a","at":"2020-01-02T03:04:07.000Z","stopReason":"end_turn","usage":{},"injected":[],"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}`
		summary = `{"v":1,"t":"compaction","turn":1,"generation":2,"runId":"b","at":"2020-01-02T03:04:08.000Z","usage":{},"summary":{"role":"user","content":[{"type":"text","text":"short"}]}}`
	)
	healthy := []string{header("s", longAgo), splice, turn, summary}
	for claim, records := range map[string][]string{
		"a splice comes once":       append(healthy, splice),
		"generations rise":          append(healthy, strings.Replace(summary, `"generation":2`, `"generation":1`, 1)),
		"a turn holds dialogue":     append(healthy, strings.NewReplacer(`"turn":1`, `"turn":2`, `"role":"user"`, `"role":"nobody"`).Replace(turn)),
		"a splice has a heading":    append(healthy, strings.NewReplacer(`"serial":1`, `"serial":2`, `"name":"n"`, `"name":""`).Replace(splice)),
		"what was started is whole": append(healthy, `{"v":1,"t":"started","turn":2,"input":7}`),
	} {
		t.Run(claim, func(t *testing.T) {
			dir := storeOf(t, map[string][]string{"s": records, "other": {header("other", longAgo)}})
			for _, args := range [][]string{{"repair", "s"}, {"repair", "--all"}} {
				out, err := sessionsCommand(t, dir, args...)
				require.Error(t, err, out)
				assert.Contains(t, out, "prism-rpc: s: ")
				assert.NotContains(t, out, "s: nothing to repair")
				assert.Equal(t, len(args) == 2 && args[1] == "--all", strings.Contains(out, "other: nothing to repair"))
			}
			cmd := command(t, "--store=file", "--store-dir", dir)
			cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"followUp","params":{"sessionId":"s","input":"hi"}}` + "\n")
			out, err := cmd.Output()
			require.NoError(t, err)
			assert.Contains(t, string(out), `"store_error"`)
		})
	}
	out, err := sessionsCommand(t, storeOf(t, map[string][]string{"s": healthy}), "repair", "s")
	require.NoError(t, err, out)
	assert.Equal(t, "s: nothing to repair\n", out)
}

func TestRepairTellsWhatItCutOffALogThatAServerWouldNotOpen(t *testing.T) {
	dir := storeOf(t, map[string][]string{"s": {header("s", longAgo), `{"v":1,"t":"started","turn":1,"input":7}`}})
	f, err := os.OpenFile(filepath.Join(dir, "sessions", "s.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString("torn")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	out, err := sessionsCommand(t, dir, "repair", "s")
	require.Error(t, err, out)
	assert.Contains(t, out, "s: cut off 4 bytes")
	assert.Contains(t, out, "prism-rpc: s: ")
}

// Old sessions go while the process serves, never before its first reply.
func TestRetain(t *testing.T) {
	now := time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	dir := storeOf(t, map[string][]string{"old": {header("old", longAgo)}, "new": {header("new", now)}})
	kept := func(id string) bool {
		_, err := os.Stat(filepath.Join(dir, "sessions", id+".jsonl"))
		return err == nil
	}
	cmd := command(t, "--store=file", "--store-dir", dir, "--retain", "90d")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	assert.True(t, kept("old"), "nobody has asked for anything yet")
	answers := bufio.NewReader(out)
	for began := time.Now(); kept("old"); {
		require.Less(t, time.Since(began), 10*time.Second)
		_, err = in.Write([]byte(ping + "\n"))
		require.NoError(t, err)
		_, err = answers.ReadString('\n')
		require.NoError(t, err)
	}
	assert.True(t, kept("new"))
	require.NoError(t, in.Close())
	require.NoError(t, cmd.Wait())

	none := command(t, "--store=file", "--store-dir", dir)
	none.Stdin = strings.NewReader(ping + "\n")
	require.NoError(t, none.Run())
	assert.True(t, kept("new"))
}
