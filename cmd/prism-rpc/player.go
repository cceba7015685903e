package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/prism-rpc/prism-rpc/internal/config"
	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/rpc"
)

// A player sends a recording's messages to a server. So that nothing depends on
// how fast either side is, a message is sent when the server has written what
// it had before that message came, and a turn's provider call returns when the
// server has what had come before that turn's reply (paced).
type player struct {
	rec      *recording
	patience time.Duration // how long to wait for what doesn't come

	mu      sync.Mutex
	moved   chan struct{} // closed, and made anew, when anything below has changed
	got     *transcript
	fed     int               // messages that the server has begun
	pings   int               // of ours, that were answered
	held    map[string]bool   // runs whose provider call waits
	theirs  map[string]string // the recording's ids of sessions and runs, and ours
	closing bool              // nothing more is waited for

	matched int // requests of the recorded server whose counterparts are known; send's own
}

func newPlayer(rec *recording, cfg *config.Config) *player {
	return &player{
		rec: rec, patience: time.Duration(cfg.ProviderTimeout) + 5*time.Second, moved: make(chan struct{}),
		got: newTranscript(), held: map[string]bool{}, theirs: map[string]string{},
	}
}

// play plays the recording; got then is what came of it.
func (p *player) play(ctx context.Context, opts rpc.Options) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	served := make(chan struct{})
	go func() { // waited for below
		defer recovered("the replayed server")
		defer close(served)
		_ = rpc.Serve(ctx, inRead, outWrite, opts) // what it answered is what counts
		_ = inRead.Close()
		_ = outWrite.Close()
	}()
	read := make(chan struct{})
	go func() { // waited for below
		defer recovered("reading what is answered")
		defer close(read)
		p.listen(outRead)
	}()
	p.send(ctx, inWrite)
	p.finish(ctx, cancel)
	_ = inWrite.Close()
	<-served
	<-read
}

const pingID = `"prism-rpc replay `

// listen takes what the server writes.
func (p *player) listen(out io.Reader) {
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		p.change(func() {
			switch {
			case err != nil:
				p.closing = true
			case bytes.Contains(line, []byte(pingID)):
				p.pings++
			default:
				p.got.add(line)
			}
		})
		if err != nil {
			return
		}
	}
}

func (p *player) change(do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	do()
	close(p.moved)
	p.moved = make(chan struct{})
}

// wait waits until ready, which is called with mu held, or until nothing has
// happened for so long that it won't be.
func (p *player) wait(ctx context.Context, ready func() bool) {
	for {
		p.mu.Lock()
		done, moved := p.closing || ready(), p.moved
		p.mu.Unlock()
		if done {
			return
		}
		timeout := time.NewTimer(p.patience)
		select {
		case <-moved:
			timeout.Stop()
			continue
		case <-ctx.Done():
		case <-timeout.C:
		}
		timeout.Stop()
		return
	}
}

// send sends the messages, those together that came together.
func (p *player) send(ctx context.Context, in io.Writer) {
	said := newTranscript() // what the recorded server had written so far
	var news []string       // ids that it wrote about since the last message
	count, rounds := 0, 0
	for i := 0; i < len(p.rec.steps); {
		if s := p.rec.steps[i]; !s.in {
			news = append(news, mentions(said, s.written)...)
			i++
			continue
		}
		p.catchUp(ctx, said, news)
		news = nil
		p.awaitOver(ctx, count+1)
		p.awaitAsked(ctx, said)
		var text []byte
		for from := i; i < len(p.rec.steps) && p.rec.steps[i].in; i++ {
			if i > from && p.rec.needs[count+1] != nil {
				break
			}
			count++
			if line := p.rec.steps[i].line; line != nil {
				text = append(append(text, p.translate(line)...), '\n')
			}
		}
		rounds++
		text = fmt.Appendf(text, `{"jsonrpc":"2.0","id":%s%d","method":"ping"}`+"\n", pingID, rounds)
		if _, err := in.Write(text); err != nil {
			return // the server has ended
		}
		p.wait(ctx, func() bool { return p.pings >= rounds })
		p.change(func() { p.fed = count })
	}
	p.catchUp(ctx, said, news)
}

// awaitOver waits for the answers to what was over before this message took effect.
func (p *player) awaitOver(ctx context.Context, place int) {
	for _, a := range p.rec.needs[place] {
		p.wait(ctx, func() bool { return len(p.got.replies[a.id]) > a.nth })
	}
}

// mentions adds a line to a transcript and returns the ids of the requests that it
// is about.
func mentions(t *transcript, line []byte) []string {
	ids := t.add(line)
	for _, m := range messages[message](line) {
		if id, ok := t.asked[m.Params.RunID]; ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// catchUp waits until the server has written about these requests what the
// recorded one had, and learns what it calls things.
func (p *player) catchUp(ctx context.Context, said *transcript, ids []string) {
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		if p.rec.methods[id] == nil {
			continue // asked by a message that is not sent
		}
		p.wait(ctx, func() bool { return p.isLevel(said, id) })
		p.change(func() { p.learn(said, id) })
	}
}

func (p *player) isLevel(said *transcript, id string) bool {
	replies := len(said.replies[id])
	if p.rec.stoppedByItsEnd(id, replies-1) {
		return len(p.got.replies[id]) >= replies-1 // finish stops ours
	}
	if len(p.got.replies[id]) < replies {
		return false
	}
	// The events of a turn come before its reply: after that, one that was
	// cancelled sooner than the recorded one has no more.
	if len(p.got.replies[id]) > replies || said.over[id] {
		return true
	}
	n := len(said.turns[id])
	if len(p.got.turns[id]) < n {
		return false
	}
	was, is := said.turns[id][n-1], p.got.turns[id][n-1]
	return is.ended || !was.ended && (p.held[is.runID] || len(is.types) >= len(was.types))
}

func (p *player) learn(said *transcript, id string) {
	for i := range min(len(said.replies[id]), len(p.got.replies[id])) {
		was, is := said.replies[id][i], p.got.replies[id][i]
		p.same(was.sessionID, is.sessionID)
		p.same(was.runID, is.runID)
	}
	for i := range min(len(said.turns[id]), len(p.got.turns[id])) {
		was, is := said.turns[id][i], p.got.turns[id][i]
		p.same(was.sessionID, is.sessionID)
		p.same(was.runID, is.runID)
	}
}

func (p *player) same(was, is string) {
	if was != is && was != "" && is != "" {
		p.theirs[was] = is
	}
}

// quoted is a string of a message that can be an id that a server made.
var quoted = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"[A-Za-z0-9_-]{6,22}"`) })

// marker stands for a secret.
var marker = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"\[REDACTED[^"]*\]"`) })

// translate is a recorded message with the ids of the server that it is sent
// to, with secrets in place of the marks that stand for them, and with the
// events that tell whose turn is whose.
func (p *player) translate(line []byte) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if bytes.Contains(line, []byte(`"redact"`)) {
		n := 0
		line = marker().ReplaceAllFunc(line, func([]byte) []byte {
			n++
			return []byte(`"secret of a replay ` + strconv.Itoa(n) + `"`)
		})
	}
	if bytes.Contains(line, []byte(`"initialize"`)) {
		line = bytes.ReplaceAll(line, []byte(`"turn_started"`), []byte(`"-"`))
	}
	return quoted().ReplaceAllFunc(line, func(id []byte) []byte {
		if is, ok := p.theirs[string(id[1:len(id)-1])]; ok {
			return []byte(`"` + is + `"`)
		}
		return id
	})
}

// finish waits for the answers that the recorded server had given, and cancels
// what that server was cancelled at.
func (p *player) finish(ctx context.Context, cancel context.CancelFunc) {
	left := false
	for _, id := range p.rec.ids {
		n := len(p.rec.said.replies[id])
		if n > 0 && p.rec.stoppedByItsEnd(id, n-1) {
			n, left = n-1, true
		}
		p.wait(ctx, func() bool { return len(p.got.replies[id]) >= n })
	}
	if left {
		cancel() // the calls that are held see it
		return
	}
	p.change(func() { p.closing = true })
}

// stoppedByItsEnd tells whether the nth reply to id is that of a turn that no
// message cancelled: the end of the recorded server did.
func (r *recording) stoppedByItsEnd(id string, n int) bool {
	if n < 0 || n >= len(r.said.replies[id]) {
		return false
	}
	return r.said.replies[id][n].cancelled() && r.after[id][n] == r.count && r.ends < r.places[id]
}

// paced is a provider whose calls return no earlier than they may.
type paced struct {
	provider.Provider
	player *player
}

func (g *paced) Stream(ctx context.Context, req *provider.Request, emit func(provider.Event) error) (*provider.Result, error) {
	result, err := g.Provider.Stream(ctx, req, emit)
	if req.RunID == "" {
		return result, err
	}
	g.player.hold(ctx, req.RunID)
	if ctx.Err() != nil && err == nil {
		err = &provider.Error{Class: provider.ClassInterrupted, Message: "cancelled", Err: context.Cause(ctx)}
		result = nil
	}
	return result, err
}

// hold waits until the run may go on. One that is cancelled doesn't end sooner
// than the recorded one either.
func (p *player) hold(ctx context.Context, run string) {
	p.change(func() { p.held[run] = true })
	defer p.change(func() { delete(p.held, run) })
	cancelled := ctx.Done()
	for {
		p.mu.Lock()
		free, moved := p.closing || p.mayEnd(run, cancelled == nil), p.moved
		p.mu.Unlock()
		if free {
			return
		}
		select {
		case <-moved:
		case <-cancelled:
			cancelled = nil
		}
	}
}

// mayEnd tells whether the server has what the recorded one had when the run's
// turn was over. A turn that was cancelled there waits for that.
func (p *player) mayEnd(run string, cancelled bool) bool {
	id, known := p.got.asked[run]
	if !known {
		return false // its first event is on the way
	}
	n := len(p.got.replies[id])
	if n >= len(p.rec.until[id]) || p.rec.loose[id] {
		return true // the trace has no answer, or that of another turn
	}
	return (cancelled || !p.rec.said.replies[id][n].cancelled()) && p.fed >= p.rec.until[id][n]
}
