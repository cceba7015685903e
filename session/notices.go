package session

import (
	"errors"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/schema"
)

// noticed is what a session knows of its notices.
type noticed struct {
	logged   map[string]bool // hashes of the texts that are in the log
	unlogged []any           // records of turns and notices, where there is no log
}

// has tells whether the log holds the text with that hash.
func (n *noticed) has(hash string) bool { return n != nil && n.logged[hash] }

func (s *Session) noticing() *noticed {
	if s.noticed == nil {
		s.noticed = &noticed{logged: map[string]bool{}}
	}
	return s.noticed
}

// unlogged are the records that no log holds; mu is held.
func (s *Session) unlogged() []any {
	if s.noticed == nil {
		return nil
	}
	return s.noticed.unlogged
}

// logNotices keeps the texts of the run's notices that the log doesn't hold
// yet (P26).
func (s *Session) logNotices(r *Run) error {
	if r.planned == nil {
		return nil
	}
	for _, m := range r.planned.request.Notices {
		text := schema.PlainText(m.Content)
		hash := hashOf(text)
		s.mu.Lock()
		known := s.noticed.has(hash)
		s.mu.Unlock()
		if known {
			continue
		}
		record := &schema.NoticeRecord{RecordHead: head(schema.RecordNotice), SHA256: hash, Text: text}
		if err := s.append(record); err != nil {
			return err
		}
		s.mu.Lock()
		s.keepNotice(record)
		s.mu.Unlock()
	}
	return nil
}

// keepNotice takes note of a text that is in the log; mu is held.
func (s *Session) keepNotice(record *schema.NoticeRecord) {
	n := s.noticing()
	n.logged[record.SHA256] = true
	if s.manager.cfg.Store == nil {
		n.unlogged = append(n.unlogged, record)
	}
}

// keepNoticesOf takes note of a turn that no log holds; mu is held.
func (s *Session) keepNoticesOf(t *schema.TurnRecord) {
	if s.manager.cfg.Store == nil && len(t.Injected) > 0 {
		n := s.noticing()
		n.unlogged = append(n.unlogged, &schema.TurnRecord{Turn: t.Turn, Injected: t.Injected})
	}
}

// unloggedNotices tells apart what no log holds: the notices' texts, and what
// was injected by turn.
func unloggedNotices(unlogged []any) (texts []any, injected map[int][]schema.Injected) {
	injected = map[int][]schema.Injected{}
	for _, record := range unlogged {
		switch r := record.(type) {
		case *schema.NoticeRecord:
			texts = append(texts, r)
		case *schema.TurnRecord:
			injected[r.Turn] = r.Injected
		}
	}
	return texts, injected
}

func (s *Session) replayNotice(r *schema.NoticeRecord) error {
	if !schema.ValidSHA256(r.SHA256) {
		return errShape
	}
	s.keepNotice(r)
	return nil
}

// MessagesWithNotices is Messages with a row for each notice behind the input
// that it came with: without content, or with the notice's text. Error:
// ErrStore.
func (s *Session) MessagesWithNotices(afterTurn, limit int, text bool) (*schema.MessagesResult, error) {
	page := s.Messages(afterTurn, limit)
	if len(page.Messages) == 0 {
		return page, nil
	}
	rows, err := s.noticeRows(page.Messages[0].Turn, page.Messages[len(page.Messages)-1].Turn, text)
	if err != nil || len(rows) == 0 {
		return page, err
	}
	var out []schema.HistoryMessage
	for i, m := range page.Messages {
		out = append(out, m)
		lastInput := i+1 == len(page.Messages) || page.Messages[i+1].Role != schema.RoleUser || page.Messages[i+1].Turn != m.Turn
		if m.Role != schema.RoleUser || !lastInput {
			continue
		}
		for _, row := range rows[m.Turn] {
			row.At, row.Cancelled = m.At, m.Cancelled
			out = append(out, row)
		}
	}
	page.Messages = out
	return page, nil
}

// noticeRows reads the rows of these turns' notices from the log.
func (s *Session) noticeRows(first, last int, text bool) (map[int][]schema.HistoryMessage, error) {
	s.mu.Lock()
	red, unlogged := s.redactor(), s.unlogged()
	s.mu.Unlock()
	rows, texts := map[int][]schema.HistoryMessage{}, map[string]string{}
	take := func(record any) {
		switch r := record.(type) {
		case *schema.NoticeRecord:
			texts[r.SHA256] = r.Text
		case *schema.TurnRecord:
			for _, in := range r.Injected {
				if in.Placement == schema.PlaceNotice && r.Turn >= first && r.Turn <= last {
					rows[r.Turn] = append(rows[r.Turn], noticeRow(r.Turn, in, texts, text))
				}
			}
		}
	}
	if err := s.readNotices(unlogged, take); err != nil {
		return nil, err
	}
	for _, list := range rows {
		for i := range list {
			list[i].Content = inject.RedactContent(list[i].Content, red, nil)
			list[i].Source.Summary = red.Text(list[i].Source.Summary, nil)
		}
	}
	return rows, nil
}

func noticeRow(turn int, in schema.Injected, texts map[string]string, text bool) schema.HistoryMessage {
	row := schema.HistoryMessage{
		Turn: turn, Role: schema.RoleUser, Content: []schema.ContentBlock{},
		Source: &schema.Source{Kind: in.Kind, Form: in.Form, Summary: in.Summary},
	}
	if known := texts[in.SHA256]; text && known != "" {
		row.Content = append(row.Content, schema.TextBlock(known))
	}
	return row
}

// readNotices gives take the records of turns and notices, in order.
func (s *Session) readNotices(unlogged []any, take func(record any)) error {
	if s.manager.cfg.Store == nil {
		for _, record := range unlogged {
			take(record)
		}
		return nil
	}
	err := s.manager.cfg.Store.Read(s.id, func(record []byte) error {
		switch kind, err := kindOf(record); {
		case err != nil:
			return err
		case kind == schema.RecordNotice:
			return replayAs(record, func(r *schema.NoticeRecord) error { take(r); return nil })
		case kind == schema.RecordTurn:
			return replayAs(record, func(r *schema.TurnRecord) error { take(r); return nil })
		}
		return nil
	})
	if err == nil || errors.Is(err, ErrNotFound) {
		return nil
	}
	return storeFailed(err)
}
