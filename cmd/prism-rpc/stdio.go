package main

import "os"

// stdio is what the parent gave us to speak through, moved to private
// descriptors: whatever else in the process prints to 1 reaches stderr, what
// reads from 0 finds nothing, and no child inherits either.
type stdio struct {
	in, out *os.File

	noInput  bool // nobody can write to us
	noReader bool // nobody can read us
	terminal bool // a person types

	outFD int // for the watch; os.File.Fd would change its mode
}
