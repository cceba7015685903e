package predicate

import (
	"iter"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-rpc/prism-rpc/schema"
)

// Bounds of what an expression sees of a turn; what is beyond is cut off.
const (
	maxText     = 256 << 10
	MaxMessages = 100 // of history
	maxParts    = 1000
)

// Facts are what a turn's expressions may ask about.
type Facts struct {
	Input     []schema.ContentBlock // the fresh input
	Turn      int                   // from 1
	Step      int                   // from 1
	SessionID string
	Metadata  jsontext.Value                  // an object, or nothing
	Trivial   bool                            // what package trivial says of the input
	Recent    func() iter.Seq[schema.Message] // the last messages of the dialogue, MaxMessages at most; nil: none
}

// A Turn is what the expressions of one turn share: facts, worked out when one
// asks, and time. It is for one goroutine.
type Turn struct {
	facts Facts
	left  time.Duration

	input, content             *string
	foldedInput, foldedContent *string
	kinds, paths, history      []any
	metadata                   map[string]any
}

// NewTurn is a turn of which all evaluations together may take so long.
func NewTurn(facts Facts, budget time.Duration) *Turn {
	return &Turn{facts: facts, left: budget}
}

// A variable is a name that expressions know.
type variable struct {
	name   string
	kind   kind
	of     kind
	get    func(*Turn) (any, error)
	folded func(*Turn) (string, error)
}

var variables = [...]variable{
	{name: "input", kind: text, get: boxed((*Turn).inputText), folded: (*Turn).inputFolded},
	{name: "content", kind: text, get: boxed((*Turn).contentText), folded: (*Turn).contentFolded},
	{name: "kinds", kind: list, of: text, get: boxed((*Turn).kindList)},
	{name: "paths", kind: list, of: text, get: boxed((*Turn).pathList)},
	{name: "turn", kind: number, get: func(t *Turn) (any, error) { return float64(t.facts.Turn), nil }},
	{name: "step", kind: number, get: func(t *Turn) (any, error) { return float64(t.facts.Step), nil }},
	{name: "sessionId", kind: text, get: func(t *Turn) (any, error) { return t.facts.SessionID, nil }},
	{name: "metadata", kind: object, get: boxed((*Turn).metadataObject)},
	{name: "history", kind: list, of: message, get: boxed((*Turn).historyList)},
	{name: "trivial", kind: boolean, get: func(t *Turn) (any, error) { return t.facts.Trivial, nil }},
}

func boxed[T any](get func(*Turn) (T, error)) func(*Turn) (any, error) {
	return func(t *Turn) (any, error) { return get(t) }
}

func variableNames() []string {
	out := make([]string, len(variables))
	for i, v := range variables {
		out[i] = v.name
	}
	return out
}

// cut is the beginning of s that is at most so many bytes and ends between two
// characters.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// kept makes *place of get the first time.
func kept(place **string, get func() (string, error)) (string, error) {
	if *place == nil {
		s, err := get()
		if err != nil {
			return "", err
		}
		*place = &s
	}
	return **place, nil
}

func (t *Turn) inputText() (string, error) {
	return kept(&t.input, func() (string, error) { return cut(schema.PlainText(t.facts.Input), maxText), nil })
}

func (t *Turn) contentText() (string, error) {
	return kept(&t.content, func() (string, error) {
		raw, err := json.Marshal(t.facts.Input, jsontext.AllowInvalidUTF8(true))
		return cut(string(raw), maxText), err
	})
}

func (t *Turn) inputFolded() (string, error) {
	return kept(&t.foldedInput, func() (string, error) { return folding(t.inputText()) })
}

func (t *Turn) contentFolded() (string, error) {
	return kept(&t.foldedContent, func() (string, error) { return folding(t.contentText()) })
}

func folding(s string, err error) (string, error) { return fold(s), err }

// kindList is the kind of each block of the input.
func (t *Turn) kindList() ([]any, error) {
	if t.kinds == nil {
		t.kinds = []any{}
		for _, b := range t.facts.Input[:min(len(t.facts.Input), maxParts)] {
			t.kinds = append(t.kinds, b.Type)
		}
	}
	return t.kinds, nil
}

// pathList is where the links and resources of the input lead.
func (t *Turn) pathList() ([]any, error) {
	if t.paths != nil {
		return t.paths, nil
	}
	t.paths = []any{}
	room := maxText
	for _, b := range t.facts.Input {
		uri := b.URI
		if b.Resource != nil {
			uri = b.Resource.URI
		}
		if room -= len(uri); room < 0 || len(t.paths) == maxParts {
			break
		}
		if uri != "" {
			t.paths = append(t.paths, pathOf(uri))
		}
	}
	return t.paths, nil
}

// pathOf is the decoded path of a URI, without query and fragment.
func pathOf(uri string) string {
	if u, err := url.Parse(uri); err == nil && u.Path != "" {
		return u.Path
	}
	end := strings.IndexAny(uri, "?#")
	if end < 0 {
		return uri
	}
	return uri[:end]
}

// metadataObject is empty where the turn has none.
func (t *Turn) metadataObject() (map[string]any, error) {
	if t.metadata == nil {
		got := map[string]any{}
		if t.facts.Metadata.Kind() == jsontext.KindBeginObject {
			if err := json.Unmarshal(t.facts.Metadata, &got, jsontext.AllowInvalidUTF8(true)); err != nil {
				return nil, err
			}
		}
		t.metadata = got
	}
	return t.metadata, nil
}

// said is a message of the dialogue.
type said struct{ role, text string }

// historyList is the dialogue in order, of which the newest 256 KiB are kept.
func (t *Turn) historyList() ([]any, error) {
	if t.history != nil {
		return t.history, nil
	}
	t.history = []any{}
	if t.facts.Recent == nil {
		return t.history, nil
	}
	messages := slices.Collect(t.facts.Recent())
	messages = messages[max(0, len(messages)-MaxMessages):]
	room := maxText
	for _, m := range slices.Backward(messages) {
		s := said{string(m.Role), cut(schema.PlainText(m.Content), room)}
		room -= len(s.text)
		t.history = append(t.history, s)
		if room == 0 {
			break
		}
	}
	slices.Reverse(t.history)
	return t.history, nil
}
