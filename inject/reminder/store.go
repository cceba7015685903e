package reminder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/prism-rpc/prism-rpc/inject/trivial"
	"github.com/prism-rpc/prism-rpc/internal/userfile"
	"github.com/prism-rpc/prism-rpc/redact"
	"github.com/prism-rpc/prism-rpc/schema"
)

// ErrSave reports reminders that could not be saved. It is wrapped with what
// the system said.
var ErrSave = errors.New("reminders can't be saved")

// A StaleError reports that the reminders are not those that the caller had
// read. Revision is the present one.
type StaleError struct{ Revision string }

func (e *StaleError) Error() string { return "the reminders were changed meanwhile" }

// lockTime is how long a change waits for another process's.
const lockTime = 2 * time.Second

// Options are what a Store works with; the zero value keeps changes in memory
// over no reminders at all.
type Options struct {
	Base Layer // as the configuration says
	Path string
	// Trivial knows the words of R4; nil: those of package trivial.
	Trivial *trivial.Table
	// OnChange is told when others than those known before are in force, by
	// whomever they were changed, and of a file that can't be used. It must not
	// block. Nil tells nobody.
	OnChange func(*Settings)
}

// A Store gives the reminders in force and saves changes of them. It looks at
// its file each time it is asked, so that what another process saved is in
// force at the next turn (R6). Without a file it keeps changes in memory.
type Store struct {
	opts Options
	file *userfile.File // nil: in memory

	saves sync.Mutex // guards saved
	saved chan struct{}

	mu     sync.Mutex
	known  *Settings // nil until first read
	memory stored    // instead of a file
	stamp  userfile.Stamp
	unsure bool // the stamp may be that of another content too
}

// New makes a Store. With a path, which is absolute, it reads nothing yet.
func New(o Options) *Store {
	s := &Store{opts: o, memory: stored{}}
	if o.Path != "" {
		s.file = &userfile.File{Path: o.Path}
	}
	return s
}

// Trivial knows which input is trivial.
func (s *Store) Trivial() *trivial.Table { return s.opts.Trivial }

// Settings are the reminders in force, with all changes that were begun. A file
// that can't be used is as none, which a warning says: a reminder never breaks
// a turn (R8).
func (s *Store) Settings() *Settings {
	s.saves.Lock()
	saved := s.saved
	s.saves.Unlock()
	if saved != nil {
		<-saved // at most as long as its lock takes
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refresh()
}

// refresh reads what may have changed; mu is held.
func (s *Store) refresh() *Settings {
	if s.file == nil {
		return s.take(s.memory.layer())
	}
	stamp, err := s.file.Stamp()
	if s.known != nil && err == nil && stamp == s.stamp && !s.unsure {
		return s.known
	}
	s.stamp, s.unsure = stamp, err != nil || stamp.Fresh(time.Now())
	data, err := s.file.Read(maxFileBytes)
	var members stored
	if err == nil {
		members, err = parseStored(data)
	}
	if err != nil {
		return s.take(Layer{Warnings: []string{"the reminders' file " + reason(err) + "; until that is mended, the configuration's reminders hold"}})
	}
	return s.take(members.layer())
}

// take makes the configuration and a user's layer what is known; mu is held.
func (s *Store) take(user Layer) *Settings {
	before := s.known
	now := merged(s.opts.Base, user)
	if before != nil && before.same(now) {
		return before
	}
	s.known = now
	if s.opts.OnChange != nil && (before != nil || len(user.Warnings) > 0) {
		s.opts.OnChange(now)
	}
	return now
}

func (s *Settings) same(other *Settings) bool {
	a, b := s.Wire(nil), other.Wire(nil)
	if a.Revision != b.Revision || len(a.Warnings) != len(b.Warnings) {
		return false
	}
	for i := range a.Warnings {
		if a.Warnings[i] != b.Warnings[i] {
			return false
		}
	}
	return true
}

// reason is what is wrong with the file, without its path.
func reason(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return "can't be read: " + path.Err.Error()
	}
	return err.Error()
}

// Begin begins a change, which has been checked, and returns what completes
// it: saves it, durably, and gives what is in force then. Changes are made in
// the order of their Begin, and Settings has them from then on; so whoever
// calls Begin must call save. Red knows the secrets that are not saved.
// Errors: *StaleError, ErrSave, ctx's.
func (s *Store) Begin(p *schema.SetRemindersParams, red *redact.Redactor) (save func(context.Context) (*Settings, error)) {
	turn, done := s.inTurn()
	return func(ctx context.Context) (*Settings, error) {
		defer done()
		turn()
		return s.save(ctx, p, red)
	}
}

// BeginRead is Begin that changes nothing: get gives what is in force before
// any change that is begun later.
func (s *Store) BeginRead() (get func() *Settings) {
	turn, done := s.inTurn()
	return func() *Settings {
		defer done()
		turn()
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.refresh()
	}
}

// inTurn takes a place behind all that was begun before: turn waits for it, and
// done lets the next one go on.
func (s *Store) inTurn() (turn, done func()) {
	s.saves.Lock()
	defer s.saves.Unlock()
	before, own := s.saved, make(chan struct{})
	s.saved = own
	turn = func() {
		if before != nil {
			<-before
		}
	}
	return turn, func() { close(own) }
}

func (s *Store) save(ctx context.Context, p *schema.SetRemindersParams, red *redact.Redactor) (*Settings, error) {
	p = withoutSecrets(p, red)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refresh() // what others changed before is told of first
	var err error
	if s.file == nil {
		_, err = s.changed(s.memory, p, red)
	} else {
		err = s.saveFile(ctx, p, red)
	}
	if err != nil {
		return nil, err
	}
	s.unsure = true
	return s.refresh(), nil
}

// saveFile makes the change of the file; mu is held.
func (s *Store) saveFile(ctx context.Context, p *schema.SetRemindersParams, red *redact.Redactor) error {
	wait, cancel := context.WithTimeout(ctx, lockTime)
	defer cancel()
	err := s.file.Update(wait, maxFileBytes, func(old []byte) ([]byte, error) {
		members, err := parseStored(old)
		if err != nil {
			return nil, err
		}
		return s.changed(members, p, red)
	})
	var stale *StaleError
	switch {
	case err == nil, errors.As(err, &stale):
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return fmt.Errorf("%w: %w", ErrSave, err)
}

// changed is the file with the change; nil when there is none.
func (s *Store) changed(members stored, p *schema.SetRemindersParams, red *redact.Redactor) ([]byte, error) {
	present := merged(s.opts.Base, members.layer()).Wire(red).Revision
	if p.Revision != "" && p.Revision != present {
		return nil, &StaleError{present}
	}
	if !p.Enabled.Given && !p.SkipTrivial.Given && !p.Producer.Given && !p.Prompts.Given {
		return nil, nil
	}
	if err := members.change(p); err != nil {
		return nil, err
	}
	return members.encode()
}

// withoutSecrets is p as it may be saved.
func withoutSecrets(p *schema.SetRemindersParams, red *redact.Redactor) *schema.SetRemindersParams {
	out := *p
	out.Prompts.Value = nil
	for _, row := range p.Prompts.Value {
		row.Title = red.Text(row.Title, nil)
		if row.Text != nil {
			text := red.Text(*row.Text, nil)
			row.Text = &text
		}
		out.Prompts.Value = append(out.Prompts.Value, row)
	}
	return &out
}
