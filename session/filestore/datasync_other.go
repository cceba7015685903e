//go:build !linux

package filestore

import "os"

// datasync makes f durable. On macOS os.File.Sync also empties the drive's
// cache, which fdatasync there doesn't.
func datasync(f *os.File) error { return f.Sync() }
