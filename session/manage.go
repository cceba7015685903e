package session

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
)

// errGone reports a session that was let go between being found and being
// used; whoever meets it looks for the session again.
var errGone = errors.New("the session was let go")

// CloseSession ends what runs and waits in a session and lets go of it; the store
// keeps it. ended waits until all that is done. Closing a session that is not
// held does nothing.
func (m *Manager) CloseSession(id string) (ended func() error) {
	s := m.inMemory(id)
	if s == nil {
		return func() error { return nil }
	}
	runs := s.stop()
	return func() error {
		waitSettled(runs)
		return m.letGo(s)
	}
}

// stop cancels all runs of a session; it returns those that have to end.
func (s *Session) stop() []*Run {
	runs := s.Abort("", true)
	if last := s.current(); last != nil && !slices.Contains(runs, last) {
		runs = append(runs, last) // past the point where it could be cancelled
	}
	return runs
}

// letGo is release after what is being saved.
func (m *Manager) letGo(s *Session) error {
	s.saving.Lock()
	defer s.saving.Unlock()
	return m.release(s)
}

func waitSettled(runs []*Run) {
	for _, r := range runs {
		<-r.Settled()
	}
}

// release lets go of a session in which nothing runs: its memory and its log.
// One that has been asked for anew stays.
func (m *Manager) release(s *Session) error {
	m.mu.Lock()
	s.mu.Lock()
	stays := s.busy() || s.gone
	if !stays {
		s.gone = true
	}
	s.mu.Unlock()
	if stays {
		m.mu.Unlock()
		return nil
	}
	err := s.closeLog() // before another one of its id can open it
	m.forget(s)
	m.mu.Unlock()
	return err
}

// Fork makes a new session of the turns of another one, up to and with turn; a
// negative turn means all. Settings and spliced blocks go along as they are now,
// request keys don't. Sync makes it durable. Errors: ErrNotFound, *schema.ParamsError, ErrStore.
func (m *Manager) Fork(id string, turn int, newID string) (*Session, error) {
	from, err := m.View(id)
	if err != nil {
		return nil, err
	}
	records, err := from.copyTurns(turn)
	if err != nil {
		return nil, err
	}
	if newID == "" {
		newID = NewID()
	}
	if err := m.checkNew(newID); err != nil {
		return nil, err
	}
	s := m.newSession(newID)
	s.frameKey = from.frameKey
	s.hideAs(from)
	from.mu.Lock()
	s.set(hideSettings(from.redactor(), from.settings()))
	from.mu.Unlock()
	if err := s.fill(from, records); err != nil {
		return nil, errors.Join(err, s.closeLog())
	}
	return m.addStored(s)
}

// copyTurns gives the committed turns up to turn, the compactions of none but
// these, and the spliced blocks as they are now, as records of another session.
func (s *Session) copyTurns(turn int) ([]any, error) {
	s.mu.Lock()
	turns, history, last, spliced, unlogged := s.turns, s.history, s.compacted.record(), s.copySplices(), s.unlogged()
	given := s.reminded.ofTurns()
	s.mu.Unlock()
	if turn > len(turns) {
		return nil, schema.BadField("turn", "max", fmt.Sprintf("the session has %d turns", len(turns)))
	}
	if turn < 0 {
		turn = len(turns)
	}
	if s.manager.cfg.Store != nil {
		records, err := s.readTurns(turn)
		return append(records, spliced...), err
	}
	records, injected := unloggedNotices(unlogged)
	for n := 1; n <= turn; n++ {
		first, end := span(turns, history, n)
		record := turns[n-1].record(n)
		record.Injected, record.Reminded = notNil(injected[n]), given[n]
		for i := first; i < end; i++ {
			record.Messages = append(record.Messages, history.Encoded(i))
		}
		records = append(records, record)
	}
	if last != nil && last.Turn <= turn {
		records = append(records, last)
	}
	return append(records, spliced...), nil
}

// record is what is known of a turn without a log.
func (t turnInfo) record(n int) *schema.TurnRecord {
	record := &schema.TurnRecord{RecordHead: head(schema.RecordTurn), Turn: n, At: stampAt(t.at), StopReason: schema.StopEndTurn, Injected: []schema.Injected{}}
	if t.cancelled {
		record.StopReason = schema.StopCancelled
	}
	return record
}

// readTurns reads copyTurns' turns and compactions from the log.
func (s *Session) readTurns(turns int) ([]any, error) {
	var records []any
	err := s.manager.cfg.Store.Read(s.id, func(record []byte) error {
		copied, err := copyOf(record, turns)
		if copied != nil {
			records = append(records, copied)
		}
		return err
	})
	switch {
	case errors.Is(err, ErrNotFound) && turns == 0: // nothing of it was written yet
		return nil, nil
	case err != nil:
		return nil, storeFailed(err)
	}
	return records, nil
}

// copyOf is a record as it goes into another session with the first turns; nil
// when it doesn't.
func copyOf(record []byte, turns int) (copied any, err error) {
	var h struct {
		schema.RecordHead
		Turn int `json:"turn"`
	}
	if err := json.Unmarshal(record, &h); err != nil || h.Turn > turns {
		return nil, err
	}
	switch h.T {
	case schema.RecordTurn:
		err = replayAs(record, func(r *schema.TurnRecord) error {
			r.Key, r.Params, r.Spent = "", "", nil
			copied = r
			return nil
		})
	case schema.RecordNotice:
		err = replayAs(record, func(r *schema.NoticeRecord) error { copied = r; return nil })
	case schema.RecordCompaction:
		err = replayAs(record, func(r *schema.CompactionRecord) error { copied = r; return nil })
	}
	return copied, err
}

// fill makes records of from, of turns, compactions and splices, the session's.
func (s *Session) fill(from *Session, records []any) error {
	if err := s.openLog(); err != nil {
		return err
	}
	s.mu.Lock()
	red := s.redactor()
	s.mu.Unlock()
	for _, record := range records {
		if turn, ok := record.(*schema.TurnRecord); ok {
			if err := s.copyImages(from, turn.Messages); err != nil {
				return err
			}
		}
		hideMessages(record, red)
		if err := s.append(record); err != nil {
			return err
		}
		switch r := record.(type) {
		case *schema.TurnRecord:
			s.keep(r, red)
		case *schema.NoticeRecord:
			s.keepNotice(r)
		case *schema.CompactionRecord:
			s.keepCompaction(r, red)
		case *schema.SpliceRecord:
			if err := s.replaySplice(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// hideMessages takes what red knows out of what a record's people said.
func hideMessages(record any, red *redact.Redactor) {
	switch r := record.(type) {
	case *schema.TurnRecord:
		for i, m := range r.Messages {
			r.Messages[i] = red.JSON(m, nil)
		}
	case *schema.NoticeRecord:
		r.Text = red.Text(r.Text, nil)
	case *schema.CompactionRecord:
		r.Summary = red.JSON(r.Summary, nil)
	case *schema.SpliceRecord:
		r.Name, r.Content = red.Text(r.Name, nil), red.Text(r.Content, nil)
	}
}

// DeleteSession is CloseSession that removes the session from the store too:
// at once where nothing has to end first, so that what is asked next finds it
// gone; else when ended is called. Until it is gone, turns are refused with a
// *BusyError, and who asks for the same again waits for it. Deleting a session
// that no store knows does nothing. Errors: *LockedError, ErrStore.
func (m *Manager) DeleteSession(id string) (ended func() error) {
	d, isFirst := m.beginDeletion(id)
	if !isFirst {
		return d.wait
	}
	s := m.inMemory(id)
	var runs []*Run
	if s != nil {
		s.doom(true)
		runs = s.stop()
	}
	if len(runs) == 0 {
		m.endDeletion(d, m.erase(id, s))
		return d.wait
	}
	return sync.OnceValue(func() error {
		waitSettled(runs)
		m.endDeletion(d, m.erase(id, s))
		return d.err
	})
}

// A deletion is under way. Until it has ended nobody takes the session from the
// store again.
type deletion struct {
	id    string
	ended chan struct{} // closed when err stands
	err   error
}

func (d *deletion) wait() error {
	<-d.ended
	return d.err
}

// beginDeletion gives the session's deletion, and tells whether it is new.
func (m *Manager) beginDeletion(id string) (d *deletion, isFirst bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if d := m.deleting[id]; d != nil {
		return d, false
	}
	d = &deletion{id: id, ended: make(chan struct{})}
	m.deleting[id] = d
	return d, true
}

func (m *Manager) endDeletion(d *deletion, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.deleting, d.id)
	d.err = err
	close(d.ended)
}

func (m *Manager) isDeleting(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.deleting[id] != nil
}

// doom lets a session take no more turns, or takes that back.
func (s *Session) doom(doomed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doomed = doomed
}

// erase removes a session in which nothing runs; s is nil if it is not in
// memory.
func (m *Manager) erase(id string, s *Session) error {
	if s != nil {
		defer s.doom(false)
		if err := m.letGo(s); err != nil {
			return err
		}
	}
	if m.cfg.Store == nil {
		return nil
	}
	err := m.cfg.Store.Delete(id)
	var locked *LockedError
	if err == nil || errors.As(err, &locked) {
		return err
	}
	return storeFailed(err)
}

// List gives a page of the stored sessions, the newest first; those of one
// folder when cwd is not empty. Errors: *schema.ParamsError, ErrStore.
func (m *Manager) List(cursor string, limit int, cwd string) (*schema.ListSessionsResult, error) {
	out := &schema.ListSessionsResult{Sessions: []schema.SessionInfo{}}
	if m.cfg.Store == nil {
		return out, nil
	}
	page, next, err := m.cfg.Store.List(cursor, limit, cwd)
	switch {
	case errors.Is(err, ErrCursor):
		return nil, schema.BadField("cursor", "cursor", "is not one that listSessions gave")
	case err != nil:
		return nil, storeFailed(err)
	}
	red := m.Redactor()
	for _, info := range page {
		info.Title, info.CWD = red.Text(info.Title, nil), red.Text(info.CWD, nil)
		out.Sessions = append(out.Sessions, info)
	}
	out.NextCursor = next
	return out, nil
}
