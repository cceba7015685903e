// Package mock is a provider that needs no network: it tells what it was asked
// and what was injected, or plays a script of answers, delays and faults.
package mock

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/schema"
)

// maxKept bounds the requests that a Provider remembers; past it, it forgets
// the older half.
const maxKept = 10_000

// DefaultIdle is how long a stalled entry waits before it times out.
const DefaultIdle = 60 * time.Second

// ignoreFor is how long an entry with IgnoreCancel runs on after its text.
const ignoreFor = 10 * time.Second

// A Provider answers from its script, and after that by itself. It is safe for
// concurrent use.
type Provider struct {
	idle     time.Duration
	forgets  bool          // what it is asked
	released chan struct{} // closed by Close

	mu       sync.Mutex
	script   []*scripted
	requests []*provider.Request
	closed   bool
}

// An Option sets up a Provider.
type Option func(*Provider)

// WithScript plays entries, in order, one for each call: first those whose
// Match fits the call's input.
func WithScript(entries []Entry) Option {
	return func(p *Provider) {
		for _, e := range entries {
			p.script = append(p.script, &scripted{Entry: e})
		}
	}
}

// WithIdleTimeout sets the idle timeout: 0 is DefaultIdle, negative is none.
func WithIdleTimeout(d time.Duration) Option {
	return func(p *Provider) {
		if d != 0 {
			p.idle = d
		}
	}
}

// WithoutRequests remembers no request, for a program that runs for long and
// does not look at them.
func WithoutRequests() Option { return func(p *Provider) { p.forgets = true } }

// New makes a provider.
func New(opts ...Option) *Provider {
	p := &Provider{idle: DefaultIdle, released: make(chan struct{})}
	for _, o := range opts {
		o(p)
	}
	return p
}

// Name is "mock".
func (p *Provider) Name() string { return "mock" }

// Close lets go of every call that stalls or ignores its cancellation, now and
// later.
func (p *Provider) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.closed = true
		close(p.released)
	}
}

// Requests returns what was asked, in order, unless WithoutRequests was given;
// of more than 10,000 requests, the newest 5,000 at least. They must not be
// changed.
func (p *Provider) Requests() []*provider.Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// Stream makes one call.
func (p *Provider) Stream(ctx context.Context, req *provider.Request, emit func(provider.Event) error) (*provider.Result, error) {
	entry, ok := p.next(req)
	if !ok {
		entry = echo(req)
	}
	if entry.Then == IgnoreCancel {
		ctx = context.WithoutCancel(ctx)
	}
	c := call{p: p, entry: entry, emit: emit}
	err := c.play(ctx)
	if entry.Then != None {
		err = c.fault(ctx, err)
	}
	if err == nil && entry.Error != nil {
		failed := *entry.Error
		err = &failed
	}
	if err != nil {
		return nil, err
	}
	return result(entry, req), nil
}

// next notes req and takes the entry that answers it.
func (p *Provider) next(req *provider.Request) (Entry, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.note(req)
	input := inputOf(req)
	for _, s := range p.script {
		if s.Match != nil && s.left() && s.Match.MatchString(input) {
			return s.use(), true
		}
	}
	for _, s := range p.script {
		if s.Match == nil && s.left() {
			return s.use(), true
		}
	}
	return Entry{}, false
}

// note remembers req; mu is held.
func (p *Provider) note(req *provider.Request) {
	if p.forgets {
		return
	}
	if len(p.requests) == maxKept {
		p.requests = slices.Delete(p.requests, 0, maxKept/2)
	}
	p.requests = append(p.requests, req)
}

// scripted is an entry with the number of calls that it has answered.
type scripted struct {
	Entry
	used int
}

func (s *scripted) left() bool { return s.Repeat || s.used < max(s.Times, 1) }

func (s *scripted) use() Entry {
	s.used++
	return s.Entry
}

func result(e Entry, req *provider.Request) *provider.Result {
	r := &provider.Result{StopReason: e.StopReason}
	if r.StopReason == "" {
		r.StopReason = schema.StopEndTurn
	}
	if e.Usage != nil {
		r.Usage = *e.Usage
		return r
	}
	in, out := tokens(requestBytes(req)), tokens(len(e.answer()))
	total := in + out
	r.Usage = schema.Usage{InputTokens: &in, OutputTokens: &out, TotalTokens: &total}
	return r
}
