package inject

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-rpc/prism-rpc/schema"
)

// Bounds of a contribution's JSON; what is larger is a fault.
const (
	maxContribution = 2 << 20 // bytes: all the text that it may hold, escaped
	maxElements     = 1000    // of one list
	maxIgnored      = 32      // names kept of the fields that change nothing
	maxIgnoredBytes = 128     // of one such name, as it is shown
)

// What can be wrong with a contribution's JSON as such.
var (
	ErrNotJSON = errors.New("contribution is not one JSON value, or has a field twice")
	ErrManyOf  = errors.New("contribution holds a list of more than 1000 elements")
)

// DecodeContribution reads a contribution that comes from outside: a client's
// answer, a module's output. It is an object {instructions?, contextBlocks?,
// when?}; null, the injector's way of saying "not now", is the zero
// Contribution, which injects nothing.
//
// It is lenient (P7): any other field, at the top or in a block, changes
// nothing; Ignored names it by its path (`tools`, `contextBlocks[0].role`),
// 32 of them at most, sorted. `_meta` is everybody's own and not named. What is
// of a wrong type, repeated or past a bound is an error, an unknown timing too
// (P10): ErrNotJSON, ErrNotUTF8, ErrManyOf, ErrTooLarge, a *schema.ParamsError, or what
// Check says.
func DecodeContribution(raw []byte) (Contribution, error) {
	switch {
	case len(raw) > maxContribution:
		return Contribution{}, ErrTooLarge
	case !utf8.Valid(raw):
		return Contribution{}, ErrNotUTF8
	}
	known, ignored, err := sift(raw, reflect.TypeFor[schema.ApplyInjectorResult]())
	if err != nil {
		return Contribution{}, err
	}
	if string(known) == "null" {
		return Contribution{}, nil
	}
	var from schema.ApplyInjectorResult
	if err := schema.Decode(known, &from); err != nil {
		return Contribution{}, err
	}
	if err := schema.CheckBlocks("contextBlocks", from.ContextBlocks); err != nil {
		return Contribution{}, err
	}
	c := Contribution{Instructions: from.Instructions, ContextBlocks: from.ContextBlocks, When: from.When, Ignored: ignored}
	return c, c.Check()
}

// sift copies the one JSON value in raw without the members that t does not know, and
// lists those.
func sift(raw []byte, t reflect.Type) (known []byte, ignored []string, err error) {
	var out bytes.Buffer
	s := sieve{
		in:  jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowInvalidUTF8(true)),
		out: jsontext.NewEncoder(&out, jsontext.AllowInvalidUTF8(true)),
	}
	if err := s.value("", t); errors.Is(err, ErrManyOf) {
		return nil, nil, err
	} else if err != nil {
		return nil, nil, ErrNotJSON
	}
	if _, err := s.in.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, nil, ErrNotJSON
	}
	slices.Sort(s.ignored)
	return bytes.TrimSpace(out.Bytes()), s.ignored[:min(len(s.ignored), maxIgnored)], nil
}

type sieve struct {
	in      *jsontext.Decoder
	out     *jsontext.Encoder
	ignored []string
}

// value passes on what is not of t's kind too: decoding says what is wrong.
func (s *sieve) value(path string, t reflect.Type) error {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch kind := s.in.PeekKind(); {
	case kind == jsontext.KindBeginObject && t.Kind() == reflect.Struct:
		return s.object(path, membersOf(t))
	case kind == jsontext.KindBeginArray && t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct:
		return s.array(path, t.Elem())
	}
	v, err := s.in.ReadValue()
	if err != nil {
		return err
	}
	return s.out.WriteValue(v)
}

func (s *sieve) object(path string, members map[string]reflect.Type) error {
	if err := s.token(); err != nil {
		return err
	}
	for s.in.PeekKind() == jsontext.KindString {
		token, err := s.in.ReadToken()
		if err != nil {
			return err
		}
		if err := s.member(path, token.String(), members); err != nil {
			return err
		}
	}
	return s.token()
}

func (s *sieve) member(path, name string, members map[string]reflect.Type) error {
	at := strings.TrimPrefix(path+"."+name, ".")
	t, known := members[name]
	if known {
		if err := s.out.WriteToken(jsontext.String(name)); err != nil {
			return err
		}
		return s.value(at, t)
	}
	if name != metaMember {
		s.ignored = append(s.ignored, at)
	}
	return s.in.SkipValue()
}

const metaMember = "_meta"

func (s *sieve) array(path string, of reflect.Type) error {
	if err := s.token(); err != nil {
		return err
	}
	for i := 0; s.in.PeekKind() != jsontext.KindEndArray; i++ {
		if i == maxElements {
			return ErrManyOf
		}
		if err := s.value(path+"["+strconv.Itoa(i)+"]", of); err != nil {
			return err
		}
	}
	return s.token()
}

// token passes on one token.
func (s *sieve) token() error {
	t, err := s.in.ReadToken()
	if err != nil {
		return err
	}
	return s.out.WriteToken(t)
}

// membersOf are the JSON members of a struct, those of embedded ones among
// them.
func membersOf(t reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			out[name] = f.Type
		}
	}
	return out
}
