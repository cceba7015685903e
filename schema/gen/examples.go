package main

import "github.com/go-json-experiment/json/jsontext"

// pairing and value are the specification's Example Pairing and Example
// Objects.
type (
	pairing struct {
		Name   string  `json:"name"`
		Params []value `json:"params"`
		Result value   `json:"result"`
	}
	value struct {
		Name  string         `json:"name"`
		Value jsontext.Value `json:"value"`
	}
)

// examples show calls with what they are answered, by method.
var examples = map[string][]pairing{
	"prompt": {
		{"a turn of the default session", []value{{"input", jsontext.Value(`"Say hello."`)}}, turn(1, "Hello.", "")},
		{"a turn with an injector of the request's own choice",
			[]value{
				{"sessionId", jsontext.Value(`"s1"`)},
				{"input", jsontext.Value(`[{"type":"text","text":"List two primes."}]`)},
				{"instructionInjectors", jsontext.Value(`["json-always"]`)},
			},
			turn(2, "[2,3]", `{"name":"json-always","origin":"config","placement":"system","when":"every_turn","bytes":22,"sha256":"9e4c3b4d1e06b6a4aa1a8d8a35a9a2ae0a4a1b1f1ad2d7bd9cf9bd1ac9d8c6f5"}`)},
	},
	"followUp": {
		{"a turn behind the running one", []value{{"input", jsontext.Value(`"And in French?"`)}}, turn(3, "Bonjour.", "")},
	},
}

func turn(number byte, text, injected string) value {
	return value{"TurnResult", jsontext.Value(`{"sessionId":"s1","runId":"4fPqWz1A","turn":` + string('0'+number) +
		`,"committed":true,"stopReason":"end_turn","message":{"role":"assistant","content":[{"type":"text","text":"` + text +
		`"}]},"usage":{"inputTokens":12,"outputTokens":3,"totalTokens":15},"injected":[` + injected + `]}`)}
}
