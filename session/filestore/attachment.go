package filestore

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
)

const attachmentsFolder = "attachments"

// MaxAttachmentBytes bounds one attachment.
const MaxAttachmentBytes = schema.MaxImageBytes

// Attach implements session.Log. What was attached before is not written
// again, but for one that is damaged.
func (l *log) Attach(data []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return fs.ErrClosed
	}
	if len(data) > MaxAttachmentBytes {
		return ErrTooLarge
	}
	if err := l.hold.store.attach(l.hold.id, data); err != nil {
		return fmt.Errorf("keep an attachment: %w", err)
	}
	return nil
}

// attach makes the file durable first, then the names that lead to it.
func (s *Store) attach(id string, data []byte) error {
	all, err := s.top.sub(attachmentsFolder)
	if err != nil {
		return err
	}
	defer all.Close()
	own, err := all.sub(id)
	if err != nil {
		return err
	}
	defer own.Close()
	if err := own.attach(data); err != nil {
		return err
	}
	return errors.Join(own.sync(), all.sync(), s.top.sync())
}

func (d folder) attach(data []byte) error {
	sum := sha256.Sum256(data)
	name := hex.EncodeToString(sum[:])
	f, err := d.open(name, os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		return d.replace(name, data, (*os.File).Sync)
	} else if err != nil {
		return err
	}
	defer f.Close()
	kept, err := readAttachment(f)
	switch {
	case err != nil:
		return err
	case !bytes.Equal(kept, data):
		return d.replace(name, data, (*os.File).Sync)
	}
	return f.Sync() // whoever wrote it may have died before
}

// readAttachment reads no more than one has, and a byte.
func readAttachment(f io.Reader) ([]byte, error) {
	return io.ReadAll(io.LimitReader(f, MaxAttachmentBytes+1))
}

// Attachment implements session.Store.
func (s *Store) Attachment(id, sum string) ([]byte, error) {
	if !schema.ValidSessionID(id) || !schema.ValidSHA256(sum) {
		return nil, session.ErrNotFound
	}
	data, err := s.readAttachment(id, sum)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, session.ErrNotFound
	} else if err != nil {
		return nil, fmt.Errorf("read an attachment: %w", err)
	}
	if found := sha256.Sum256(data); hex.EncodeToString(found[:]) != sum {
		return nil, session.ErrDamaged
	}
	return data, nil
}

func (s *Store) readAttachment(id, sum string) ([]byte, error) {
	own, err := s.attachments(id)
	if err != nil {
		return nil, err
	}
	defer own.Close()
	f, err := own.open(sum, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAttachment(f)
}

// attachments is the folder of what is attached to id; fs.ErrNotExist when
// there is none.
func (s *Store) attachments(id string) (folder, error) {
	all, err := s.top.existing(attachmentsFolder)
	if err != nil {
		return folder{}, err
	}
	defer all.Close()
	return all.existing(id)
}

// removeAttachments removes what is attached to id, also what no record names,
// and for good.
func (s *Store) removeAttachments(id string) error {
	err := s.emptyAttachments(id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return fmt.Errorf("delete attachments: %w", err)
	}
	all, err := s.top.existing(attachmentsFolder)
	if err != nil {
		return err
	}
	defer all.Close()
	if err := all.Remove(id); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("delete attachments: %w", err)
	}
	return all.sync()
}

func (s *Store) emptyAttachments(id string) error {
	own, err := s.attachments(id)
	if err != nil {
		return err
	}
	defer own.Close()
	names, err := own.names()
	if err != nil {
		return err
	}
	for _, name := range names {
		if !schema.ValidSHA256(name) && !strings.HasSuffix(name, unfinished) {
			continue // none of ours
		}
		if err := own.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// pruneAttachments removes what was attached, before that time, to sessions of
// which no log was ever made durable.
func (s *Store) pruneAttachments(before time.Time) error {
	all, err := s.top.existing(attachmentsFolder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer all.Close()
	names, err := all.names()
	if err != nil {
		return err
	}
	var errs []error
	for _, id := range names {
		info, err := all.Lstat(id)
		if err != nil || !schema.ValidSessionID(id) || !info.ModTime().Before(before) {
			continue // deleted meanwhile, none of ours, or new
		}
		errs = append(errs, s.pruneOrphans(id))
	}
	return errors.Join(errs...)
}

func (s *Store) pruneOrphans(id string) error {
	if _, err := s.sessions.Lstat(logName(id)); !errors.Is(err, fs.ErrNotExist) {
		return nil // a session's, or nobody knows
	}
	h, err := s.take(id)
	if locked := (*session.LockedError)(nil); errors.As(err, &locked) {
		return nil
	} else if err != nil {
		return err
	}
	if _, err = s.sessions.Lstat(logName(id)); errors.Is(err, fs.ErrNotExist) {
		err = s.removeAttachments(id)
	}
	return errors.Join(err, h.release())
}
