package wasm

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/tetratelabs/wazero"
	"go.uber.org/zap"
)

// ErrCache says that the folder for compiled code is not ours alone: what
// stands in it would be run.
var ErrCache = errors.New("the folder for compiled modules can't be trusted")

// What the cache keeps, the newest first: modules, and bytes of them.
const (
	maxCached      = 128
	maxCachedBytes = 256 << 20
)

// openCache is the cache that the options name; nil, with a line in the log,
// when there is none that can be trusted.
func openCache(o Options) wazero.CompilationCache {
	if o.CacheDir == "" {
		return nil
	}
	cache, err := cacheIn(o.CacheDir)
	if err != nil {
		o.Logger.Warn("compiled modules are kept in memory alone", zap.Error(err))
		return nil
	}
	return cache
}

func cacheIn(dir string) (wazero.CompilationCache, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := ours(dir); err != nil {
		return nil, err
	}
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return nil, err
	}
	folders, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, f := range folders { // one for each version of the compiler
		if err := ours(filepath.Join(dir, f.Name())); err != nil {
			return nil, err
		}
	}
	prune(dir)
	return cache, nil
}

// ours checks that path is a folder, no link, that nobody else may write.
func ours(path string) error {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%w: %s is no folder", ErrCache, path)
	}
	return private(path, info)
}

// prune removes the oldest entries past the bounds. That it can't is no matter.
func prune(dir string) {
	type entry struct {
		path string
		info fs.FileInfo
	}
	var entries []entry
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			entries = append(entries, entry{path, info})
		}
		return nil
	})
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(b.info.ModTime().UnixNano(), a.info.ModTime().UnixNano()) })
	size := int64(0)
	for i, e := range entries {
		if size += e.info.Size(); i >= maxCached || size > maxCachedBytes {
			_ = os.Remove(e.path)
		}
	}
}
