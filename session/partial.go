package session

import (
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/prism-rpc/prism-rpc/schema"
)

// partialEvery is how much of a running turn's answer the end of the process
// can lose.
const partialEvery = 250 * time.Millisecond

// partial keeps a running turn's answer in the log while it comes, so that a
// turn which the end of the process cuts off is named with its text. Nothing
// waits for it.
type partial struct {
	run *Run

	mu      sync.Mutex // held while a record is written, so that records keep the text's order
	pending strings.Builder
	timer   *time.Timer // runs while something is pending
	ended   bool
}

func (p *partial) add(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pending.WriteString(text)
	if p.timer == nil {
		p.timer = time.AfterFunc(partialEvery, p.save) // ends by itself, or does nothing after end
	}
}

func (p *partial) save() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	text := p.pending.String()
	p.pending.Reset()
	p.timer = nil
	r := p.run
	err := r.session.append(&schema.PartialRecord{RecordHead: head(schema.RecordPartial), Turn: r.turn, RunID: r.id, Text: text})
	if err != nil {
		r.log(zap.WarnLevel, "a piece of an answer was not kept", err)
	}
}

// end keeps nothing more: the turn's own record will hold the whole text.
func (p *partial) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	if p.timer != nil {
		p.timer.Stop()
	}
}
