package bundle

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// Why something in a workspace is not read. What the text of such an error says
// holds no path beside those that a manifest names.
var (
	ErrOutside    = errors.New("leads out of where it may be read")
	ErrNotRegular = errors.New("is no regular file")
	ErrNotFolder  = errors.New("is no folder")
	ErrTooLarge   = errors.New("is too large")
	errLinks      = errors.New("is a link that leads in a circle, or through too many others")
)

// A fence holds the folders below which may be read, without links in their
// paths.
type fence []string

// inside finds the folder of f that holds path, which has no links, and the
// rest of the path.
func (f fence) inside(path string) (dir, rest string, ok bool) {
	for _, dir := range f {
		if rest, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rest) {
			return dir, rest, true
		}
	}
	return "", "", false
}

// real is path without links. Nothing on the way is opened.
func realPath(path string) (string, error) {
	found, err := filepath.EvalSymlinks(path)
	switch {
	case err == nil:
		return found, nil
	case errors.Is(err, syscall.ELOOP) || err.Error() == "EvalSymlinks: too many links":
		return "", errLinks
	}
	return "", err
}

// open opens what path leads to, if that is below the fence. It is looked at
// before it is opened, since to open a device can do something, and through an
// os.Root, so that nobody can put a link in its place meanwhile. Opening does
// not wait for the other end of a pipe.
func (f fence) open(path string, regular bool) (file *os.File, real string, err error) {
	if real, err = realPath(path); err != nil {
		return nil, "", err
	}
	dir, rest, ok := f.inside(real)
	if !ok {
		return nil, real, ErrOutside
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, real, err
	}
	defer root.Close()
	if info, err := root.Lstat(rest); err != nil {
		return nil, real, err
	} else if err := isKind(info, regular); err != nil {
		return nil, real, err
	}
	if file, err = root.OpenFile(rest, os.O_RDONLY|noWait, 0); err != nil {
		return nil, real, err
	}
	info, err := file.Stat()
	if err == nil {
		err = isKind(info, regular)
	}
	if err != nil {
		return nil, real, errors.Join(err, file.Close())
	}
	return file, real, nil
}

func isKind(info fs.FileInfo, regular bool) error {
	switch {
	case regular && !info.Mode().IsRegular():
		return ErrNotRegular
	case !regular && !info.IsDir():
		return ErrNotFolder
	}
	return nil
}

// A content is what was in a file.
type content struct {
	data     []byte
	real     string // the file's path, without links
	warnings []string
}

// read reads the regular file that path leads to, of at most so many bytes.
// With ErrOutside the content has the real path and nothing else.
func (f fence) read(path string, most int64) (content, error) {
	file, real, err := f.open(path, true)
	if err != nil {
		return content{real: real}, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return content{}, err
	}
	if info.Size() > most {
		return content{}, tooLarge(most)
	}
	data, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(data)) > most {
		err = tooLarge(most)
	}
	c := content{data: data, real: real}
	if n := names(info); n > 1 {
		c.warnings = append(c.warnings, "the file has "+strconv.FormatUint(n, 10)+" names (hard links): the same text may stand elsewhere under another one")
	}
	return c, err
}

func tooLarge(most int64) error {
	return fmt.Errorf("%w: it may have %d bytes", ErrTooLarge, most)
}

// list reads the names in the folder that path leads to, at most so many.
func (f fence) list(path string, most int) (entries []fs.DirEntry, real string, err error) {
	dir, real, err := f.open(path, false)
	if err != nil {
		return nil, real, err
	}
	defer dir.Close()
	entries, err = dir.ReadDir(most + 1)
	switch {
	case errors.Is(err, io.EOF):
		return nil, real, nil
	case err == nil && len(entries) > most:
		return nil, real, fmt.Errorf("%w: it may have %d entries", ErrTooLarge, most)
	}
	return entries, real, err
}

// reason is why something can't be read, without its path.
func reason(err error) string {
	if f, ok := errors.AsType[*fault](err); ok {
		return f.Error()
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return "can't be read: " + p.Err.Error()
	}
	return err.Error()
}
