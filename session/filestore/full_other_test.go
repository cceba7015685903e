//go:build !linux

package filestore_test

import "github.com/prism-rpc/prism-rpc/session/filestore"

// These are played where a file's size can be limited to fill a disk.
var fillUp, listWithoutRoom func(*filestore.Store) error
