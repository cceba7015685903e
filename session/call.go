package session

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
)

// A sink takes a call's pieces, and none once it is closed.
type sink interface {
	emit(provider.Event) error
	close()
}

// callInto asks the provider. A provider that has not returned CancelGrace after
// the run was cancelled is left behind: what it still says is dropped.
func (r *Run) callInto(req *provider.Request, out sink) (*provider.Result, error) {
	type returned struct {
		result *provider.Result
		err    error
	}
	back := make(chan returned, 1)
	req = r.withImages(req)
	go func() { // callInto waits for it, or leaves it behind
		result, err := ask(r.ctx, r.provider, req, out.emit)
		back <- returned{result, err}
	}()
	select {
	case b := <-back:
		out.close()
		return b.result, b.err
	case <-r.ctx.Done():
	}
	grace := time.NewTimer(r.session.manager.cfg.CancelGrace)
	defer grace.Stop()
	select {
	case b := <-back:
		out.close()
		return b.result, b.err
	case <-grace.C:
		out.close()
		return nil, context.Cause(r.ctx)
	}
}

// ask calls a provider and holds it to its contract.
func ask(ctx context.Context, p provider.Provider, req *provider.Request, emit func(provider.Event) error) (res *provider.Result, err error) {
	defer func() {
		if v := recover(); v != nil {
			res, err = nil, fmt.Errorf("provider %s panicked with a %T", p.Name(), v)
		}
	}()
	res, err = p.Stream(ctx, req, emit)
	if err == nil && res == nil {
		return nil, fmt.Errorf("provider %s returned neither a result nor an error", p.Name())
	}
	if err != nil {
		return nil, err
	}
	own := *res
	return &own, nil
}

// output takes a provider's pieces, hides secrets that they may share, and
// passes them on.
type output struct {
	run *Run

	mu       sync.Mutex
	stream   *redact.Stream
	thinking *redact.Stream
	room     int  // bytes that the answer may still take
	begun    bool // the provider has said something
	closed   bool
	partial  partial
	heard    time.Time   // when the provider said something last, or was asked
	silence  *time.Timer // until somebody is told that it says nothing
}

func (r *Run) newOutput() *output {
	o := &output{
		run: r, partial: partial{run: r}, stream: r.redactor.Stream(), thinking: r.redactor.Stream(),
		room: r.session.manager.cfg.Limits.MaxAnswer, heard: time.Now(),
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.silence = time.AfterFunc(silenceTold, o.silent)
	return o
}

// silenceTold is after how long a silence of the provider its client is told,
// and told again (protocol §5).
const silenceTold = 15 * time.Second

// silent tells that the provider has said nothing for a while.
func (o *output) silent() {
	defer o.run.session.manager.guard("watching for silence")
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	quiet := time.Since(o.heard)
	if quiet < silenceTold {
		o.silence.Reset(silenceTold - quiet)
		return
	}
	o.run.emit(&schema.WaitingEvent{EventHeader: o.run.header(schema.EventWaiting, o.run.turn), OnMs: quiet.Milliseconds()})
	o.silence.Reset(silenceTold)
}

func (o *output) emit(e provider.Event) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.closed:
		return errLate
	case len(e.Text) > o.room:
		return errAnswer
	}
	o.room -= len(e.Text)
	o.heard = time.Now()
	o.begun = o.begun || e.Kind != provider.EventRetry
	switch e.Kind {
	case provider.EventText:
		o.say(o.stream.Write(e.Text))
	case provider.EventThinking:
		o.think(o.thinking.Write(e.Text))
	case provider.EventRetry:
		o.run.emitRetry(e.Retry)
	}
	return nil
}

// close lets out what the redactors held back and takes no more.
func (o *output) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.silence.Stop()
	o.think(o.thinking.Flush())
	o.say(o.stream.Flush())
	o.partial.end()
	o.run.tally.at(whereOutput).Add(o.stream.Tally())
	o.run.tally.at(whereOutput).Add(o.thinking.Tally())
}

func (o *output) say(text string) {
	if text == "" {
		return
	}
	r := o.run
	r.speaking.Lock()
	defer r.speaking.Unlock()
	r.session.mu.Lock()
	r.text.WriteString(text)
	r.session.mu.Unlock()
	o.partial.add(text)
	r.emit(&schema.MessageDelta{EventHeader: r.header(schema.EventMessageDelta, r.turn), Text: text})
}

func (o *output) think(text string) {
	if text != "" {
		r := o.run
		r.emit(&schema.ThinkingDelta{EventHeader: r.header(schema.EventThinkingDelta, r.turn), Text: text})
	}
}

func (r *Run) emitRetry(e provider.Retry) {
	r.emit(&schema.RetryEvent{
		EventHeader: r.header(schema.EventRetry, r.turn), Attempt: e.Attempt, DelayMs: e.Delay.Milliseconds(), Class: string(e.Class),
	})
}

// answer is the text so far.
func (r *Run) answer() string {
	r.session.mu.Lock()
	defer r.session.mu.Unlock()
	return r.text.String()
}
