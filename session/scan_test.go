package session

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/schema"
)

var turnRecords = []string{
	`{"v":1,"t":"turn","turn":1,"runId":"r","at":"2026-01-01T00:00:00.000Z","stopReason":"end_turn","usage":{},"injected":[],"messages":[{"role":"user","content":"a\"b\\"},{"role":"assistant","content":""}]}`,
	`{"v":1,"t":"turn","turn":12,"runId":"r","at":"x","model":"m{}","stopReason":"cancelled","usage":{"inputTokens":5},"injected":[{"name":"]}","origin":"config"}],"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]}`,
	`{"v":1,"t":"turn","turn":2,"runId":"r","at":"x","stopReason":"end_turn","usage":{},"injected":[],"key":"k","params":"p","spent":[3,7],"messages":[]}`,
	`{"v":1,"t":"turn","turn":3,"runId":"r","at":"x","stopReason":"end_turn","usage":{},"injected":[],"spent":[3,7],"messages":[]}`,
	`{"v":1,"t":"turn","turn":1}`,
	`{}`, `{"`, `{"a"}`, `{"a":}`, `{"a":1,}`, `[]`, ``, `{"messages":[{"role":"tool","content":"x"}]}`, `{"turn":1.5}`, `{"turn":"1"}`,
	`{"messages":[{"role":"user","content":"` + "\xff" + `"}]}`, `{"messages":[{"role":"user","content":"a","x":1}]}`, `{"usage":{"inputTokens":"x"}}`, `{"a":{"b":[1,{"c":"}"}]},"turn":3}`, `{"turn":1,"messages":[,]}`, `{"turn":1,"spent":["x"]}`,
	`{"messages":[{"role":"user","content":[{"type":"image","mimeType":"image/gif","sha256":"0f","bytes":-1}]}]}`, `{"messages":[{"role":"user","content":[{"type":"image","bytes":"x"}]}]}`,
}

// What is found without decoding is what decoding finds.
func FuzzScanTurn(f *testing.F) {
	for _, r := range turnRecords {
		f.Add([]byte(r))
	}
	f.Fuzz(func(t *testing.T, record []byte) {
		var got schema.TurnRecord
		err := scanTurn(&got, record)
		var want schema.TurnRecord
		if !jsontext.Value(record).IsValid() || json.Unmarshal(record, &want) != nil || strings.ContainsAny(string(record), " \t\n\r") {
			return // must only not panic
		}
		for _, m := range want.Messages {
			if _, derr := provider.DecodeMessage(m); derr != nil {
				require.Error(t, err)
				return
			}
		}
		if err != nil {
			return // stricter about what a store never holds
		}
		assert.Equal(t, want.Turn, got.Turn)
		assert.Equal(t, len(want.Messages), len(got.Messages))
		for i := range got.Messages {
			assert.Equal(t, string(want.Messages[i]), string(got.Messages[i]))
		}
	})
}

func TestScanTurnTakesWhatIsWritten(t *testing.T) {
	for _, record := range turnRecords[:4] {
		got := schema.TurnRecord{StopReason: "of another", Messages: make([]jsontext.Value, 3)}
		err := scanTurn(&got, []byte(record))
		require.NoError(t, err, record)
		var want schema.TurnRecord
		require.NoError(t, json.Unmarshal([]byte(record), &want))
		assert.Equal(t, want.Turn, got.Turn)
		assert.Equal(t, want.At, got.At)
		assert.Equal(t, want.StopReason, got.StopReason)
		assert.Equal(t, want.Usage, got.Usage)
		assert.Equal(t, want.Key, got.Key)
		assert.Equal(t, want.Spent, got.Spent)
		assert.Equal(t, len(want.Messages), len(got.Messages))
	}
	for _, record := range turnRecords[6:10] {
		err := scanTurn(&schema.TurnRecord{}, []byte(record))
		assert.Error(t, err, record)
	}
}

func TestKindOf(t *testing.T) {
	for record, want := range map[string]string{
		`{"v":1,"t":"turn","turn":1}`: "turn",
		`{"v":1,"t":"st\u0061rted"}`:  "started",
		`{"v":1}`:                     "",
		`{"t":5}`:                     "",
	} {
		got, err := kindOf([]byte(record))
		require.NoError(t, err)
		assert.Equal(t, want, got, record)
	}
	_, err := kindOf([]byte(`nonsense`))
	assert.ErrorIs(t, err, errShape)
}
