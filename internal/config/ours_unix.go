//go:build unix

package config

import (
	"io/fs"
	"os"
	"syscall"
)

// oursAlone tells whether a file is the user's, and nobody else may read it.
func oursAlone(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid() && info.Mode().Perm()&0o077 == 0
}
