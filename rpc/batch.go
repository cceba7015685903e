package rpc

import "sync"

// A batch gathers the replies to one array of requests. The last one sends
// them all.
type batch struct {
	room  int     // bytes that a reply may have beside its id
	calls []*call // in flight until the batch is sent; complete before the first begins

	mu    sync.Mutex
	parts [][]byte // by place in the array
	left  int      // places that are still to be filled
}

// fill puts one reply in its place, nil where nothing is answered. With the
// last of them it returns the whole answer, which is nil if no place has one.
func (b *batch) fill(place int, reply []byte) (whole []byte, last bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.parts[place] = reply
	b.left--
	if b.left > 0 {
		return nil, false
	}
	return joinArray(b.parts), true
}

func joinArray(parts [][]byte) []byte {
	var whole []byte
	for _, part := range parts {
		if part == nil {
			continue
		}
		whole = append(append(whole, ','), part...)
	}
	if whole == nil {
		return nil
	}
	whole[0] = '['
	return append(whole, ']')
}

// scanBatch takes the array at b[i]. Elements beyond max are checked and
// counted, not kept.
func scanBatch(b []byte, i, max int, open *nesting) (elements []envelope, count, next int, err error) {
	open.push(false)
	i = skipWS(b, i+1)
	if i < len(b) && b[i] == ']' {
		return nil, 0, i + 1, nil
	}
	for {
		var e envelope
		if e, i, err = scanElement(b, i, open); err != nil {
			return nil, 0, i, err
		}
		if count++; count <= max {
			elements = append(elements, e)
		}
		i = skipWS(b, i)
		switch {
		case i >= len(b):
			return nil, 0, i, errCut
		case b[i] == ']':
			return elements, count, i + 1, nil
		case b[i] != ',':
			return nil, 0, i, errSyntax
		}
		i++
	}
}

// scanElement takes an element that is no object as an envelope that isn't one.
func scanElement(b []byte, i int, open *nesting) (envelope, int, error) {
	i = skipWS(b, i)
	if i < len(b) && b[i] == '{' {
		return scanEnvelope(b, i, open)
	}
	i, err := scanValue(b, i, open)
	return envelope{}, i, err
}
