package rpc

import (
	encodingjson "encoding/json" // the library's RawMessage
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/prism-rpc/prism-rpc/schema"
)

// eventHead begins each event; its params follow.
const eventHead = `{"jsonrpc":"2.0","method":"event","params":`

// events numbers the events of each session and gives them to the writer.
type events struct {
	w     *writer
	sizes *sizes

	mu       sync.Mutex
	sessions map[string]*eventTail
	excluded map[string]bool
	scratch  []byte
}

// An eventTail is the newest event of a session on this connection. It stays as
// long as that.
type eventTail struct {
	seq  uint64
	open *openDelta // nil: nothing may become part of it
}

// An openDelta is an event that more text of its run and type may become part
// of.
type openDelta struct {
	ref   deltaRef
	runID string
	kind  schema.EventType
}

func newEvents(w *writer, z *sizes) *events {
	return &events{w: w, sizes: z, sessions: map[string]*eventTail{}, excluded: map[string]bool{}}
}

// exclude takes event types that are not to be sent; others mean nothing.
func (s *events) exclude(names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range names {
		s.excluded[name] = true
	}
}

func (s *events) lastSeq(sessionID string) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if tail := s.sessions[sessionID]; tail != nil {
		tail.open = nil // who knows the number takes the event as it is now
		return tail.seq
	}
	return 0
}

// send numbers an event and queues it. A delta may become part of the one
// before it instead, and then takes no number.
func (s *events) send(ev schema.Event) error {
	h := ev.Header()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.excluded[string(h.Type)] {
		return nil
	}
	tail := s.sessions[h.SessionID]
	if tail == nil {
		tail = &eventTail{}
		s.sessions[h.SessionID] = tail
	}
	switch ev := ev.(type) {
	case *schema.MessageDelta:
		s.deltaLocked(tail, h, ev.Text)
		return nil
	case *schema.ThinkingDelta:
		s.deltaLocked(tail, h, ev.Text)
		return nil
	}
	return s.eventLocked(tail, ev)
}

func (s *events) eventLocked(tail *eventTail, ev schema.Event) error {
	ev.Header().Seq = tail.seq + 1
	room := s.sizes.room() - len(eventHead) - len("}")
	err := fitted(ev, room, func(params encodingjson.RawMessage) error {
		s.w.event([]byte(eventHead), params, []byte("}"))
		return nil
	})
	if err != nil {
		return err
	}
	tail.seq++
	tail.open = nil
	return nil
}

// deltaLocked sends text in one delta, or in as many as it takes, none larger
// than a message may be.
func (s *events) deltaLocked(tail *eventTail, h *schema.EventHeader, text string) {
	room := s.sizes.room() - len(deltaEnd)
	open := tail.open
	if open != nil && open.runID == h.RunID && open.kind == h.Type && s.w.grow(open.ref, text, min(room, deltaSize)) {
		h.Seq = tail.seq
		return
	}
	if open == nil {
		open = &openDelta{}
		tail.open = open
	}
	open.runID, open.kind = h.RunID, h.Type
	for {
		tail.seq++
		h.Seq = tail.seq
		s.scratch = appendDeltaHead(s.scratch[:0], h)
		n := fitting(text, room-len(s.scratch))
		open.ref = s.w.delta(s.scratch, text[:n])
		if text = text[n:]; text == "" {
			return
		}
	}
}

// appendDeltaHead encodes a delta event up to its text, as encoding the whole
// struct would.
func appendDeltaHead(dst []byte, h *schema.EventHeader) []byte {
	dst = append(dst, eventHead+`{"sessionId":"`...)
	dst = appendText(dst, h.SessionID)
	dst = append(dst, `","runId":"`...)
	dst = appendText(dst, h.RunID)
	if h.Turn != 0 {
		dst = strconv.AppendInt(append(dst, `","turn":`...), int64(h.Turn), 10)
		dst = append(dst, `,"seq":`...)
	} else {
		dst = append(dst, `","seq":`...)
	}
	dst = strconv.AppendUint(dst, h.Seq, 10)
	dst = append(dst, `,"type":"`...)
	dst = appendText(dst, string(h.Type))
	return append(dst, `","text":"`...)
}

// appendText encodes text as the inside of a JSON string. The encoding of two
// texts joined is that of each, joined; invalid UTF-8 becomes U+FFFD.
func appendText(dst []byte, text string) []byte {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	for {
		at := separator(text)
		if at < 0 {
			return appendInline(dst, text)
		}
		dst = append(appendInline(dst, text[:at]), `\u202`...)
		dst = append(dst, '8'+text[at+2]-'\xa8')
		text = text[at+len("\u2028"):]
	}
}

// separator is the place of the first U+2028 or U+2029 in text, which some
// readers take for the end of a line; -1 when there is none.
func separator(text string) int {
	for from := 0; ; {
		at := strings.IndexByte(text[from:], '\xe2')
		if at < 0 {
			return -1
		}
		from += at
		if rest := text[from:]; len(rest) >= 3 && rest[1] == '\x80' && rest[2]|1 == '\xa9' {
			return from
		}
		from++
	}
}

// appendInline is appendText of valid text without separators.
func appendInline(dst []byte, text string) []byte {
	start := len(dst)
	dst = append(dst, text...)
	plain := plainRun(dst, start)
	if plain == len(dst) {
		return dst
	}
	dst = dst[:plain]
	for _, c := range []byte(text[plain-start:]) {
		if c < ' ' || c == '"' || c == '\\' {
			dst = appendEscaped(dst, c)
		} else {
			dst = append(dst, c)
		}
	}
	return dst
}

func appendEscaped(dst []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	return append(dst, `\u00`+string([]byte{hex[c>>4], hex[c&15]})...)
}
