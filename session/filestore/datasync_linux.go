package filestore

import "golang.org/x/sys/unix"

func datasync(descriptor int) error { return unix.Fdatasync(descriptor) }
