package redact_test

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"

	"github.com/prism-rpc/prism-rpc/redact"
)

func TestS3JSON(t *testing.T) {
	r := redactor(t, value("", `p"ss/w+rd`), value("k", "abcdefgh"), value("", "12345678"), value("", "s\uFFFDcret-value"))
	for name, c := range map[string]struct{ in, want string }{
		"a string":                       {`"abcdefgh"`, `"[REDACTED:k]"`},
		"a value":                        {`{"a": "x abcdefgh" }`, `{"a": "x [REDACTED:k]" }`},
		"a key":                          {`{"abcdefgh" : 1}`, `{"[REDACTED:k]" : 1}`},
		"an escaped value":               {`["p\"ss\/w\u002Brd"]`, `["[REDACTED]"]`},
		"what is around stays as it is":  {"[ 1.0e5 ,\n\"\\u00e9\\/\",\"abcdefgh\", -0]", "[ 1.0e5 ,\n\"\\u00e9\\/\",\"[REDACTED:k]\", -0]"},
		"the rest of the string":         {`"é\n\u00e9 abcdefgh \"q\""`, `"é\né [REDACTED:k] \"q\""`},
		"JSON in a string":               {`"{\"a\":\"p\\\"ss/w+rd\"}"`, `"{\"a\":\"[REDACTED]\"}"`},
		"a number is no string":          {`[12345678]`, `[12345678]`},
		"over two strings is none":       {`["abcd","efgh"]`, `["abcd","efgh"]`},
		"a lone surrogate beside it":     {`"\ud800abcdefgh"`, "\"\uFFFD[REDACTED:k]\""},
		"keys that become equal":         {`{"abcdefgh":1,"abcdefghabcdefgh":2,"o":{"abcdefgh":3}}`, `{"[REDACTED:k]":1,"[REDACTED:k][REDACTED]":2,"o":{"[REDACTED:k]":3}}`},
		"keys that become equal anew":    {`{"abcdefgh":1,"-abcdefgh":2,"abcdefghabcdefgh":3,"\u0061bcdefgh":4,"[REDACTED:k][REDACTED]":5}`, `{"[REDACTED:k]":1,"-[REDACTED:k]":2,"[REDACTED:k][REDACTED]2":3,"[REDACTED:k][REDACTED]3":4,"[REDACTED:k][REDACTED]":5}`},
		"what is no UTF-8, as decoded":   {"{\"\xffabcdefgh\":\"\xfe\",\"\xfeabcdefgh\":\"s\xffcret-value\"}", "{\"\uFFFD[REDACTED:k]\":\"\xfe\",\"\uFFFD[REDACTED:k][REDACTED]\":\"[REDACTED]\"}"},
		"a key that is a marker already": {`{"abcdefgh":1,"[REDACTED:k]":2}`, `{"[REDACTED:k][REDACTED]":1,"[REDACTED:k]":2}`},
		"not JSON: as text":              {`{"abcdefgh`, `{"[REDACTED:k]`},
		"a bad escape: as text":          {`"\x abcdefgh"`, `"\x [REDACTED:k]"`},
	} {
		t.Run(name, func(t *testing.T) {
			got := string(r.JSON([]byte(c.in), nil))
			assert.Equal(t, c.want, got)
			assert.Equal(t, got, string(r.JSON([]byte(got), nil)), "redacting twice changes nothing")
		})
	}
}

func TestS4JSONWithoutSecretsIsTheSame(t *testing.T) {
	r := redactor(t, value("", "abcdefgh"))
	for _, text := range []string{``, `null`, `{"a":"\u0061\ud800","a":[1e400]}`, `"`, `nonsense`, "\"\xff\""} {
		raw := []byte(text)
		got := r.JSON(raw, nil)
		assert.Equal(t, text, string(got))
		assert.Same(t, unsafe.SliceData(raw), unsafe.SliceData(got), "not copied")
	}
}

func TestJSONNumbersManyEqualKeys(t *testing.T) {
	r := redactor(t, value("k", "abcdefgh"), short("", "2"))
	var in strings.Builder
	for i := range 5_000 {
		fmt.Fprintf(&in, `,"abcdefgh":%d`, i)
	}
	out := r.JSON([]byte("{"+in.String()[1:]+"}"), nil)
	assert.True(t, jsontext.Value(out).IsValid(), "no key twice")
	assert.Equal(t, string(out), string(r.JSON(out, nil)), "redacting twice changes nothing")
	assert.Less(t, len(out), 5_000*len(`"[REDACTED:k][REDACTED]5000":5000,`))
}

func TestJSONLeavesItsInput(t *testing.T) {
	raw := []byte(`{"a":"abcdefgh"}`)
	var tally redact.Tally
	redactor(t, value("k", "abcdefgh")).JSON(raw, &tally)
	assert.Equal(t, `{"a":"abcdefgh"}`, string(raw))
	assert.Equal(t, []redact.Count{{Name: "k", Count: 1}}, tally.Counts())
}
