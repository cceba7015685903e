package provider

import (
	"crypto/sha256"
	"encoding/hex"
	"iter"

	"github.com/prism-rpc/prism-rpc/schema"
)

// String names the kind as it stands on the wire.
func (k SegmentKind) String() string {
	return [...]string{"system", "stable", "history", "blocks", "input", "notices", "tools"}[k]
}

// A Piece is some of a request's messages as bytes: a message, or a whole
// history.
type Piece struct {
	Segment int // of the request
	Message int // in the segment
	Bytes   []byte
}

// Pieces are the request's messages in the order in which the model reads
// them, each as AppendMessage encodes it, with a comma behind each message but
// a history's own last one, which has one behind the history. What adapters
// strip is not in them. They are what two requests are compared by.
func (r *Request) Pieces() iter.Seq2[Piece, error] {
	return func(yield func(Piece, error) bool) {
		for i := range r.Segments {
			seg := &r.Segments[i]
			if seg.History.Len() > 0 && !(yield(Piece{Segment: i, Bytes: seg.History.bytes}, nil) && yield(Piece{Segment: i, Bytes: comma}, nil)) {
				return
			}
			for j, m := range seg.Messages {
				raw, err := AppendMessage(nil, schema.Message{Role: m.Role, Content: m.Content})
				if !yield(Piece{i, j, append(raw, ',')}, err) {
					return
				}
			}
		}
	}
}

var comma = []byte(",")

// Measure is the size and the SHA-256, in hex, of the request's pieces.
func (r *Request) Measure() (size int, hash string, err error) {
	h := sha256.New()
	for p, err := range r.Pieces() {
		if err != nil {
			return 0, "", err
		}
		size += len(p.Bytes)
		h.Write(p.Bytes) // a hash takes all it is given
	}
	return size, hex.EncodeToString(h.Sum(nil)), nil
}

// Shared says how much of a request is the beginning of another one.
type Shared struct {
	Bytes   int  // leading ones that are the same
	Whole   bool // it is the other's beginning, all of it
	Segment int  // where the first difference is
	Message int  // in that segment
	Offset  int  // of the difference in that message or history, in bytes
}

// SharedWith compares r's pieces with those of an earlier request: how far r
// goes on as that one did.
func (r *Request) SharedWith(earlier *Request) (Shared, error) {
	next, stop := iter.Pull2(earlier.Pieces())
	defer stop()
	var out Shared
	var old []byte // what is left of the earlier request's piece
	for p, err := range r.Pieces() {
		if err != nil {
			return out, err
		}
		for rest := p.Bytes; len(rest) > 0; {
			if len(old) == 0 {
				q, err, more := next()
				if err != nil || !more {
					out.Whole = !more
					out.at(p, rest)
					return out, err
				}
				old = q.Bytes
			}
			n := commonPrefix(rest, old)
			out.Bytes += n
			if n < min(len(rest), len(old)) {
				out.at(p, rest[n:])
				return out, nil
			}
			rest, old = rest[n:], old[n:]
		}
	}
	out.Whole = true
	return out, nil
}

func (s *Shared) at(p Piece, rest []byte) {
	s.Segment, s.Message, s.Offset = p.Segment, p.Message, len(p.Bytes)-len(rest)
}

// commonPrefix compares in large steps first.
func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for step := n; step > 0; {
		if string(a[i:i+step]) == string(b[i:i+step]) {
			i += step
			step = min(step, n-i)
		} else {
			step /= 2
		}
	}
	return i
}
