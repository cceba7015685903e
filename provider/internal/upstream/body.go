package upstream

import (
	"bytes"
	"io"
)

// A Body is a request's bytes in parts that are never copied together, so that
// a long history costs a call nothing. It may be read several times at once.
type Body struct {
	parts [][]byte
	size  int64
}

// Add appends part, which must not be changed after.
func (b *Body) Add(part []byte) {
	b.parts = append(b.parts, part)
	b.size += int64(len(part))
}

// Len is the number of bytes.
func (b *Body) Len() int64 { return b.size }

// Open reads the body from its start.
func (b *Body) Open() io.ReadCloser {
	readers := make([]io.Reader, len(b.parts))
	for i, p := range b.parts {
		readers[i] = bytes.NewReader(p)
	}
	return io.NopCloser(io.MultiReader(readers...))
}

func (b *Body) reopen() (io.ReadCloser, error) { return b.Open(), nil }
