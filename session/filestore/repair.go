package filestore

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
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
	name := fmt.Sprintf("%s.%d.%s", id, end, time.Now().UTC().Format("20060102T150405.000000000Z"))
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
