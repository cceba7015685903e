//go:build !unix

package config

import "io/fs"

// oursAlone is for systems whose files say it in other ways.
func oursAlone(fs.FileInfo) bool { return true }
