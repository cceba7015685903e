package filestore

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/prism-rpc/prism-rpc/schema"
)

const (
	indexFolder   = "index"
	indexName     = "sessions.json"
	indexType     = "index"
	unfinished    = ".tmp"
	maxIndexBytes = 64 << 20
)

// abandonedAfter is how old an unfinished index must be to be taken for what a
// dead process left.
const abandonedAfter = time.Minute

// An index is one sealed line, as a log's are. It says what List would read in
// the logs, and of which version of each, so that List need not read those. It
// is nothing but a shortcut: the logs are the truth, and whatever is wrong
// with an index it is made again. So it needs no lock, nor to be durable.
type index struct {
	schema.RecordHead
	Logs []*listed `json:"logs"`
}

// readIndex is what the index knows, by session id.
func (s *Store) readIndex() map[string]*listed {
	d, err := s.top.sub(indexFolder)
	if err != nil {
		return nil // saveIndex reports it
	}
	defer d.Close()
	f, err := d.open(indexName, os.O_RDONLY)
	if err != nil {
		return nil
	}
	defer f.Close()
	return parseIndex(f)
}

// parseIndex believes an index that is whole, and of its rows the valid ones.
func parseIndex(r io.Reader) map[string]*listed {
	line, err := io.ReadAll(io.LimitReader(r, maxIndexBytes))
	if err != nil || !bytes.HasSuffix(line, []byte("\n")) {
		return nil
	}
	text, ok := unseal(line[:len(line)-1])
	if !ok {
		return nil
	}
	var x index
	if json.Unmarshal(text, &x) != nil || x.V != schema.LogFormat || x.T != indexType {
		return nil
	}
	known := make(map[string]*listed, len(x.Logs))
	for _, l := range x.Logs {
		if l != nil && l.Valid() {
			known[l.ID] = l
		}
	}
	return known
}

// saveIndex replaces the index. Nothing depends on it; what goes wrong is
// told to Options.OnSkip.
func (s *Store) saveIndex(all []*listed) {
	if err := s.writeIndex(all); err != nil {
		s.skip(indexName, fmt.Errorf("write the index: %w", err))
	}
}

func (s *Store) writeIndex(all []*listed) error {
	text, err := json.Marshal(&index{RecordHead: schema.RecordHead{V: schema.LogFormat, T: indexType}, Logs: all})
	if err != nil {
		return err
	}
	line := seal(text)
	if len(line) > maxIndexBytes {
		return ErrTooLarge
	}
	d, err := s.top.sub(indexFolder)
	if err != nil {
		return err
	}
	defer d.Close()
	return errors.Join(d.replace(indexName, line), d.sweep())
}

// replace gives the file name this content, in one step for whoever reads it.
func (d folder) replace(name string, content []byte) error {
	temporary := fmt.Sprintf("%s.%d.%d%s", name, os.Getpid(), time.Now().UnixNano(), unfinished)
	f, err := d.create(temporary)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
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

// unlist takes sessions off the index, lest it tell of what is gone. One that
// can't be replaced is removed.
func (s *Store) unlist(gone map[string]bool) error {
	known := s.readIndex()
	rest := make([]*listed, 0, len(known))
	for id, l := range known {
		if !gone[id] {
			rest = append(rest, l)
		}
	}
	if known != nil && len(rest) == len(known) {
		return nil
	}
	if known != nil && s.writeIndex(rest) == nil {
		return nil
	}
	err := s.top.Remove(indexFolder + "/" + indexName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
