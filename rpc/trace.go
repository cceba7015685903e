package rpc

import (
	"bytes"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/zap"

	"github.com/prism-rpc/prism-rpc/internal/panics"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
)

const (
	maxTraceText    = 4 << 10  // bytes of a string in a traced message
	maxTraceQueue   = 64 << 20 // bytes of messages that wait to be traced, beside one
	maxTraceSecrets = 4096     // values that requests bring
	traceEnd        = 500 * time.Millisecond
)

// A tracer writes a line of JSON for each message, {at, dir, bytes, msg}, in
// their order, in the background: whoever reads or writes messages does not
// wait for it. What it can't keep up with is dropped, and a line says so.
//
// It redacts with what it was made with and with each value that a request
// before brought, or brings itself: more than the connection hides, never less.
type tracer struct {
	logger *zap.Logger

	// Only its goroutine touches these.
	out      io.Writer
	redactor *redact.Redactor
	secrets  int

	mu      sync.Mutex
	moved   sync.Cond // waiting or closed has changed
	waiting []traced
	bytes   int // of waiting
	dropped int
	closed  bool
	done    chan struct{} // closed when the goroutine has ended
}

// traced is one message, or the number of those that were dropped.
type traced struct {
	at      time.Time
	in      bool
	message []byte
	dropped int
}

// startTracer begins to trace to out. A nil tracer traces nothing. stop ends
// its goroutine.
func startTracer(out io.Writer, red *redact.Redactor, logger *zap.Logger) *tracer {
	if out == nil {
		return nil
	}
	t := &tracer{out: out, redactor: red, logger: logger, done: make(chan struct{})}
	t.moved.L = &t.mu
	go t.loop() // stop waits for it
	return t
}

// in traces a message that was read. It is copied.
func (t *tracer) in(message []byte) {
	if t != nil {
		t.add(true, message)
	}
}

// outgoing traces the messages that a chunk of the output holds. They are copied.
func (t *tracer) outgoing(chunk []byte, f Framing) {
	if t == nil {
		return
	}
	for len(chunk) > 0 {
		var message []byte
		message, chunk = firstMessage(chunk, f)
		t.add(false, message)
	}
}

// firstMessage cuts the first message off a chunk of framed ones.
func firstMessage(chunk []byte, f Framing) (message, rest []byte) {
	if f != FramingHeaders {
		message, rest, _ = bytes.Cut(chunk, []byte("\n"))
		return message, rest
	}
	header, rest, _ := bytes.Cut(chunk, []byte("\r\n\r\n"))
	n, err := headerLength(header, -1)
	if err != nil {
		panic("a header of our own: " + err.Error())
	}
	return rest[:n], rest[n:]
}

func (t *tracer) add(in bool, message []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed:
	case t.bytes > 0 && t.bytes+len(message) > maxTraceQueue:
		t.dropped++
	default:
		t.waiting = append(t.waiting, traced{at: time.Now(), in: in, message: bytes.Clone(message), dropped: t.dropped})
		t.bytes += len(message)
		t.dropped = 0
		t.moved.Signal()
	}
}

// stop writes what waits, for a while.
func (t *tracer) stop() {
	if t == nil {
		return
	}
	t.mu.Lock()
	t.closed = true
	t.moved.Signal()
	t.mu.Unlock()
	timeout := time.NewTimer(traceEnd)
	defer timeout.Stop()
	select {
	case <-t.done:
	case <-timeout.C:
		t.logger.Warn("the trace was not written to its end")
	}
}

// loop writes until stop, or until a write fails, of which it logs.
func (t *tracer) loop() {
	defer close(t.done)
	defer panics.Recover("the trace", func(text string) {
		t.logger.Error(text)
		t.end()
	})
	for {
		batch := t.take()
		if batch == nil {
			return
		}
		for i := range batch {
			if _, err := t.out.Write(t.line(&batch[i])); err != nil {
				t.logger.Error("the trace can't be written and ends here", zap.Error(err))
				t.end()
				return
			}
		}
	}
}

// take waits for messages; nil is the end.
func (t *tracer) take() []traced {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.waiting) == 0 {
		if t.closed {
			return nil
		}
		t.moved.Wait()
	}
	batch := t.waiting
	t.waiting, t.bytes = nil, 0
	return batch
}

func (t *tracer) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed, t.waiting, t.bytes = true, nil, 0
}

// line is what the trace says of a message.
func (t *tracer) line(m *traced) []byte {
	var out []byte
	if m.dropped > 0 {
		out = append(out, `{"dropped":`...)
		out = append(strconv.AppendInt(out, int64(m.dropped), 10), "}\n"...)
	}
	out = append(out, `{"at":"`...)
	out = m.at.UTC().AppendFormat(out, "2006-01-02T15:04:05.000Z07:00")
	dir := "out"
	if m.in {
		dir = "in"
	}
	out = append(append(out, `","dir":"`...), dir...)
	out = strconv.AppendInt(append(out, `","bytes":`...), int64(len(m.message)), 10)
	out = append(out, `,"msg":`...)
	out = append(out, t.shown(m)...)
	return append(out, "}\n"...)
}

// shown is the message as the trace may show it: redacted, its strings cut. A
// line that is no message is a string.
func (t *tracer) shown(m *traced) []byte {
	message, ok := compact(m.message)
	if !ok {
		return t.shownText(m.message)
	}
	if m.in && !t.learn(message) {
		return []byte(hiddenMessage)
	}
	short, err := bound{text: maxTraceText}.abridge(t.redactor.JSON(message, nil))
	if err != nil { // too deep: whatever it says, it was refused
		return t.shownText(message)
	}
	return short
}

// hiddenMessage stands for what can't be redacted for sure.
const hiddenMessage = `"a message that may hold secrets"`

// shownText is a line that is no message, as a string. Escapes in it may hide
// a value from the redactor; and what "redact" brings can't be read.
func (t *tracer) shownText(line []byte) []byte {
	plain := asciiEscape().ReplaceAllStringFunc(string(line), func(escape string) string {
		c, _ := strconv.ParseUint(escape[len(`\u`):], 16, 8)
		return string(rune(c))
	})
	if strings.Contains(plain, "redact") || plain != string(line) && t.redactor.Contains(plain) {
		return []byte(hiddenMessage)
	}
	return cutText(t.redactor.Text(string(line), nil), maxTraceText)
}

// asciiEscape is made when a trace first needs it.
var asciiEscape = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\\u00[2-7][0-9A-Fa-f]`) })

// compact is a message on one line; not ok if it is none.
func compact(raw []byte) (line []byte, ok bool) {
	line = bytes.TrimSpace(raw)
	if isLine(line) {
		return line, true
	}
	if end, err := scanValue(line, 0, new(nesting)); err != nil || end < len(line) || !utf8.Valid(line) {
		return nil, false
	}
	line, err := jsontext.AppendFormat(nil, line, outgoing) // a frame may hold newlines
	return line, err == nil
}

// bringing is where requests have values to redact.
type bringing struct {
	Params struct {
		Redact  jsontext.Value `json:"redact"`
		Options struct {
			Redact jsontext.Value `json:"redact"`
		} `json:"initializationOptions"`
		Meta struct {
			Prism struct {
				Redact jsontext.Value `json:"redact"`
			} `json:"prism"`
		} `json:"_meta"`
	} `json:"params"`
}

// learn takes the values to redact that a message brings. False means that
// they can't be known, so that the message can't be shown.
func (t *tracer) learn(message []byte) bool {
	if !bytes.Contains(message, []byte("redact")) && !bytes.Contains(message, []byte(`\u`)) {
		return true
	}
	requests := make([]bringing, 1)
	into := any(&requests[0])
	if message[0] == '[' {
		into = &requests
	}
	if err := json.Unmarshal(message, into, jsontext.AllowInvalidUTF8(true)); err != nil {
		return !bytes.Contains(message, []byte("redact")) && !asciiEscape().Match(message) // nor, maybe, in a name
	}
	for _, r := range requests {
		p := r.Params
		for _, values := range []jsontext.Value{p.Redact, p.Options.Redact, p.Meta.Prism.Redact} {
			if values != nil && !t.hide(values) {
				return false
			}
		}
	}
	return true
}

func (t *tracer) hide(raw jsontext.Value) bool {
	var told []schema.SecretValue
	if err := json.Unmarshal(raw, &told, jsontext.AllowInvalidUTF8(true), json.RejectUnknownMembers(true)); err != nil {
		return false
	}
	values := make([]redact.Value, len(told))
	for i, v := range told {
		values[i] = redact.Value{Name: v.Name, Secret: redact.NewSecret(v.Value)}
	}
	red, err := t.redactor.With(values...)
	if err != nil {
		return false
	}
	if red != t.redactor {
		t.secrets += len(values)
	}
	if t.secrets > maxTraceSecrets {
		return false
	}
	t.redactor = red
	return true
}
