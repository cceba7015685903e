package filestore

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/prism-rpc/prism-rpc/schema"
)

// repair cuts f, the log of id, back to end, and keeps what stood behind it in
// the folder torn. The copy is durable before anything is cut. It returns how
// much was cut and where it is kept.
func (s *Store) repair(id string, f *os.File, end int64) (dropped int64, kept string, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, "", err
	}
	dropped = info.Size() - end
	if dropped <= 0 {
		return 0, "", nil
	}
	name := tailName(id, end, time.Now())
	if err := s.keep(name, io.NewSectionReader(f, end, dropped)); err != nil {
		return 0, "", fmt.Errorf("keep a log's torn tail: %w", err)
	}
	if err := f.Truncate(end); err != nil {
		return 0, "", fmt.Errorf("cut session log: %w", err)
	}
	return dropped, filepath.Join(s.dir, tornFolder, name), nil
}

func (s *Store) keep(name string, tail io.Reader) error {
	f, err := s.torn.create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, tail)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, s.torn.Remove(name))
	}
	return s.torn.sync()
}

func (s *Store) report(id string, dropped int64, kept string) {
	if dropped > 0 && s.opts.OnRepair != nil {
		s.opts.OnRepair(id, dropped, kept)
	}
}

// A tail is what a repair cut off a session's log.
type tail struct {
	name string // in the folder torn
	id   string
	at   time.Time // of the repair
}

const tailTime = "20060102T150405.000000000Z"

func tailName(id string, end int64, at time.Time) string {
	return fmt.Sprintf("%s.%d.%s", id, end, at.UTC().Format(tailTime))
}

// parseTail reads a name from its end: ids have points too.
func parseTail(name string) (t tail, ok bool) {
	cut := len(name) - len(tailTime)
	if cut < 1 || name[cut-1] != '.' {
		return t, false
	}
	at, err := time.Parse(tailTime, name[cut:])
	if err != nil {
		return t, false
	}
	front := name[:cut-1]
	point := strings.LastIndexByte(front, '.')
	if point < 0 || !schema.ValidSessionID(front[:point]) {
		return t, false
	}
	if _, err := strconv.ParseUint(front[point+1:], 10, 63); err != nil {
		return t, false
	}
	return tail{name, front[:point], at}, true
}

// tails are all that repairs have left; other files are none of ours.
func (s *Store) tails() ([]tail, error) {
	names, err := s.torn.names()
	if err != nil {
		return nil, fmt.Errorf("list torn tails: %w", err)
	}
	var tails []tail
	for _, name := range names {
		if t, ok := parseTail(name); ok {
			tails = append(tails, t)
		}
	}
	return tails, nil
}

func (s *Store) removeTails(tails []tail, which func(tail) bool) error {
	for _, t := range tails {
		if !which(t) {
			continue
		}
		if err := s.torn.Remove(t.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("delete torn tail: %w", err)
		}
	}
	return nil
}
