package session

import (
	"fmt"
	"time"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
)

// sent is the dialogue as it goes into requests, without what red knows; mu is
// held.
func (s *Session) sent(red *redact.Redactor) provider.History {
	whole := s.cleanHistory(red)
	if s.compacted.through == 0 {
		return whole
	}
	return *s.compacted.sent
}

// sentSize is the size of what is sent; mu is held.
func (s *Session) sentSize() int {
	if s.compacted.through == 0 {
		return s.history.Size()
	}
	return s.compacted.sent.Size()
}

// sentUpTo is how many messages of what is sent stand for the turns up to and
// with turn; mu is held.
func (s *Session) sentUpTo(turn int) int {
	if s.compacted.through == 0 {
		return s.itemsUpTo(turn)
	}
	return 1 + s.itemsUpTo(turn) - s.itemsUpTo(s.compacted.through)
}

// itemsUpTo is sentUpTo for the history.
func (s *Session) itemsUpTo(turn int) int {
	if turn < len(s.turns) {
		return int(s.turns[turn].firstItem)
	}
	return s.history.Len()
}

func (r *Run) compactionRecord(text string, usage schema.Usage, to, generation int) (*schema.CompactionRecord, error) {
	encoded, err := summaryMessage(text)
	if err != nil {
		return nil, err
	}
	return &schema.CompactionRecord{
		RecordHead: head(schema.RecordCompaction), Turn: to, Generation: generation, RunID: r.id, At: stamp(time.Now()),
		Usage: usage, Summary: encoded,
	}, nil
}

// summaryMessage is a summary as it stands in a dialogue.
func summaryMessage(text string) ([]byte, error) {
	block := schema.TextBlock(summaryHead + text + summaryTail)
	return provider.AppendMessage(nil, schema.Message{Role: schema.RoleUser, Content: []schema.ContentBlock{block}})
}

// logCompaction makes the record durable.
func (s *Session) logCompaction(record *schema.CompactionRecord) error {
	if err := s.append(record); err != nil {
		return err
	}
	return s.Sync()
}

// keepCompaction makes a committed compaction, of which red has hidden what it
// knows, part of the session; mu is held.
func (s *Session) keepCompaction(record *schema.CompactionRecord, red *redact.Redactor) {
	s.hiding.appended(false, red)
	c := &s.compacted
	c.generation, c.through = record.Generation, record.Turn
	sent := s.history.Behind(s.itemsUpTo(record.Turn), record.Summary)
	c.sent = &sent
	s.usage = s.usage.Add(record.Usage)
	s.counted = 0
}

// record is the last compaction as another session takes it; nil when there is
// none.
func (c *compacted) record() *schema.CompactionRecord {
	if c.through == 0 {
		return nil
	}
	return &schema.CompactionRecord{
		RecordHead: head(schema.RecordCompaction), Turn: c.through, Generation: c.generation, At: stamp(time.Now()), Summary: c.sent.Raw(0),
	}
}

// replayCompaction takes a summary of turns that were replayed before it. Of
// one that was written twice, since it could not be made durable, the later
// one stands.
func (s *Session) replayCompaction(r *schema.CompactionRecord) error {
	c := &s.compacted
	m, err := provider.DecodeMessage(r.Summary)
	switch {
	case err != nil:
		return fmt.Errorf("compaction %d: %w", r.Generation, err)
	case m.Role != schema.RoleUser:
		return fmt.Errorf("compaction %d: a summary of role %q", r.Generation, m.Role)
	case r.Generation < max(c.generation, 1):
		return fmt.Errorf("compaction %d follows compaction %d", r.Generation, c.generation)
	case r.Turn < max(c.through, 1) || r.Turn > len(s.turns):
		return fmt.Errorf("compaction %d is of turn %d, after %d of %d", r.Generation, r.Turn, c.through, len(s.turns))
	}
	s.keepCompaction(r, nil)
	s.hiding.free = false // another process hid what it knew
	return nil
}
