package redact

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// JSON returns raw, one valid JSON value, with the strings and object keys in
// it redacted as they read decoded; everything else, numbers too, stays byte
// for byte. It returns raw itself when there is nothing to remove. Of keys of one
// object that redaction makes equal, all but the first get a further marker and
// a number at their end, since strict decoders refuse a key twice. What has a
// broken string in it, and so is not JSON, is redacted as Text does.
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
	r.tellApart(text, edits)
	var out []byte
	kept := 0
	for _, e := range edits {
		out = append(out, text[kept:e.start]...)
		// An error would be about bytes that are no UTF-8; there are none.
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
func (r *Redactor) tellApart(text string, edits []edit) {
	kept := keysKept(text, edits)
	if kept == nil {
		return
	}
	names := keyNames{r: r, kept: kept, numbers: map[string]int{}}
	s := tokens{text: text}
	for s.next() {
		switch last := len(names.objects) - 1; {
		case s.kind == '{':
			names.objects = append(names.objects, map[string]bool{})
		case s.kind == '}' && last >= 0:
			names.objects = names.objects[:last]
		case len(edits) > 0 && s.start == edits[0].start:
			if e := &edits[0]; e.key && last >= 0 {
				e.text = names.unused(e.text)
			}
			edits = edits[1:]
		}
	}
}

// keyNames are those that the keys of a text have got.
type keyNames struct {
	r       *Redactor
	kept    map[string]bool   // those that were not redacted
	objects []map[string]bool // those that were, by the objects that are open
	numbers map[string]int    // the last that was given, by the key without it
}

// unused is key, or key with a number, whichever the open object has not yet.
// Numbers go on through the whole text, so that none is tried twice.
func (n *keyNames) unused(key string) string {
	object := n.objects[len(n.objects)-1]
	name := key
	for n.kept[name] || object[name] || name != key && n.r.Contains(name) {
		n.numbers[key]++
		name = numbered(key, n.numbers[key])
	}
	object[name] = true
	return name
}

// numbered adds a marker to key, so that a number stands alone behind it, as
// the second one needs.
func numbered(key string, number int) string {
	if key += marker; number > 1 {
		key += strconv.Itoa(number)
	}
	return key
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

// decoded is what the string says, as UTF-8. An escape that JSON doesn't have
// breaks s.
func (s *tokens) decoded() string {
	literal := s.text[s.start:s.end]
	if strings.IndexByte(literal, '\\') < 0 && utf8.ValidString(literal) {
		return literal[1 : len(literal)-1]
	}
	out, err := jsontext.AppendUnquote(nil, literal)
	if err != nil { // also for lone surrogates and what is no UTF-8, which it replaces
		s.broken = !jsontext.Value(literal).IsValid(jsontext.AllowInvalidUTF8(true))
	}
	return string(out)
}

// key tells whether the string is the key of an object.
func (s *tokens) key() bool {
	return strings.HasPrefix(strings.TrimLeft(s.text[s.end:], " \t\r\n"), ":")
}
