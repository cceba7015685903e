//go:build unix

package wasm

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// private refuses what another user owns or may write.
func private(path string, info fs.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok || int(st.Uid) != os.Geteuid():
		return fmt.Errorf("%w: %s belongs to another user", ErrCache, path)
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("%w: %s may be written by others", ErrCache, path)
	}
	return nil
}
