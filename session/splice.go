package session

import (
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/prism-rpc/prism-rpc/inject/ambient"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
)

// A Splice is an ambient block that is added to a session (A6).
type Splice struct {
	ID       string // takes the place of the session's earlier one of that id; empty: one is made
	Name     string // the heading
	Content  string
	Lifetime schema.Lifetime // default session
}

// splices are a session's spliced blocks. The lists are replaced, never changed.
type splices struct {
	list    []*splice // logged, with what is pending
	logged  []*splice // as the log has them; without a store all there is
	pending []*spliceEdit
	serial  int // the last that was given
}

// A splice is one block, redacted. It is not changed.
type splice struct {
	serial   int
	id       string
	lifetime schema.Lifetime
	schema.AmbientBlock
}

func (sp *splice) block() ambient.Block {
	return ambient.Block{ID: sp.id, Name: sp.Name, Content: sp.Content, Origin: schema.OriginSplice}
}

// A spliceEdit adds a block or takes one out. One that is made is pending until
// it is in the log.
type spliceEdit struct {
	is  *splice // at the end, or in the place of the one of its id
	out int     // else the serial of the one that goes
	err error   // why it could not be logged
}

// Splice adds a block, from the session's next call of a model on, and returns
// its id once that is durable. Errors: *schema.ParamsError, ErrStore, and
// those of Manager.Lookup.
func (s *Session) Splice(sp Splice) (id string, err error) {
	made, save, err := s.BeginSplice(sp)
	if err != nil {
		return "", err
	}
	return made.ID, save()
}

// Unsplice takes the block of that id out; one that isn't there is no error.
// Errors: ErrStore, and those of Manager.Lookup.
func (s *Session) Unsplice(id string) error {
	save, err := s.BeginUnsplice(id)
	if err != nil {
		return err
	}
	return save()
}

// BeginSplice is Splice that waits for nothing. The change holds at once; save,
// which must be called, makes it durable and, where it can't be written, takes
// it back.
func (s *Session) BeginSplice(sp Splice) (made *schema.SpliceContextResult, save func() error, err error) {
	if err := sp.check(); err != nil {
		return nil, nil, err
	}
	if s, err = s.beginSaving(); err != nil {
		return nil, nil, err
	}
	made, e, err := s.splice(sp)
	if err != nil {
		s.saving.RUnlock()
		return nil, nil, err
	}
	return made, func() error { return s.saveEdit(e) }, nil
}

// BeginUnsplice is to Unsplice what BeginSplice is to Splice.
func (s *Session) BeginUnsplice(id string) (save func() error, err error) {
	if s, err = s.beginSaving(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e := &spliceEdit{}
	if at := spliceAt(s.spliced(), id); at >= 0 {
		e.out = s.splices.list[at].serial
		s.apply(e)
	}
	return func() error { return s.saveEdit(e) }, nil
}

func (sp Splice) check() error {
	if sp.ID != "" && !schema.ValidSpliceID(sp.ID) {
		return schema.BadField("id", "spliceid", "must be 1 to 128 printable ASCII characters without blanks")
	}
	switch sp.Lifetime {
	case "", schema.LifetimeSession, schema.LifetimeNext:
		return schema.AmbientBlock{Name: sp.Name, Content: sp.Content}.Check()
	}
	return schema.BadField("lifetime", "oneof", "must be one of: session, next")
}

// splice makes the edit that adds sp.
func (s *Session) splice(sp Splice) (*schema.SpliceContextResult, *spliceEdit, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	red := s.redactor()
	if red.Contains(sp.ID) {
		return nil, nil, schema.BadField("id", "secret", "holds a known secret; ids are shown as they are")
	}
	if s.splices == nil {
		s.splices = &splices{}
	}
	if spliceAt(s.splices.list, sp.ID) < 0 && len(s.splices.list) >= schema.MaxSplices {
		return nil, nil, tooManySplices()
	}
	e := &spliceEdit{is: s.newSplice(sp, red)}
	s.apply(e)
	return &schema.SpliceContextResult{ID: e.is.id, Rendered: s.rendersAmbient()}, e, nil
}

func tooManySplices() error {
	err := schema.PastLimit("id", schema.MaxSplices, "blocks in one session")
	err.Errors[0].Message = fmt.Sprintf("the session has %d spliced blocks already; unsplice one, or replace one by its id", schema.MaxSplices)
	return err
}

// newSplice is sp as it is kept; mu is held.
func (s *Session) newSplice(sp Splice, red *redact.Redactor) *splice {
	if sp.ID == "" {
		sp.ID = NewID()
	}
	if sp.Lifetime == "" {
		sp.Lifetime = schema.LifetimeSession
	}
	s.splices.serial++
	block := schema.AmbientBlock{Name: red.Text(sp.Name, nil), Content: red.Text(sp.Content, nil)}
	return &splice{s.splices.serial, sp.ID, sp.Lifetime, block}
}

// spliceAt is the place of the block of that id; -1 without one.
func spliceAt(list []*splice, id string) int {
	return slices.IndexFunc(list, func(sp *splice) bool { return sp.id == id })
}

// spliced are the session's blocks, not to be changed; mu is held.
func (s *Session) spliced() []*splice {
	if s.splices == nil {
		return nil
	}
	return s.splices.list
}

// apply makes an edit, which is to be logged; mu is held.
func (s *Session) apply(e *spliceEdit) {
	if s.manager.cfg.Store == nil {
		s.splices.logged = e.on(s.splices.logged)
	} else {
		s.splices.pending = append(s.splices.pending, e)
	}
	s.splices.list = e.on(s.splices.list)
}

// on is a list after the edit. Reading the log does the same.
func (e *spliceEdit) on(list []*splice) []*splice {
	if e.is == nil {
		return withoutSerials(list, []int{e.out})
	}
	list = slices.Clone(list)
	if at := spliceAt(list, e.is.id); at >= 0 {
		list[at] = e.is
		return list
	}
	return append(list, e.is)
}

func withoutSerials(list []*splice, serials []int) []*splice {
	return slices.DeleteFunc(slices.Clone(list), func(sp *splice) bool { return slices.Contains(serials, sp.serial) })
}

// renew makes the list anew of what is logged and what is pending; mu is held.
func (x *splices) renew() {
	x.list = x.logged
	for _, e := range x.pending {
		x.list = e.on(x.list)
	}
}

// saveEdit makes an edit durable, and ends what beginSaving began. One that was
// written and could not be synced stands.
func (s *Session) saveEdit(e *spliceEdit) error {
	defer s.saving.RUnlock()
	s.logMu.Lock()
	defer s.logMu.Unlock()
	s.writeEdits()
	if e.err != nil {
		return e.err
	}
	return s.sync()
}

// writeEdits logs the edits that are not in the log yet, in their order, and
// takes back those that can't be; logMu is held.
func (s *Session) writeEdits() {
	for {
		e := s.nextEdit()
		if e == nil {
			return
		}
		e.err = s.writeEdit(e)
		s.mu.Lock()
		if e.err == nil {
			s.splices.logged = e.on(s.splices.logged)
		}
		s.splices.pending = s.splices.pending[1:]
		s.splices.renew()
		s.mu.Unlock()
	}
}

func (s *Session) nextEdit() *spliceEdit {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.splices == nil || len(s.splices.pending) == 0 {
		return nil
	}
	return s.splices.pending[0]
}

// writeEdit logs an edit; logMu is held.
func (s *Session) writeEdit(e *spliceEdit) error {
	if err := s.create(); err != nil {
		return err
	}
	b, err := json.Marshal(e.record())
	if err != nil {
		return err
	}
	s.unsynced = true
	if err := s.log.Append(b); err != nil {
		return storeFailed(err)
	}
	return nil
}

func (e *spliceEdit) record() any {
	if e.is == nil {
		return &schema.UnspliceRecord{RecordHead: head(schema.RecordUnsplice), Serial: e.out, At: stamp(time.Now())}
	}
	return e.is.record()
}

func (sp *splice) record() *schema.SpliceRecord {
	return &schema.SpliceRecord{
		RecordHead: head(schema.RecordSplice), Serial: sp.serial, At: stamp(time.Now()),
		ID: sp.id, Lifetime: sp.lifetime, AmbientBlock: sp.AmbientBlock,
	}
}

// spend takes out the blocks of these serials, which the log says are gone; mu
// is held.
func (s *Session) spend(serials []int) {
	if s.splices == nil || len(serials) == 0 {
		return
	}
	s.splices.logged = withoutSerials(s.splices.logged, serials)
	s.splices.renew()
}

// mostReplayed bounds the blocks of a log that is read: an unsplice that could
// not be written may leave more than can be added.
const mostReplayed = 2 * schema.MaxSplices

// replaySplice takes a block of a stored log, which is input like any other.
func (s *Session) replaySplice(r *schema.SpliceRecord) error {
	if s.splices == nil {
		s.splices = &splices{}
	}
	x := s.splices
	switch err := r.Check(); {
	case err != nil:
		return fmt.Errorf("splice %d: %w", r.Serial, err)
	case r.Serial <= x.serial:
		return fmt.Errorf("splice %d follows splice %d", r.Serial, x.serial)
	case len(x.logged) >= mostReplayed && spliceAt(x.logged, r.ID) < 0:
		return fmt.Errorf("splice %d is one too many", r.Serial)
	}
	e := &spliceEdit{is: &splice{r.Serial, r.ID, r.Lifetime, r.AmbientBlock}}
	x.serial, x.logged = r.Serial, e.on(x.logged)
	x.renew()
	return nil
}

// replayUnsplice takes a block out; a turn may have used it up meanwhile.
func (s *Session) replayUnsplice(r *schema.UnspliceRecord) error {
	s.spend([]int{r.Serial})
	return nil
}

// copySplices gives the session's blocks as records of another session; mu is
// held.
func (s *Session) copySplices() []any {
	out := make([]any, len(s.spliced()))
	for i, sp := range s.spliced() {
		record := sp.record()
		record.Serial = i + 1
		out[i] = record
	}
	return out
}
