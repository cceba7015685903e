package rpc

import (
	"encoding/json" // the older package is the oracle and the floor here
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func isJSON(b []byte) bool {
	end, err := scanValue(b, 0, new(nesting))
	return err == nil && skipWS(b, end) == len(b)
}

func TestScan_NestingIsKeptBeyondTheNearPart(t *testing.T) {
	mixed := strings.Repeat(`{"a":[`, 600) + strings.Repeat(`]}`, 600)
	assert.True(t, isJSON([]byte(mixed)))
	assert.False(t, isJSON([]byte(strings.Repeat(`{"a":[`, 600)+strings.Repeat(`}]`, 600))))
	var open nesting
	_, err := scanValue([]byte(mixed), 0, &open)
	require.NoError(t, err)
	assert.Equal(t, 1200, open.deepest)
	assert.Zero(t, open.depth)
}

func FuzzScan(f *testing.F) {
	for _, seed := range []string{`{}`, `[]`, `{"a":[1,2.5e-3,-0,"x\u00e9\n",true,false,null]}`, `[1,]`, `{"a"}`, `01`, `1.`, `-`, `"\x"`, "\"\xff\"",
		`[[[[]]]]`, ` 1 `, `nul`, `nulL`, `{"a":1,}`, `"\u12g4"`, `"\u123`, `1e`, `1e+`, `{"a":1 "b":2}`, "[\x00]", "\"1234567\x1f89\"", `"12345678\`, `"1234567"x`, "\"\x7f\x80\"", `{"a":1]`, `[1}`, ""} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if tooDeepForOracle(b) {
			return
		}
		require.Equal(t, json.Valid(b), isJSON(b), "%q", b)
	})
}

func document(size int) []byte {
	var b strings.Builder
	b.WriteString(`{"jsonrpc":"2.0","id":1,"method":"echo","params":{"items":[`)
	for i := 0; b.Len() < size; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`{"name":"file_name.go","line":1234,"text":"some text, \"quoted\" and more","ok":true}`)
	}
	b.WriteString(`]}}`)
	return []byte(b.String())
}

// BenchmarkScan's floor is json.Valid, which picks no members.
func BenchmarkScan(b *testing.B) {
	small := []byte(request("12345", "echo", `{"text":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}`))
	for name, doc := range map[string][]byte{"100B": small, "10KB": document(10_000), "1MB": document(1_000_000)} {
		b.Run("envelope/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := scanEnvelope(doc, 0, new(nesting)); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("json.Valid/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			for b.Loop() {
				if !json.Valid(doc) {
					b.Fatal("not valid")
				}
			}
		})
	}
}
