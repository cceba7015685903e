package rpc

import (
	"errors"
	"maps"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/zap"

	"github.com/prism-rpc/prism-rpc/internal/plain"
	"github.com/prism-rpc/prism-rpc/schema"
)

const (
	maxHeldNotices = 256     // that wait for the first reply
	maxNoticeText  = 1 << 10 // bytes of a message, and of each text in its data
)

// A Notifier takes notices for the client of one connection, from any
// goroutine, before and while that is served. They are sent after the
// connection's first reply: a client that knows nothing of notices has it
// before anything else. The zero value is ready for use.
type Notifier struct {
	mu       sync.Mutex
	held     []schema.Notice
	dropped  int // that had no place in held
	excluded map[schema.NoticeKind]bool
	send     func(schema.Notice) // nil until the first reply
}

// Notify sends a notice, or keeps it until the first reply. It never blocks.
func (n *Notifier) Notify(notice schema.Notice) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.send != nil:
		n.sendLocked(notice)
	case len(n.held) < maxHeldNotices:
		n.held = append(n.held, notice)
	default:
		n.dropped++
	}
}

func (n *Notifier) sendLocked(notice schema.Notice) {
	if !n.excluded[notice.Kind] {
		n.send(notice)
	}
}

// exclude takes kinds that are not to be sent; other names mean nothing.
func (n *Notifier) exclude(names []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.excluded = map[schema.NoticeKind]bool{}
	for _, name := range names {
		n.excluded[schema.NoticeKind(name)] = true
	}
}

// open sends what was held and returns how many notices were lost.
func (n *Notifier) open(send func(schema.Notice)) (lost int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.send = send
	for _, notice := range n.held {
		n.sendLocked(notice)
	}
	n.held = nil
	return n.dropped
}

// firstReply lets notices out, and the host know.
func (s *server) firstReply() {
	if lost := s.Notifier.open(s.notice); lost > 0 {
		s.Logger.Warn("notices were dropped before the first reply", zap.Int("count", lost))
	}
	if s.AfterFirstReply != nil {
		s.AfterFirstReply()
	}
}

// A noticeLine is a notice as it is written.
type noticeLine struct {
	schema.Notice
	Data jsontext.Value `json:"data,omitempty"`
}

// notice writes one, its texts redacted, plain and bounded. One that is too
// large goes without its data.
func (s *server) notice(n schema.Notice) {
	n.Message = plain.Text(s.redacting().Text(n.Message, nil), maxNoticeText)
	line := noticeLine{Notice: n, Data: s.noticeData(n.Data)}
	err := s.conn.notify("notice", &line)
	if errors.Is(err, errTooLarge) {
		line.Data = nil
		err = s.conn.notify("notice", &line)
	}
	if err != nil {
		s.Logger.Warn("a notice was not sent", zap.String("kind", string(n.Kind)), zap.Error(err))
	}
}

func (s *server) noticeData(data map[string]any) jsontext.Value {
	if len(data) == 0 {
		return nil
	}
	red := s.redacting()
	data = maps.Clone(data)
	for key, v := range data {
		if text, ok := v.(string); ok {
			data[key] = plain.Text(red.Text(text, nil), maxNoticeText)
		}
	}
	raw, err := json.Marshal(data, outgoing)
	if err != nil {
		s.Logger.Error("a notice's data has no encoding", zap.Error(err))
		return nil
	}
	return red.JSON(raw, nil)
}

// asked keeps turns from being run for nobody: one that came without an id is
// a notice.
func (s *server) asked(start begin) begin {
	return func(c *call, raw []byte) (reply, error) {
		if !c.isNotification() {
			return start(c, raw)
		}
		var p schema.SessionParams
		if schema.DecodeLenient(raw, &p) != nil {
			p.SessionID = nil // the notice is about what is missing outside of the params
		}
		s.Notifier.Notify(schema.Notice{
			Level: schema.LevelWarning, Kind: schema.NoticePromptNotRun, SessionID: orZero(p.SessionID),
			Message: c.method + " came without an id and was not run", Data: map[string]any{"method": c.method},
		})
		return reply{}, nil
	}
}
