package rpc

import (
	"encoding/json" // the library's types: RawMessage and Unmarshaler
	"errors"
	"io"
	"reflect"
	"unicode/utf8"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/prism-rpc/prism-rpc/internal/panics"
)

// stream is the jsonrpc2.ObjectStream below a connection. It hands the library
// nothing but checked requests, and everything else it answers itself.
//
// The library's own decoding takes ids that it can't hold and rewrites params.
// So ReadObject gives it a constant envelope; OnRecv, which the library calls
// between ReadObject and Handle on the same goroutine, puts the real method,
// params and id in. An id travels as jsonrpc2.ID.Str with its JSON text, so
// each kind comes back as it was sent. On the way out the library calls OnSend
// with a response right before WriteObject with the same one, both under its
// send lock: OnSend keeps it, WriteObject encodes it.
type stream struct {
	limits limits
	sizes  *sizes
	frames *frames
	calls  *calls
	w      *writer
	input  io.Reader

	callbacks *callbacks

	replied func() // called after each reply
	trace   *tracer

	ended   chan struct{} // closed at the end of the input
	readErr error         // why it ended, nil for EOF; set before ended is closed
	stopped chan struct{} // closed by the connection when nothing more is to be handed out

	// Only the reading goroutine touches these.
	queue  []inbound // what the current frame holds beyond current
	now    inbound   // what ReadObject handed out last
	params json.RawMessage
	sample reflect.Value // a message that the library decoded from the constant envelope

	// Set by OnSend, used by WriteObject; the library's send lock guards them.
	sending *jsonrpc2.Response
	asking  *asked
}

// inbound is a call with its params, which lie in the frame, or a reply.
type inbound struct {
	call   *call
	params []byte
	reply  *response
}

func newStream(r io.Reader, w *writer, c *calls, b *callbacks, z *sizes, f Framing, l limits) *stream {
	s := &stream{limits: l, sizes: z, calls: c, callbacks: b, w: w, input: r, replied: func() {}, ended: make(chan struct{}), stopped: make(chan struct{})}
	s.frames = newFrames(&uncorkingReader{r, w}, f, l.maxFrame, w.setFraming)
	return s
}

// uncorkingReader lets go of replies that wait for the input to run dry.
type uncorkingReader struct {
	r io.Reader
	w *writer
}

func (u *uncorkingReader) Read(p []byte) (int, error) {
	u.w.uncork()
	return u.r.Read(p)
}

func (s *stream) hooks() []jsonrpc2.ConnOpt {
	return []jsonrpc2.ConnOpt{
		jsonrpc2.OnRecv(s.onRecv),
		jsonrpc2.OnSend(s.onSend),
		jsonrpc2.SetLogger(noLogger{}),
	}
}

// noLogger keeps the library from printing on stderr.
type noLogger struct{}

func (noLogger) Printf(string, ...any) {}

// ReadObject implements jsonrpc2.ObjectStream. It returns io.EOF once the
// connection is done, however the input ended: until then the answers to what
// was read still have to go out through the library.
func (s *stream) ReadObject(v any) (err error) {
	defer panics.Recover("reading the input", func(text string) { err = s.finish(errors.New(text)) })
	for !s.isStopped() && len(s.queue) == 0 {
		if err := s.fill(); err != nil {
			return s.finish(err)
		}
	}
	if s.isStopped() {
		return io.EOF
	}
	s.now, s.queue[0] = s.queue[0], inbound{}
	s.queue = s.queue[1:]
	s.w.corked.Store(len(s.queue) > 0 || s.frames.r.Buffered() > 0)
	if s.now.reply != nil {
		return v.(json.Unmarshaler).UnmarshalJSON(s.now.reply.envelope())
	}
	return s.copySample(v)
}

func (s *stream) isStopped() bool {
	select {
	case <-s.stopped:
		return true
	default:
		return false
	}
}

func (s *stream) finish(err error) error {
	if !errors.Is(err, io.EOF) {
		s.readErr = err
	}
	s.w.uncork()
	s.callbacks.close()
	close(s.ended)
	<-s.stopped
	return io.EOF
}

// copySample fills the library's unexported message type. Decoding even a
// constant one costs more than all else on this path, so it is done once and
// the value copied. The copies share one *Request, which is good for one
// message at a time: nothing here or in Handle keeps it.
func (s *stream) copySample(v any) error {
	message := reflect.ValueOf(v).Elem()
	if !s.sample.IsValid() {
		sample := reflect.New(message.Type())
		err := sample.Interface().(json.Unmarshaler).UnmarshalJSON([]byte(`{"method":"","id":0}`))
		if err != nil {
			return err
		}
		s.sample = sample.Elem()
	}
	message.Set(s.sample)
	return nil
}

func (s *stream) onRecv(req *jsonrpc2.Request, resp *jsonrpc2.Response) {
	if resp != nil {
		reply := s.now.reply
		resp.Result, resp.Error = &reply.result, reply.err
		s.callbacks.free(reply.slot) // the library has let go of it
		return
	}
	call := s.now.call
	s.params = s.now.params
	*req = jsonrpc2.Request{
		Method: call.method,
		Params: &s.params,
		ID:     jsonrpc2.ID{Str: call.key, IsString: true},
		Notif:  call.isNotification(),
	}
}

func (s *stream) onSend(req *jsonrpc2.Request, resp *jsonrpc2.Response) {
	s.sending = resp
	if req != nil {
		s.asking = askedOf(req)
	}
}

// WriteObject implements jsonrpc2.ObjectStream. A second answer to a request is
// refused.
func (s *stream) WriteObject(any) error {
	resp, asking := s.sending, s.asking
	s.sending, s.asking = nil, nil
	if resp == nil {
		return asking.write(s.w)
	}
	call := s.calls.claim(resp.ID.Str)
	if call == nil {
		return errAnswered
	}
	if call.batch != nil {
		return s.settle(call.batch, call.place, appendResponse(nil, resp))
	}
	s.calls.leave(call)
	defer s.calls.gone()
	defer s.replied()
	if resp.Error != nil {
		return s.w.reply(appendResponse(nil, resp))
	}
	return s.w.reply([]byte(replyHead), []byte(resp.ID.Str), []byte(replyResult), *resp.Result, []byte("}"))
}

// Close implements jsonrpc2.ObjectStream. A reader that can be closed is, if it
// has not come to its end: nothing else ends a read that blocks.
func (s *stream) Close() error {
	select {
	case <-s.ended:
		return nil
	default:
	}
	if closer, ok := s.input.(io.Closer); ok {
		return closer.Close()
	}
	return nil
}

// fill reads one frame and queues its calls. A frame that is none, or a
// message that is no request, is answered here.
func (s *stream) fill() error {
	s.w.awaitRoom()
	frame, err := s.frames.next()
	if bad, ok := errors.AsType[*wireError](err); ok {
		s.refuse(nil, bad)
		return nil
	}
	if err != nil {
		return err
	}
	s.trace.in(frame)
	s.parse(frame)
	return nil
}

// parse takes a frame that holds one JSON value, whole.
func (s *stream) parse(frame []byte) {
	if at := invalidUTF8(frame); at >= 0 {
		s.refuse(nil, parseError("bytes that are not UTF-8", at, ""))
		return
	}
	var open nesting
	start := skipWS(frame, 0)
	switch {
	case start < len(frame) && frame[start] == '{':
		e, end, err := scanEnvelope(frame, start, &open)
		if s.whole(frame, end, err) {
			s.single(&e)
		}
	case start < len(frame) && frame[start] == '[':
		elements, count, end, err := scanBatch(frame, start, s.limits.maxBatch, &open)
		if s.whole(frame, end, err) {
			s.unroll(elements, count)
		}
	default:
		end, err := scanValue(frame, start, &open)
		if s.whole(frame, end, err) {
			s.refuse(nil, new(envelope).fault(s.limits))
		}
	}
}

// whole answers a frame that is not JSON, or more than one value.
func (s *stream) whole(frame []byte, end int, err error) bool {
	if err != nil {
		s.refuse(nil, parseError(err.Error(), end, "send each message as one line of JSON, or with its length in bytes"))
		return false
	}
	if end = skipWS(frame, end); end < len(frame) {
		s.refuse(nil, parseError("more than one value", end, "send each message as one line of JSON, or with its length in bytes"))
		return false
	}
	return true
}

func invalidUTF8(frame []byte) int {
	if utf8.Valid(frame) {
		return -1
	}
	at := 0
	for {
		r, size := utf8.DecodeRune(frame[at:])
		if r == utf8.RuneError && size <= 1 {
			return at
		}
		at += size
	}
}

// single takes a message that came alone.
func (s *stream) single(e *envelope) {
	if e.isReply() {
		s.reply(e)
		return
	}
	call, bad := s.accept(e)
	if bad != nil {
		s.refuse(e.answerID(s.limits), bad)
		return
	}
	s.queue = append(s.queue, inbound{call: call, params: e.params})
}

// unroll takes the elements of a batch.
func (s *stream) unroll(elements []envelope, count int) {
	switch {
	case count == 0:
		s.refuse(nil, invalidRequest("an empty batch", ""))
		return
	case count > len(elements):
		s.refuse(nil, pastLimit("batch_too_large", "the batch has", s.limits.maxBatch, "messages"))
		return
	}
	room, ok := s.shareRoom(elements)
	if !ok {
		s.refuse(nil, pastLimit("batch_too_large", "the replies to the batch need", s.sizes.limit(), "bytes"))
		return
	}
	b := &batch{parts: make([][]byte, count), left: count, room: room}
	for place := range elements {
		s.element(b, place, &elements[place])
	}
}

// shareRoom gives each reply to the elements of a batch an equal part of one
// message beside its id. Not ok means that not even errors would fit.
func (s *stream) shareRoom(elements []envelope) (each int, ok bool) {
	left, replies := s.sizes.room()-len("]"), 0
	for i := range elements {
		e := &elements[i]
		if e.isReply() || e.id == nil && e.fault(s.limits) == nil {
			continue // not answered
		}
		replies++
		left -= max(len(e.answerID(s.limits)), len("null")) + len(",")
	}
	if replies == 0 {
		return 0, true
	}
	return left / replies, left/replies >= leastRoom
}

func (s *stream) element(b *batch, place int, e *envelope) {
	if e.isReply() {
		s.reply(e)
		s.settle(b, place, nil)
		return
	}
	call, bad := s.accept(e)
	if bad != nil {
		id := e.answerID(s.limits)
		s.settle(b, place, appendError(nil, id, bad, b.room+len(id)))
		return
	}
	s.queue = append(s.queue, inbound{call: call, params: e.params})
	if call.isNotification() {
		s.settle(b, place, nil)
		return
	}
	call.batch, call.place, call.room = b, place, b.room+len(e.id)
	b.calls = append(b.calls, call)
}

// accept makes a call of a message, or says why it is none.
func (s *stream) accept(e *envelope) (*call, *wireError) {
	if bad := e.fault(s.limits); bad != nil {
		return nil, bad
	}
	call := newCall(e.id, string(unquote(e.method)))
	if call.isNotification() {
		return call, nil
	}
	switch err := s.calls.enter(call); {
	case errors.Is(err, errInFlight):
		return nil, duplicateID()
	case err != nil:
		return nil, shuttingDown()
	}
	return call, nil
}

// refuse answers what is no request. These answers don't go through the
// library, whose ids can't be null; a failed write shows in the writer.
func (s *stream) refuse(id []byte, bad *wireError) {
	_ = s.w.reply(appendError(nil, id, bad, s.sizes.room()))
	s.replied()
}

// settle puts a reply, or nil for none, into its batch, and sends that when it
// was the last.
func (s *stream) settle(b *batch, place int, reply []byte) error {
	whole, last := b.fill(place, reply)
	if !last {
		return nil
	}
	s.calls.leave(b.calls...)
	defer s.calls.gone()
	if whole == nil { // notifications alone
		return nil
	}
	defer s.replied()
	return s.w.reply(whole)
}
