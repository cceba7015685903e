package bundle

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
)

// How long the folders have to be still before they are looked at again, and
// how long that may put it off.
const (
	settle     = 50 * time.Millisecond
	settleMost = time.Second
)

// Watch scans whenever one of the folders changes that bundles are or may come
// to be in, and reports what has changed, if anything has. It returns when ctx
// ends, with nil, or when nothing can be watched any more. The first scan is
// its own: what changed before it began is not lost.
func (s *Source) Watch(ctx context.Context, report func(Changes, error)) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch: %w", err)
	}
	defer w.Close()
	f := &follower{source: s, watcher: w, watched: map[string]bool{}, report: report}
	for {
		f.rescan(ctx)
		if !f.wait(ctx) {
			return nil
		}
	}
}

// A follower keeps what is watched in step with what is there.
type follower struct {
	source  *Source
	watcher *fsnotify.Watcher
	watched map[string]bool
	report  func(Changes, error)
	roots   []string // of the workspaces, without links
	failed  bool     // a folder could not be watched, which was reported
}

// rescan watches first: what changes between the two is seen.
func (f *follower) rescan(ctx context.Context) {
	for {
		fresh := f.follow()
		changes, err := f.source.Scan(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil || len(changes.Names) > 0 || len(changes.Problems) > 0 {
			f.report(changes, err)
		}
		if more := f.follow(); !fresh && !more {
			return
		}
	}
}

// follow watches the folders that there are now, and tells whether one is new.
func (f *follower) follow() (fresh bool) {
	f.roots = f.source.roots()
	wanted := f.source.folders()
	for dir := range f.watched {
		if !wanted[dir] {
			_ = f.watcher.Remove(dir) // it may have gone by itself
			delete(f.watched, dir)
		}
	}
	for dir := range wanted {
		if f.watched[dir] {
			continue
		}
		switch err := f.watcher.Add(dir); {
		case err == nil:
			f.watched[dir], fresh = true, true
		case !f.failed && !isGone(err):
			f.failed = true
			f.report(Changes{}, fmt.Errorf("a folder can't be watched: %w", err))
		}
	}
	return fresh
}

// wait returns true when something has changed and is still again.
func (f *follower) wait(ctx context.Context) bool {
	var still, latest <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return false
		case <-still:
			return true
		case <-latest:
			return true
		case e, ok := <-f.watcher.Events:
			if !ok {
				return false
			}
			if !f.matters(e) {
				continue
			}
		case err, ok := <-f.watcher.Errors:
			if !ok {
				return false
			}
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				f.report(Changes{}, fmt.Errorf("watch: %w", err))
			}
		}
		still = time.After(settle)
		if latest == nil {
			latest = time.After(settleMost)
		}
	}
}

// matters tells whether an event is about bundles: of what changes in a
// workspace's root only .agents is. A folder that goes takes its watch along.
func (f *follower) matters(e fsnotify.Event) bool {
	if e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename) {
		_ = f.watcher.Remove(e.Name) // if it was watched, it is no longer where it was
		delete(f.watched, e.Name)
	}
	return !slices.Contains(f.roots, filepath.Dir(e.Name)) || filepath.Base(e.Name) == agentsFolder
}
