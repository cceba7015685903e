package upstream

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A problem is what an error body says, in whichever of the shapes in use:
// {"error":{"message","code","type"}}, {"error":"text"}, {"message"},
// {"detail"}, a list of one of these, or no JSON at all.
type problem struct {
	status  int // a numeric code
	codes   string
	message string
}

func parseProblem(body []byte) problem {
	var v jsontext.Value
	if err := json.Unmarshal(body, &v, Lenient); err != nil {
		return problem{message: string(body)}
	}
	return problemOf(v, 0)
}

// problemOf reads v, an error or something that holds one.
func problemOf(v jsontext.Value, depth int) problem {
	switch {
	case depth > 3:
	case v.Kind() == jsontext.KindString:
		return problem{message: text(v)}
	case v.Kind() == jsontext.KindBeginArray:
		var list []jsontext.Value
		if json.Unmarshal(v, &list, Lenient) == nil && len(list) > 0 {
			return problemOf(list[0], depth+1)
		}
	case v.Kind() == jsontext.KindBeginObject:
		return problemOfObject(v, depth)
	}
	return problem{message: shown(v)}
}

func problemOfObject(v jsontext.Value, depth int) problem {
	var o struct {
		Error   jsontext.Value `json:"error"`
		Message jsontext.Value `json:"message"`
		Detail  jsontext.Value `json:"detail"`
		Code    jsontext.Value `json:"code"`
		Type    jsontext.Value `json:"type"`
		Status  jsontext.Value `json:"status"`
	}
	if err := json.Unmarshal(v, &o, Lenient); err != nil {
		return problem{message: shown(v)}
	}
	if present(o.Error) {
		return problemOf(o.Error, depth+1)
	}
	p := problem{codes: strings.ToLower(text(o.Code) + " " + text(o.Type) + " " + text(o.Status))}
	for _, code := range []jsontext.Value{o.Code, o.Status} {
		if n, ok := Count(code); ok && n >= 100 && n < 600 && p.status == 0 {
			p.status = int(n)
		}
	}
	switch {
	case present(o.Message):
		p.message = text(o.Message)
	case present(o.Detail):
		p.message = text(o.Detail)
	default:
		p.message = shown(v)
	}
	return p
}

func present(v jsontext.Value) bool { return len(v) > 0 && v.Kind() != jsontext.KindNull }

// text is a string's text, and any other value as shown has it.
func text(v jsontext.Value) string {
	var s string
	if v.Kind() == jsontext.KindString && json.Unmarshal(v, &s, Lenient) == nil {
		return s
	}
	return shown(v)
}

// shown is a value with its strings spelt in the usual way, since no secret is
// found in one whose letters are escaped.
func shown(v jsontext.Value) string {
	v = v.Clone()
	if err := v.Format(Lenient, jsontext.PreserveRawStrings(false)); err != nil {
		return ""
	}
	return string(v)
}

// names tells whether the problem's code or type holds one of the words.
func (p problem) names(words ...string) bool { return containsAny(p.codes, words) }

// says tells whether code, type or message hold one of the phrases.
func (p problem) says(phrases ...string) bool {
	return p.names(phrases...) || containsAny(strings.ToLower(p.message), phrases)
}

func (p problem) namesLength() bool {
	return p.says("context_length", "context length", "context window", "context limit", "context size", "context_size", "maximum context",
		"too many tokens", "prompt is too long", "input is too long", "reduce the length")
}

func (p problem) namesPolicy() bool {
	return p.says("content_policy", "content_filter", "content policy", "content management policy", "usage policies", "safety system")
}

func containsAny(s string, words []string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// MaxCount is the largest integer that every reader of JSON keeps exactly.
const MaxCount = 1 << 53

// Count reads a number of tokens or the like: an integer from 0 to 2^53.
func Count(v jsontext.Value) (int64, bool) {
	var f float64
	if v.Kind() != jsontext.KindNumber || json.Unmarshal(v, &f) != nil {
		return 0, false
	}
	n := int64(f)
	return n, f >= 0 && f <= MaxCount && float64(n) == f
}
