package filestore

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/internal/sequence"
)

// ErrTooLarge reports a record over MaxRecordBytes.
var ErrTooLarge = errors.New("record is larger than a log takes")

// A file is what a log needs of its handle; tests put a failing disk behind it.
type file interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Truncate(size int64) error
	datasync() error
}

// A log is a session's file, open for writing. Records are written at end and
// nowhere else, so that a write which failed leaves nothing behind.
type log struct {
	hold hold

	mu      sync.Mutex // Store.Close comes from elsewhere
	file    file       // &handle, but for tests
	handle  handle
	closed  bool
	settled bool  // the file's name is durable
	ragged  bool  // something may stand behind end
	lost    bool  // a sync failed: see resend
	place         // its end: whatever stands behind is no part of it
	synced  int64 // what stands before it is durable
}

func (s *Store) newLog(id string) *log { return &log{hold: hold{store: s, id: id}} }

// keep makes f the log's file, with its last good record at end.
func (l *log) keep(f *os.File, end place) error {
	l.file, l.place = &l.handle, end
	return l.handle.adopt(f)
}

// Append implements session.Log. A turn's record may be appended, unsynced,
// where a whole log is copied.
func (l *log) Append(record []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	next, err := l.seq.Append(record)
	if err != nil {
		return err
	}
	return l.write(record, next)
}

// Commit implements session.Log.
func (l *log) Commit(turn int, record []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	next, err := l.seq.Commit(turn, record)
	if err != nil {
		return err
	}
	was := l.place
	if err := l.write(record, next); err != nil {
		return err
	}
	if err := l.sync(); err != nil {
		l.place = was
		return errors.Join(err, l.cut())
	}
	return nil
}

// Sync implements session.Log.
func (l *log) Sync() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return fs.ErrClosed
	}
	return l.sync()
}

// Mark implements session.Log.
func (l *log) Mark() session.Mark {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mark()
}

// Close implements session.Log. It does not sync.
func (l *log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	return errors.Join(l.file.Close(), l.hold.release())
}

// failed says of which log err is: a handle does not know its name.
func (l *log) failed(to string, err error) error {
	return fmt.Errorf("%s session log %s: %w", to, logName(l.hold.id), err)
}

// write adds record in one write; next is the sequence with it.
func (l *log) write(record []byte, next sequence.Sequence) error {
	switch {
	case l.closed:
		return fs.ErrClosed
	case !sequence.OneLine(record):
		return fmt.Errorf("%w: not one line", sequence.ErrRecord)
	case len(record) > MaxRecordBytes:
		return ErrTooLarge
	}
	if l.ragged {
		if err := l.cut(); err != nil {
			return err
		}
	}
	line := seal(record)
	if _, err := l.file.WriteAt(line, l.end); err != nil {
		return errors.Join(l.failed("write", err), l.cut())
	}
	l.place = l.behind(line[:len(line)-1], next)
	return nil
}

// cut takes the file back to its last good record. If that fails too it is
// tried again before the next write; a reopened log would cut there as well.
func (l *log) cut() error {
	err := l.file.Truncate(l.end)
	l.ragged = err != nil
	if err != nil {
		return l.failed("cut", err)
	}
	l.synced = min(l.synced, l.end)
	return nil
}

func (l *log) sync() error {
	if err := l.resend(); err != nil {
		return l.failed("sync", err)
	}
	if err := l.file.datasync(); err != nil {
		l.lost = true
		return l.failed("sync", err)
	}
	l.synced = l.end
	if l.settled {
		return nil
	}
	if err := l.hold.store.syncFolders(); err != nil {
		return fmt.Errorf("sync session folder: %w", err)
	}
	l.settled = true
	return nil
}

// resend writes again what stood unsynced when a sync failed. The kernel calls
// such pages clean, and a later sync would skip them and succeed: a hole
// before an answered turn.
func (l *log) resend() error {
	if !l.lost {
		return nil
	}
	unsynced := io.NewSectionReader(l.file, l.synced, l.end-l.synced)
	if _, err := io.Copy(io.NewOffsetWriter(l.file, l.synced), unsynced); err != nil {
		return err
	}
	l.lost = false
	return nil
}
