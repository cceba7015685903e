package filestore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	folderMode = 0o700
	fileMode   = 0o600
)

// A folder is held by handle, so that nothing done to its path later leads
// elsewhere. Every file in it is opened relative to it, and never through a
// link: os.Root alone would follow one that stays inside.
type folder struct{ *os.Root }

// enter opens the folder at path with lstat and open, which are os's or those
// of the folder around it.
func enter(path string, lstat func(string) (fs.FileInfo, error), open func(string) (*os.Root, error)) (folder, error) {
	info, err := lstat(path)
	if err != nil {
		return folder{}, err
	}
	if err := safeFolder(info); err != nil {
		return folder{}, err
	}
	root, err := open(path)
	if err != nil {
		return folder{}, err
	}
	if opened, err := root.Stat("."); err != nil || !os.SameFile(info, opened) {
		return folder{}, errors.Join(errReplaced, err, root.Close())
	}
	return folder{root}, nil
}

// sub opens the folder name in d, making it when it isn't there.
func (d folder) sub(name string) (folder, error) {
	if err := d.Mkdir(name, folderMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return folder{}, err
	}
	return d.existing(name)
}

// existing opens the folder name in d.
func (d folder) existing(name string) (folder, error) {
	return enter(name, d.Lstat, d.Root.OpenRoot)
}

// create makes the file name; fs.ErrExist when anything has that name.
func (d folder) create(name string) (*os.File, error) {
	return d.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, fileMode)
}

// open opens the file name: os.O_RDONLY or os.O_RDWR. What is no plain file
// is not even opened.
func (d folder) open(name string, flag int) (*os.File, error) {
	info, err := d.Lstat(name)
	if err != nil {
		return nil, err
	}
	if err := regular(info); err != nil {
		return nil, err
	}
	f, err := d.OpenFile(name, flag|openWithoutWaiting, 0)
	if err != nil {
		return nil, err
	}
	if err := safeFile(f, info); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// names are those of the folder's entries, in no order.
func (d folder) names() ([]string, error) {
	f, err := d.Open(".")
	if err != nil {
		return nil, err
	}
	names, err := f.Readdirnames(-1)
	return names, errors.Join(err, f.Close())
}

// sync makes the folder's entries durable.
func (d folder) sync() error {
	f, err := d.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(syncFolder(f), f.Close())
}

func safeFolder(info fs.FileInfo) error {
	if !info.IsDir() {
		return fmt.Errorf("%w: %s is no folder", ErrUnsafe, info.Name())
	}
	return private(info)
}

func regular(info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%w: %s is no regular file", ErrUnsafe, info.Name())
	}
	return nil
}

// safeFile checks that f is the file that info was taken of, and nobody
// else's.
func safeFile(f *os.File, info fs.FileInfo) error {
	opened, err := f.Stat()
	if err != nil {
		return err
	}
	if !os.SameFile(info, opened) {
		return errReplaced
	}
	names, err := linkCount(f, opened)
	if err != nil {
		return err
	}
	return safeNamed(opened, names)
}

func safeNamed(info fs.FileInfo, names uint64) error {
	if names > 1 {
		return fmt.Errorf("%w: %s has several names", ErrUnsafe, info.Name())
	}
	return private(info)
}

// makeFolders makes path and what is missing above it. It returns the folders
// that gained an entry, which is not durable before they are synced.
func makeFolders(path string) (gained []string, err error) {
	for p := path; p != filepath.Dir(p); p = filepath.Dir(p) {
		if _, err := os.Lstat(p); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		gained = append(gained, filepath.Dir(p))
	}
	return gained, os.MkdirAll(path, folderMode)
}

// syncPath makes the entries of the folder at path durable. One that may be
// written but not read can't be synced by us, and need not be ours.
func syncPath(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(syncFolder(f), f.Close())
}
