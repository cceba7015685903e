package rpc

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-rpc/prism-rpc/internal/plain"
)

// A bound says how much of a JSON value is kept.
type bound struct {
	text  int  // bytes of a string, as it reads decoded
	items int  // elements of an array; 0 is all
	plain bool // strings are made fit to be shown
}

// abridge cuts the strings and arrays of raw, one JSON value. A cut string
// ends in a sign that says how many bytes it had; everything else stays as it
// was written. The error says that raw is no JSON, or nests too deep.
func (b bound) abridge(raw []byte) ([]byte, error) {
	if len(raw) <= b.text && b.items == 0 && !b.plain {
		return raw, nil
	}
	dec := jsontext.NewDecoder(bytes.NewReader(raw), outgoing)
	var out bytes.Buffer
	enc := jsontext.NewEncoder(&out, outgoing)
	for {
		if err := b.step(dec, enc); err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
		}
	}
}

// step passes on one token.
func (b bound) step(dec *jsontext.Decoder, enc *jsontext.Encoder) error {
	if kind, n := dec.StackIndex(dec.StackDepth()); b.items > 0 && kind == jsontext.KindBeginArray && n >= int64(b.items) && dec.PeekKind() != jsontext.KindEndArray {
		return dec.SkipValue()
	}
	if dec.PeekKind() != jsontext.KindString {
		token, err := dec.ReadToken()
		if err != nil {
			return err
		}
		return enc.WriteToken(token)
	}
	value, err := dec.ReadValue()
	if err != nil {
		return err
	}
	return enc.WriteValue(b.string(value))
}

func (b bound) string(value jsontext.Value) jsontext.Value {
	if b.plain {
		return append(appendText([]byte{'"'}, plain.Text(string(unquote(value)), b.text)), '"')
	}
	if len(value) <= b.text+len(`""`) {
		return value
	}
	text := string(unquote(value))
	if len(text) <= b.text {
		return value
	}
	return cutText(text, b.text)
}

// cutText is the beginning of text, about max bytes, as JSON.
func cutText(text string, max int) jsontext.Value {
	n := min(max, len(text))
	for n > 0 && n < len(text) && text[n]&0xC0 == 0x80 { // inside a character
		n--
	}
	out := appendText([]byte{'"'}, text[:n])
	if n < len(text) {
		out = fmt.Appendf(out, "… (%d bytes)", len(text))
	}
	return append(out, '"')
}
