package upstream

import (
	"github.com/go-json-experiment/json"

	"github.com/prism-rpc/prism-rpc/provider"
)

// A List writes the Body of a request in which one member, the messages, is a
// list of any length. Buf is what comes after the parts that were taken as they
// are; what is no item of the list is appended to it.
type List struct {
	Buf []byte

	body  Body
	begun bool // an item was written
}

// Comma goes before each item.
func (l *List) Comma() {
	if l.begun {
		l.Buf = append(l.Buf, ',')
	}
	l.begun = true
}

// Empty tells whether there is no item yet.
func (l *List) Empty() bool { return !l.begun }

// Copy writes items that are encoded, joined by commas.
func (l *List) Copy(encoded []byte) {
	l.Comma()
	l.Buf = append(l.Buf, encoded...)
}

// Take is Copy of many, which must not be changed after.
func (l *List) Take(encoded []byte) {
	l.Comma()
	l.body.Add(l.Buf)
	l.body.Add(encoded)
	l.Buf = nil
}

// Item encodes an item.
func (l *List) Item(v any) error {
	l.Comma()
	return l.Encode(v)
}

// Encode appends what is a part of an item.
func (l *List) Encode(v any) error {
	encoded, err := json.Marshal(v)
	l.Buf = append(l.Buf, encoded...)
	return err
}

// End is the body that was written.
func (l *List) End() *Body {
	l.body.Add(l.Buf)
	return &l.body
}

// A Dialogue writes what a request holds as the items of a list.
type Dialogue interface {
	History(*provider.History) error
	Message(*provider.Message) error
}

// BodyOf is the body {"model":…,name:[…],…}: the list, called name, as into
// writes it to l, then the members of settings, which is a struct.
func (l *List) BodyOf(req *provider.Request, name string, settings any, into Dialogue) (*Body, error) {
	l.Buf = append(l.Buf, `{"model":`...)
	if err := l.Encode(req.Model); err != nil {
		return nil, err
	}
	l.Buf = append(append(append(l.Buf, `,"`...), name...), `":[`...)
	for i := range req.Segments {
		if err := write(into, &req.Segments[i]); err != nil {
			return nil, err
		}
	}
	rest, err := json.Marshal(settings)
	if err != nil {
		return nil, err
	}
	l.Buf = append(append(l.Buf, `],`...), rest[1:]...) // without its {
	return l.End(), nil
}

func write(into Dialogue, s *provider.Segment) error {
	if s.Kind == provider.SegmentHistory {
		return into.History(&s.History)
	}
	for i := range s.Messages {
		if err := into.Message(&s.Messages[i]); err != nil {
			return err
		}
	}
	return nil
}
