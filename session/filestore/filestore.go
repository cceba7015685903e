// Package filestore keeps each session's log in a file of its own, below one
// folder that only its user may write:
//
//	<dir>/sessions/<id>.jsonl   a record a line, each with its checksum
//	<dir>/locks/<id>.lock       pid and time of the process that writes it
//	<dir>/torn/…                what repairs have cut off
//	<dir>/attachments/<id>/…    images that the log names, by their SHA-256
//	<dir>/index/sessions        what List shows of each, made from the logs
//
// A turn is durable when Commit returns. A process that dies leaves at worst a
// record cut short at its log's end; the next Open cuts it off and keeps it.
// One process at a time writes a session; any may read it.
package filestore

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/internal/sequence"
)

// Errors beside session's. Neither heals by trying again.
var (
	ErrUnsafe  = errors.New("not safe to keep sessions in")
	ErrCorrupt = errors.New("the session's log is corrupt")
)

const (
	sessionsFolder = "sessions"
	locksFolder    = "locks"
	tornFolder     = "torn"
)

// Options are a store's options.
type Options struct {
	// OnRepair is told of each log whose torn tail was cut off: how many bytes,
	// and the path they are kept at. It is called while the session is being
	// opened or created. nil: nobody is told.
	OnRepair func(id string, dropped int64, kept string)

	// OnSkip is told of each file that List or Prune does without, and why: the
	// log of a session that is left out, because it can't be opened or isn't
	// safe to open (a link, another user's), or the index, without which all
	// logs are read. It is called each time, while List or Prune runs, and must
	// use neither. nil: nobody is told.
	OnSkip func(name string, err error)
}

// A Store is a session.Store in a folder.
type Store struct {
	dir  string
	opts Options

	top, sessions, locks, torn folder

	indexing sync.Mutex // held from reading the index until it is written

	mu       sync.Mutex
	closed   bool
	held     map[string]*hold
	unsynced []string // folders that gained an entry when the store was made
}

// Open opens the store in the folder dir, and makes what is missing. The error
// is ErrUnsafe when a folder isn't this user's, may be written by others, or is
// a link.
func Open(dir string, opts Options) (*Store, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	gained, err := makeFolders(dir)
	if err != nil {
		return nil, fmt.Errorf("make the session store: %w", err)
	}
	s := &Store{dir: dir, opts: opts, held: map[string]*hold{}, unsynced: append(gained, dir)}
	if err := s.enter(); err != nil {
		return nil, errors.Join(fmt.Errorf("open the session store: %w", err), s.leave())
	}
	return s, nil
}

func (s *Store) enter() (err error) {
	if s.top, err = enter(s.dir, os.Lstat, os.OpenRoot); err != nil {
		return err
	}
	if s.sessions, err = s.top.sub(sessionsFolder); err != nil {
		return err
	}
	if s.locks, err = s.top.sub(locksFolder); err != nil {
		return err
	}
	s.torn, err = s.top.sub(tornFolder)
	return err
}

func (s *Store) leave() error {
	var errs []error
	for _, d := range []folder{s.torn, s.locks, s.sessions, s.top} {
		if d.Root != nil {
			errs = append(errs, d.Close())
		}
	}
	return errors.Join(errs...)
}

// Writable tells why nothing can be written to the store, where that shows
// beforehand: a read-only file system, or folders that this user may only read.
// What is kept can be read all the same.
func (s *Store) Writable() error {
	for _, name := range []string{sessionsFolder, locksFolder} {
		if err := mayWrite(filepath.Join(s.dir, name)); err != nil {
			return fmt.Errorf("write to the session store: %w", err)
		}
	}
	return nil
}

// Create implements session.Store.
func (s *Store) Create(id string, header []byte) (session.Log, error) {
	if !schema.ValidSessionID(id) {
		return nil, fmt.Errorf("%w: no session id", ErrUnsafe)
	}
	if begun, err := s.Exists(id); err != nil {
		return nil, err
	} else if begun {
		return nil, session.ErrExists
	}
	l := s.newLog(id)
	err := l.hold.take()
	if locked := (*session.LockedError)(nil); errors.As(err, &locked) {
		return nil, fmt.Errorf("%w: it is being made", session.ErrExists)
	} else if err != nil {
		return nil, err
	}
	if err := l.create(header); err != nil {
		return nil, errors.Join(err, l.hold.release())
	}
	return s.keepOpen(l)
}

// create makes the file of a log that is taken.
func (l *log) create(header []byte) error {
	s, id := l.hold.store, l.hold.id
	if err := s.clear(id); err != nil {
		return err
	}
	f, err := s.sessions.create(logName(id))
	if errors.Is(err, fs.ErrExist) {
		return session.ErrExists
	} else if err != nil {
		return fmt.Errorf("create session log: %w", err)
	}
	if err := l.begin(f, header); err != nil {
		return errors.Join(err, s.sessions.Remove(logName(id)))
	}
	return nil
}

func (l *log) begin(f *os.File, header []byte) error {
	if err := l.keep(f, place{seq: sequence.New(l.hold.id)}); err != nil {
		return err
	}
	if err := l.Append(header); err != nil {
		return errors.Join(err, l.file.Close())
	}
	return nil
}

// clear makes way for a new log where a crash left one that was never begun.
func (s *Store) clear(id string) error {
	f, err := s.openLog(id, os.O_RDWR)
	if errors.Is(err, session.ErrNotFound) {
		return nil
	} else if err != nil {
		return err
	}
	defer f.Close()
	begun, err := hasLine(f)
	if err != nil {
		return err
	}
	if begun {
		return session.ErrExists
	}
	dropped, kept, err := s.repair(id, f, 0)
	if err != nil {
		return err
	}
	s.report(id, dropped, kept)
	return s.sessions.Remove(logName(id))
}

// Open implements session.Store. A torn tail, which is all from the first
// record that is cut short or fails its checksum, is cut off and kept.
func (s *Store) Open(id string, replay func([]byte) error) (session.Log, error) {
	return s.OpenFrom(id, "", replay)
}

// OpenFrom implements session.Store. It cuts off a torn tail as Open does.
func (s *Store) OpenFrom(id string, from session.Mark, replay func([]byte) error) (session.Log, error) {
	if begun, err := s.Exists(id); err != nil {
		return nil, err
	} else if !begun {
		return nil, session.ErrNotFound
	}
	l := s.newLog(id)
	if err := l.hold.take(); err != nil {
		return nil, err
	}
	if err := l.resume(from, replay); err != nil {
		return nil, errors.Join(err, l.hold.release())
	}
	return s.keepOpen(l)
}

// resume opens the file of a log that is taken.
func (l *log) resume(from session.Mark, replay func([]byte) error) error {
	s, id := l.hold.store, l.hold.id
	f, err := s.openLog(id, os.O_RDWR)
	if err != nil {
		return err
	}
	end, err := scanFile(id, f, from, replay)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	dropped, kept, err := s.repair(id, f, end.end)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	s.report(id, dropped, kept)
	return l.keep(f, end)
}

// scanFile replays what stands behind from in f, the log of id, which is taken.
func scanFile(id string, f *os.File, from session.Mark, replay func([]byte) error) (place, error) {
	begin, err := find(id, from, f)
	if err != nil {
		return begin, err
	}
	if _, err := f.Seek(begin.end, io.SeekStart); err != nil {
		return begin, err
	}
	at := newScan(begin, false)
	err = at.run(f, replay)
	return at.place, err
}

// Read implements session.Store. It sees the records that are whole when it
// begins, and also those of other versions and unknown types.
func (s *Store) Read(id string, replay func([]byte) error) error {
	_, err := s.ReadFrom(id, "", replay)
	return err
}

// ReadFrom implements session.Store. It sees what Read sees.
func (s *Store) ReadFrom(id string, from session.Mark, replay func([]byte) error) (session.Mark, error) {
	f, err := s.openLog(id, os.O_RDONLY)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	at, err := readFile(id, f, info.Size(), from, replay)
	if err != nil {
		return "", err
	}
	return at.mark(), nil
}

// readFile replays what stands behind from in the first size bytes of f, the
// log of id, and returns how far it came.
func readFile(id string, f io.ReaderAt, size int64, from session.Mark, replay func([]byte) error) (place, error) {
	begin, err := find(id, from, f)
	if err != nil {
		return begin, err
	}
	rest := max(0, size-begin.end)
	at := newScan(begin, true)
	at.room = int(min(int64(at.room), rest+1)) // most logs of a store are short
	err = at.run(io.NewSectionReader(f, begin.end, rest), replay)
	return at.place, err
}

// Exists implements session.Store.
func (s *Store) Exists(id string) (bool, error) {
	f, err := s.openLog(id, os.O_RDONLY)
	if errors.Is(err, session.ErrNotFound) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	defer f.Close()
	return hasLine(f)
}

// Close implements session.Store.
func (s *Store) Close() error {
	var errs []error
	for _, l := range s.stop() {
		errs = append(errs, l.Close())
	}
	return errors.Join(append(errs, s.leave())...)
}

const logSuffix = ".jsonl"

func logName(id string) string { return id + logSuffix }

// openLog opens the file of id; session.ErrNotFound when there is none.
func (s *Store) openLog(id string, flag int) (*os.File, error) {
	if !schema.ValidSessionID(id) {
		return nil, session.ErrNotFound
	}
	f, err := s.sessions.open(logName(id), flag)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, session.ErrNotFound
	} else if err != nil {
		return nil, fmt.Errorf("open session log: %w", err)
	}
	return f, nil
}
