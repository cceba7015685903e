package filestore

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
)

// Delete implements session.Store. When it returns, the session's log, what
// repairs cut off it, what was attached to it and its row in the index are gone
// for good. A log that
// isn't safe to open is left: ErrUnsafe.
func (s *Store) Delete(id string) error {
	if !schema.ValidSessionID(id) {
		return nil
	}
	h, err := s.take(id)
	if err != nil {
		return err
	}
	err = errors.Join(s.remove(id), h.release())
	return errors.Join(err, s.unlist(map[string]bool{id: true}))
}

// remove removes the files of id, which is taken. It syncs even when there are
// none: an earlier try may have come only so far.
func (s *Store) remove(id string) error {
	tails, err := s.tails()
	if err != nil {
		return err
	}
	if err := s.removeFiles(id, tails); err != nil {
		return err
	}
	return s.syncRemoval()
}

// removeFiles removes the log of id first: what was cut off or attached means
// nothing without it.
func (s *Store) removeFiles(id string, tails []tail) error {
	if err := s.removeLog(id); err != nil {
		return err
	}
	if err := s.removeTails(tails, func(t tail) bool { return t.id == id }); err != nil {
		return err
	}
	return s.removeAttachments(id)
}

func (s *Store) removeLog(id string) error {
	f, err := s.openLog(id, os.O_RDONLY)
	if errors.Is(err, session.ErrNotFound) {
		return nil
	} else if err != nil {
		return err
	}
	if err := errors.Join(checkCase(id, f), f.Close()); err != nil {
		return err
	}
	if err := s.sessions.Remove(logName(id)); err != nil {
		return fmt.Errorf("delete session log: %w", err)
	}
	return nil
}

// checkCase refuses the log of a session whose id differs in case alone, which
// a file system that doesn't tell case apart offers for that of id.
func checkCase(id string, log io.Reader) error {
	line, err := bufio.NewReader(io.LimitReader(log, MaxRecordBytes)).ReadBytes('\n')
	if err != nil && err != io.EOF {
		return fmt.Errorf("read session log: %w", err)
	}
	var header struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(line, &header) == nil && header.ID != id && strings.EqualFold(header.ID, id) {
		return fmt.Errorf("%w: it is another session's", ErrCorrupt)
	}
	return nil
}

func (s *Store) syncRemoval() error {
	if err := errors.Join(s.sessions.sync(), s.torn.sync()); err != nil {
		return fmt.Errorf("sync session folder: %w", err)
	}
	return nil
}

// Prune implements session.Store. The index proposes, but only what the log
// itself says, while it is taken, lets a session be deleted. A log that this
// program can't read to its end was touched when its file was. Torn tails of
// that age go too, whosever they are.
func (s *Store) Prune(before time.Time) (deleted int, err error) {
	all, err := s.survey()
	if err != nil {
		return 0, err
	}
	tails, err := s.tails()
	if err != nil {
		return 0, err
	}
	gone := map[string]bool{}
	var errs []error
	for _, l := range all {
		if !l.touchedBefore(before) {
			continue
		}
		ok, err := s.prune(l.ID, before, tails)
		gone[l.ID] = ok
		if ok && !l.unbegun {
			deleted++
		}
		errs = append(errs, err)
	}
	errs = append(errs, s.removeTails(tails, func(t tail) bool { return t.at.Before(before) }), s.pruneAttachments(before))
	return deleted, errors.Join(append(errs, s.syncRemoval(), s.unlist(gone))...)
}

// prune deletes the session id if nobody holds it or has touched it meanwhile.
func (s *Store) prune(id string, before time.Time, tails []tail) (gone bool, err error) {
	h, err := s.take(id)
	if locked := (*session.LockedError)(nil); errors.As(err, &locked) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	l, err := s.derive(id, nil)
	switch {
	case errors.Is(err, session.ErrNotFound):
		err = nil // deleted meanwhile
	case err == nil && l.touchedBefore(before):
		err = s.removeFiles(id, tails)
		gone = err == nil
	}
	return gone, errors.Join(err, h.release())
}

func (l *listed) touchedBefore(t time.Time) bool { return l.Touched < t.UnixMilli() }
