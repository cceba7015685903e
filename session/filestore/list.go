package filestore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/internal/listing"
)

// List implements session.Store. Logs of other formats are listed with what
// can be read of them, damaged ones with what stands before the damage. A log
// that can't be opened, or may not be for safety's sake, is left out: see
// Options.OnSkip. So is an index that can't be read or written.
func (s *Store) List(cursor string, limit int, cwd string) ([]schema.SessionInfo, string, error) {
	from, err := listing.ParseCursor(cursor)
	if err != nil {
		return nil, "", err
	}
	all, err := s.survey()
	if err != nil {
		return nil, "", err
	}
	rows := make([]*listing.Row, 0, len(all))
	for _, l := range all {
		if !l.unbegun {
			rows = append(rows, &l.Row)
		}
	}
	page, next := listing.Page(rows, from, limit, cwd)
	return page, next, nil
}

// A listed is a log as the index keeps it.
type listed struct {
	listing.Row
	version
	unbegun bool         // it has no header: no session
	mark    session.Mark // up to where Row was derived; empty: derive anew
}

// A version tells a log from what it was when it was last looked at.
type version struct {
	size     int64
	modified int64 // ns since 1970
	file     uint64
}

func versionOf(info fs.FileInfo) version {
	return version{size: info.Size(), modified: info.ModTime().UnixNano(), file: fileNumber(info)}
}

// survey looks at every log: those that are as the index knows them are taken
// from there, the others are read. The index is brought up to date.
func (s *Store) survey() ([]*listed, error) {
	s.indexing.Lock()
	defer s.indexing.Unlock()
	ids, err := s.ids()
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	known := s.readIndex()
	all := make([]*listed, 0, len(ids))
	reused := 0
	for _, id := range ids {
		l, err := s.look(id, known[id])
		switch {
		case errors.Is(err, session.ErrNotFound): // deleted meanwhile
		case err != nil:
			s.skip(logName(id), err)
		default:
			all = append(all, l)
			if l == known[id] {
				reused++
			}
		}
	}
	if reused != len(all) || reused != len(known) {
		s.saveIndex(all)
	}
	return all, nil
}

// ids are those whose logs have a name in the folder.
func (s *Store) ids() ([]string, error) {
	names, err := s.sessions.names()
	if err != nil {
		return nil, err
	}
	ids := names[:0]
	for _, name := range names {
		if id, ok := strings.CutSuffix(name, logSuffix); ok && schema.ValidSessionID(id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// look is known if the log of id still is that version, else it is read.
func (s *Store) look(id string, known *listed) (*listed, error) {
	if known == nil {
		return s.derive(id, nil)
	}
	info, err := s.sessions.Lstat(logName(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, session.ErrNotFound
	} else if err != nil {
		return nil, err
	}
	if err := safeInfo(info); err != nil {
		return nil, err
	}
	if versionOf(info) == known.version {
		return known, nil
	}
	return s.derive(id, known)
}

// derive reads the log of id, from where known comes to if it goes on from
// there.
func (s *Store) derive(id string, known *listed) (*listed, error) {
	f, err := s.openLog(id, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if known != nil && known.mark != "" {
		l := &listed{Row: known.Row}
		if err := l.read(f, info, known.mark); err == nil {
			return l, nil
		}
	}
	l := &listed{Row: listing.Row{ID: id}}
	return l, l.read(f, info, "")
}

func (l *listed) read(f *os.File, info fs.FileInfo, from session.Mark) error {
	at, err := readFile(l.ID, f, info.Size(), from, l.Add)
	l.version, l.mark = versionOf(info), at.mark()
	switch {
	case errors.Is(err, session.ErrNotFound):
		l.unbegun = true
	case errors.Is(err, ErrCorrupt), errors.Is(err, session.ErrForeign):
	case err != nil:
		return err
	case l.Updated > 0 && !l.Foreign:
		return nil
	}
	l.AtLeast(info.ModTime()) // the records don't tell all
	l.mark = ""
	return nil
}

func (s *Store) skip(name string, err error) {
	if s.opts.OnSkip != nil {
		s.opts.OnSkip(name, err)
	}
}
