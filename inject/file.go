package inject

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/prism-rpc/prism-rpc/schema"
)

// A TextError says where in a file its text can't be used; Err is ErrNotUTF8
// or ErrNUL.
type TextError struct {
	Offset int // in bytes, from 0
	Err    error
}

func (e *TextError) Error() string { return e.Err.Error() + " at byte " + strconv.Itoa(e.Offset) }

func (e *TextError) Unwrap() error { return e.Err }

// CleanText makes instructions of a file's bytes: without a byte order mark,
// with LF line ends, without newlines at the end (P23). The errors are
// ErrTooLarge, ErrEmpty and *TextError.
func CleanText(b []byte) (string, error) {
	if len(b) > schema.MaxInjectorBytes {
		return "", ErrTooLarge
	}
	if i := invalidAt(b); i >= 0 {
		return "", &TextError{i, ErrNotUTF8}
	}
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return "", &TextError{i, ErrNUL}
	}
	text := strings.TrimPrefix(string(b), "\ufeff")
	text = strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if blank(text) {
		return "", ErrEmpty
	}
	return text, nil
}

// invalidAt is the offset of the first byte that is not UTF-8, or -1.
func invalidAt(b []byte) int {
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

// A NamedFile is an instruction file that was read.
type NamedFile struct {
	Path string
	Data []byte
}

// FileInjectors makes one static every_turn injector of each file, in order.
// It is named after the file, without its last extension; a later file of a
// name that is taken gets -2, -3, … (P24).
func FileInjectors(files []NamedFile) ([]Injector, error) {
	out := make([]Injector, len(files))
	taken := map[string]bool{}
	for i, f := range files {
		text, err := CleanText(f.Data)
		if err != nil {
			return nil, inFile(f.Path, err)
		}
		name := free(fileName(f.Path), taken)
		if !schema.ValidInjectorName(name) {
			return nil, inFile(f.Path, fmt.Errorf("the file can't name an injector: %w", ErrName))
		}
		taken[name] = true
		out[i] = Static(name, Contribution{Instructions: text, When: schema.WhenEveryTurn})
	}
	return out, nil
}

func inFile(path string, err error) error {
	return fmt.Errorf("injector file %s: %w", path, err)
}

// fileName is the name that a file gives its injector. Some systems decompose
// accents in file names, and a name is composed.
func fileName(path string) string {
	base := filepath.Base(path)
	if stem := strings.TrimSuffix(base, filepath.Ext(base)); stem != "" {
		base = stem
	}
	return strings.TrimSpace(norm.NFC.String(base))
}

func free(name string, taken map[string]bool) string {
	for n, next := 2, name; ; n++ {
		if !taken[next] {
			return next
		}
		next = name + "-" + strconv.Itoa(n)
	}
}
