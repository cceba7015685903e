// Package talk plays recorded conversations against a server, in fake time.
// Only tests use it.
//
// A conversation is a text file of lines:
//
//	# a comment
//	> {"jsonrpc":"2.0",…}   sent; lines that follow each other go in one write
//	< {"jsonrpc":"2.0",…}   must come next; … stands for any text
//	* {"jsonrpc":"2.0",…}   must come among the next ones; neighbours in any order
//	~ 59s                   time passes
//	. eof                   the input ends here, not at the end of the file
//
// Whatever comes beyond the last < line is a failure. Files for the server's
// set-up may follow in txtar form.
package talk

import (
	"bufio"
	"context"
	"flag"
	"io"
	"os"
	"regexp"
	"slices"
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
	old   []string // the lines that were expected last, when recording
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
	eof := false
	for len(script) > 0 {
		kind, _, _ := strings.Cut(script[0], " ")
		n := 1
		for n < len(script) && strings.HasPrefix(script[n], kind+" ") {
			n++
		}
		var group []string
		for _, line := range script[:n] {
			_, rest, _ := strings.Cut(line, " ")
			group = append(group, rest)
		}
		eof = eof || kind == "."
		p.step(kind, group, script[:n])
		script = script[n:]
	}
	if !eof {
		require.NoError(p.t, p.in.Close())
	}
	p.close()
}

// step does what neighbouring lines of one kind ask for.
func (p *player) step(kind string, group, lines []string) {
	switch kind {
	case "<", "*":
		if *update {
			p.old = append(p.old, lines...)
			return
		}
		p.expect(kind == "*", group)
		return
	case ">":
		p.listenFirst()
		_, err := io.WriteString(p.in, strings.Join(group, "\n")+"\n")
		require.NoError(p.t, err)
	case "~":
		p.listenFirst()
		for _, d := range group {
			pause, err := time.ParseDuration(d)
			require.NoError(p.t, err)
			time.Sleep(pause)
		}
	case ".":
		p.listenFirst()
		require.NoError(p.t, p.in.Close())
	default:
		require.True(p.t, kind == "" || kind[0] == '#', "%q is no line of a conversation", lines[0])
	}
	p.heard = append(p.heard, lines...)
}

// listenFirst records, when a conversation is recorded, what came so far.
func (p *player) listenFirst() {
	if !*update {
		return
	}
	synctest.Wait()
	for {
		select {
		case line, ok := <-p.lines:
			if ok {
				p.heard = append(p.heard, p.steady(line))
				continue
			}
		default:
		}
		p.old = nil
		return
	}
}

// expect takes as many lines as are wanted and compares them.
func (p *player) expect(anyOrder bool, wanted []string) {
	synctest.Wait()
	for _, want := range wanted {
		var got string
		select {
		case line, ok := <-p.lines:
			require.True(p.t, ok, "the server ended; expected %s", want)
			got = line
		default:
			require.Fail(p.t, "nothing came", "expected %s", want)
		}
		if !anyOrder {
			require.Regexp(p.t, pattern(want), got)
			continue
		}
		at := slices.IndexFunc(wanted, func(w string) bool { return pattern(w).MatchString(got) })
		require.GreaterOrEqual(p.t, at, 0, "not expected here: %s", got)
	}
}

// close lets the server end by itself and takes what it still says.
func (p *player) close() {
	err := <-p.ended
	var rest []string
	for line := range p.lines {
		rest = append(rest, line)
		p.heard = append(p.heard, p.steady(line))
	}
	if !*update {
		require.NoError(p.t, err)
		require.Empty(p.t, rest, "lines that the conversation does not expect")
	}
}

func pattern(want string) *regexp.Regexp {
	parts := strings.Split(want, "…")
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(part)
	}
	return regexp.MustCompile("^" + strings.Join(parts, ".*") + "$")
}

var volatile = regexp.MustCompile(`("runId":|"sessionId":|"sha256":)("[A-Za-z0-9_-]{8}"|"[A-Za-z0-9_-]{22}"|"[0-9a-f]{64}")`)

// steady is a line to record: an old one that it matches, else the line
// without what changes from run to run.
func (p *player) steady(got string) string {
	for _, old := range p.old {
		if _, want, _ := strings.Cut(old, " "); pattern(want).MatchString(got) {
			return old
		}
	}
	return "< " + volatile.ReplaceAllString(got, `$1"…"`)
}
