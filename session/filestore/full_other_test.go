//go:build !linux

package filestore_test

import "github.com/prism-rpc/prism-rpc/session/filestore"

// fillUp is played where a file's size can be limited to fill a disk.
var fillUp func(*filestore.Store) error
