// Package talk plays recorded conversations against a server, in fake time.
// Only tests use it.
//
// A conversation is a text file of lines:
//
//	# a comment
//	> {"jsonrpc":"2.0",…}   sent; lines that follow each other go in one write
//	< {"jsonrpc":"2.0",…}   must come next; … stands for any text
//	~ 59s                   time passes
//	. eof                   the input ends here, not at the end of the file
//
// Whatever comes beyond the last < line is a failure. Files for the server's
// set-up may follow in txtar form.
package talk

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the < lines of conversations; read the diff against the protocol")

// Serve answers one client, as rpc.Serve does. Files are those of the
// conversation.
type Serve func(ctx context.Context, r io.Reader, w io.Writer) error

// Play plays the conversation in the file at path. setUp makes the server from
// the conversation's files; it runs inside the bubble.
func Play(t *testing.T, path string, setUp func(t *testing.T, files map[string][]byte) Serve) {
	archive, err := txtar.ParseFile(path)
	require.NoError(t, err)
	files := map[string][]byte{}
	for _, f := range archive.Files {
		files[f.Name] = f.Data
	}
	synctest.Test(t, func(t *testing.T) {
		p := newPlayer(t, setUp(t, files))
		p.play(strings.Split(strings.TrimSuffix(string(archive.Comment), "\n"), "\n"))
		if *update && !t.Failed() {
			archive.Comment = []byte(strings.Join(p.heard, "\n") + "\n")
			require.NoError(t, os.WriteFile(path, txtar.Format(archive), 0o644))
		}
	})
}

type player struct {
	t     *testing.T
	in    *io.PipeWriter
	lines chan string
	ended chan error
	heard []string // the conversation as it went
}

func newPlayer(t *testing.T, serve Serve) *player {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	p := &player{t: t, in: inW, lines: make(chan string, 100_000), ended: make(chan error, 1)}
	go func() { // play waits for it
		err := serve(t.Context(), inR, outW)
		outW.Close()
		inR.Close()
		p.ended <- err
	}()
	go p.listen(outR) // ends with the server
	return p
}

func (p *player) listen(out io.Reader) {
	defer close(p.lines)
	r := bufio.NewReader(out)
	for {
		line, err := r.ReadString('\n')
		if line != "" {
			p.lines <- strings.TrimSuffix(line, "\n")
		}
		if err != nil {
			return
		}
	}
}

func (p *player) play(script []string) {
	var pending bytes.Buffer
	eof := false
	for n, line := range script {
		kind, rest, _ := strings.Cut(line, " ")
		if kind != ">" {
			p.send(&pending)
		}
		switch kind {
		case ">":
			pending.WriteString(rest + "\n")
		case "<":
			p.expect(n+1, rest)
			continue
		case "~":
			d, err := time.ParseDuration(rest)
			require.NoError(p.t, err, "line %d", n+1)
			time.Sleep(d)
		case ".":
			require.Equal(p.t, "eof", rest, "line %d", n+1)
			require.NoError(p.t, p.in.Close())
			eof = true
		default:
			require.True(p.t, line == "" || kind[0] == '#', "line %d: %q is not of a conversation", n+1, line)
		}
		p.heard = append(p.heard, line)
	}
	p.send(&pending)
	if !eof {
		require.NoError(p.t, p.in.Close())
	}
	p.close()
}

func (p *player) send(pending *bytes.Buffer) {
	if pending.Len() == 0 {
		return
	}
	_, err := p.in.Write(pending.Bytes())
	require.NoError(p.t, err)
	pending.Reset()
}

func (p *player) expect(n int, want string) {
	synctest.Wait()
	select {
	case got, ok := <-p.lines:
		if *update {
			if ok {
				p.heard = append(p.heard, "< "+steady(want, got))
			}
			return
		}
		require.True(p.t, ok, "line %d: the server ended; expected %s", n, want)
		require.Regexp(p.t, pattern(want), got, "line %d", n)
		p.heard = append(p.heard, "< "+want)
	default:
		require.True(p.t, *update, "line %d: nothing came; expected %s", n, want)
	}
}

// close lets the server end by itself and takes what it still says.
func (p *player) close() {
	err := <-p.ended
	var rest []string
	for line := range p.lines {
		rest = append(rest, line)
	}
	if *update {
		for _, line := range rest {
			p.heard = append(p.heard, "< "+steady("", line))
		}
		return
	}
	require.NoError(p.t, err)
	require.Empty(p.t, rest, "lines that the conversation does not expect")
}

func pattern(want string) *regexp.Regexp {
	parts := strings.Split(want, "…")
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(part)
	}
	return regexp.MustCompile("^" + strings.Join(parts, ".*") + "$")
}

var volatile = regexp.MustCompile(`("runId":|"sessionId":|"sha256":)("[A-Za-z0-9_-]{8}"|"[A-Za-z0-9_-]{22}"|"[0-9a-f]{64}")`)

// steady is a line to record: the old one while it matches, else the new one
// without what changes from run to run.
func steady(old, got string) string {
	if old != "" && pattern(old).MatchString(got) {
		return old
	}
	return volatile.ReplaceAllString(got, `$1"…"`)
}
