package upstream

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// UsageDetails are the parts of a count of tokens, as OpenAI's APIs report
// them; what isn't there is empty.
type UsageDetails struct {
	Cached    jsontext.Value `json:"cached_tokens"`
	Reasoning jsontext.Value `json:"reasoning_tokens"`
}

// UsageDetailsOf reads them. A report that makes no sense counts as not made.
func UsageDetailsOf(raw jsontext.Value) (d UsageDetails) {
	if raw.Kind() == jsontext.KindBeginObject && json.Unmarshal(raw, &d, Lenient) != nil {
		return UsageDetails{}
	}
	return d
}
