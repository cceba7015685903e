package filestore

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"
)

const (
	indexFolder   = "index"
	indexName     = "sessions"
	unfinished    = ".tmp"
	maxIndexBytes = 64 << 20
)

// The index says what List would read in the logs, and of which version of
// each, so that List need not read those. It is nothing but a shortcut: the
// logs are the truth, and whatever is wrong with an index it is made again. So
// it needs no lock, nor to be durable.

// abandonedAfter is how old an unfinished index must be to be taken for what a
// dead process left.
const abandonedAfter = time.Minute

// readIndex is what the index knows, by session id: nothing, if it can't be
// read or is not whole.
func (s *Store) readIndex() map[string]*listed {
	d, err := s.top.existing(indexFolder)
	if err != nil {
		return nil
	}
	defer d.Close()
	return d.readIndex()
}

func (d folder) readIndex() map[string]*listed {
	f, err := d.open(indexName, os.O_RDONLY)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() > maxIndexBytes {
		return nil
	}
	text := make([]byte, info.Size())
	if _, err := io.ReadFull(f, text); err != nil {
		return nil
	}
	return parseIndex(text)
}

// saveIndex replaces the index. Nothing depends on it: what goes wrong is
// told to Options.OnSkip.
func (s *Store) saveIndex(all []*listed) {
	d, err := s.top.sub(indexFolder)
	if err == nil {
		err = errors.Join(d.writeIndex(all), d.Close())
	}
	if err != nil {
		s.skip(indexName, fmt.Errorf("write the index: %w", err))
	}
}

func (d folder) writeIndex(all []*listed) error {
	text := appendIndex(nil, all)
	if len(text) > maxIndexBytes {
		return ErrTooLarge
	}
	return errors.Join(d.replace(indexName, text, nil), d.sweep())
}

// replace gives the file name this content, in one step for whoever reads it,
// after settle, if there is one, has made it durable.
func (d folder) replace(name string, content []byte, settle func(*os.File) error) error {
	temporary := fmt.Sprintf("%s.%d.%d%s", name, os.Getpid(), time.Now().UnixNano(), unfinished)
	f, err := d.create(temporary)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil && settle != nil {
		err = settle(f)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = d.Rename(temporary, name)
	}
	if err != nil {
		return errors.Join(err, d.Remove(temporary))
	}
	return nil
}

// sweep removes what processes that died left unfinished.
func (d folder) sweep() error {
	names, err := d.names()
	if err != nil {
		return err
	}
	for _, name := range names {
		if !strings.HasSuffix(name, unfinished) {
			continue
		}
		info, err := d.Lstat(name)
		if err != nil || time.Since(info.ModTime()) < abandonedAfter {
			continue // done meanwhile, or being written
		}
		if err := d.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// unlist takes sessions off the index, lest it tell of what is gone. Another
// process that is listing at that moment may put them there once more, until
// its next list.
func (s *Store) unlist(gone map[string]bool) error {
	s.indexing.Lock()
	defer s.indexing.Unlock()
	d, err := s.top.existing(indexFolder)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrUnsafe) {
		return nil // no index, or none that this program writes
	} else if err != nil {
		return err
	}
	return errors.Join(d.unlist(gone), d.Close())
}

// unlist removes the whole index where it can't be read or replaced.
func (d folder) unlist(gone map[string]bool) error {
	known := d.readIndex()
	rest := make([]*listed, 0, len(known))
	for id, l := range known {
		if !gone[id] {
			rest = append(rest, l)
		}
	}
	if known != nil && len(rest) == len(known) {
		return nil
	}
	if known == nil || d.writeIndex(rest) != nil {
		if err := d.Remove(indexName); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove the index: %w", err)
		}
	}
	return d.sync()
}
