//go:build unix && !linux && !darwin && !dragonfly && !freebsd && !netbsd && !openbsd

package main

import "errors"

// processFD can't be had here.
func processFD(int) (int, error) { return -1, errors.ErrUnsupported }
