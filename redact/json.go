package redact

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// JSON returns raw, one valid JSON value, with the strings and object keys in
// it redacted as they read decoded; everything else, numbers too, stays byte
// for byte. It returns raw itself when there is nothing to remove. Keys of one
// object that redaction makes equal get further markers at their end, since
// strict decoders refuse a key twice. What has a broken string in it, and so
// is not JSON, is redacted as Text does.
func (r *Redactor) JSON(raw []byte, t *Tally) []byte {
	if r.empty() {
		return raw
	}
	text := string(raw)
	edits, ok := r.edits(text, t)
	if !ok {
		return r.bytes(raw, text, t)
	}
	if len(edits) == 0 {
		return raw
	}
	tellApart(text, edits)
	var out []byte
	kept := 0
	for _, e := range edits {
		out = append(out, text[kept:e.start]...)
		// The error is about bytes that are no UTF-8, which it replaces.
		out, _ = jsontext.AppendQuote(out, e.text)
		kept = e.end
	}
	return append(out, text[kept:]...)
}

func (r *Redactor) bytes(raw []byte, text string, t *Tally) []byte {
	if out := r.Text(text, t); out != text {
		return []byte(out)
	}
	return raw
}

// An edit replaces the string literal from start to before end by the encoded
// text.
type edit struct {
	start, end int
	text       string
	key        bool
}

// edits redacts the strings of text. Not ok means that text is not JSON; then
// nothing was counted.
func (r *Redactor) edits(text string, t *Tally) (edits []edit, ok bool) {
	var counted Tally
	s := tokens{text: text}
	for s.next() {
		if s.kind != '"' {
			continue
		}
		decoded := s.decoded()
		if redacted := r.Text(decoded, &counted); redacted != decoded {
			edits = append(edits, edit{s.start, s.end, redacted, s.key()})
		}
	}
	if s.broken {
		return nil, false
	}
	t.Add(&counted)
	return edits, true
}

// tellApart makes redacted keys differ within their objects.
func tellApart(text string, edits []edit) {
	taken := keysKept(text, edits)
	if taken == nil {
		return
	}
	var objects []map[string]bool
	s := tokens{text: text}
	for s.next() {
		switch last := len(objects) - 1; {
		case s.kind == '{':
			objects = append(objects, map[string]bool{})
		case s.kind == '}' && last >= 0:
			objects = objects[:last]
		case len(edits) > 0 && s.start == edits[0].start:
			if e := &edits[0]; e.key && last >= 0 {
				e.text = unused(e.text, taken, objects[last])
				objects[last][e.text] = true
			}
			edits = edits[1:]
		}
	}
}

// keysKept gives the decoded keys that stay and look redacted, or nil when no
// key was redacted.
func keysKept(text string, edits []edit) map[string]bool {
	if !slices.ContainsFunc(edits, func(e edit) bool { return e.key }) {
		return nil
	}
	kept := map[string]bool{}
	s := tokens{text: text}
	for s.next() {
		if len(edits) > 0 && s.start == edits[0].start {
			edits = edits[1:]
			continue
		}
		if s.kind == '"' && s.key() {
			if key := s.decoded(); strings.Contains(key, markerStart) {
				kept[key] = true
			}
		}
	}
	return kept
}

// unused adds markers to key until it differs. They, unlike a number, can't
// be found to be a value.
func unused(key string, taken ...map[string]bool) string {
	for taken[0][key] || taken[1][key] {
		key += marker
	}
	return key
}

// tokens goes through the strings and the braces of a JSON text.
type tokens struct {
	text       string
	kind       byte // '"', '{' or '}'
	start, end int
	broken     bool // by a string that is none; then next is false
}

func (s *tokens) next() bool {
	for s.start = s.end; s.start < len(s.text) && !s.broken; s.start++ {
		switch s.kind = s.text[s.start]; s.kind {
		case '{', '}':
			s.end = s.start + 1
			return true
		case '"':
			return s.close()
		}
	}
	s.end = s.start
	return false
}

// close finds the end of the string that begins at start.
func (s *tokens) close() bool {
	for i := s.start + 1; i < len(s.text); i++ {
		switch s.text[i] {
		case '\\':
			i++
		case '"':
			s.end = i + 1
			return true
		}
	}
	s.broken = true
	return false
}

// decoded is what the string says. An escape that JSON doesn't have breaks s.
func (s *tokens) decoded() string {
	literal := s.text[s.start:s.end]
	if strings.IndexByte(literal, '\\') < 0 {
		return literal[1 : len(literal)-1]
	}
	out, err := jsontext.AppendUnquote(nil, literal)
	if err != nil { // also for lone surrogates, which it replaces
		s.broken = !jsontext.Value(literal).IsValid(jsontext.AllowInvalidUTF8(true))
	}
	return string(out)
}

// key tells whether the string is the key of an object.
func (s *tokens) key() bool {
	return strings.HasPrefix(strings.TrimLeft(s.text[s.end:], " \t\r\n"), ":")
}
