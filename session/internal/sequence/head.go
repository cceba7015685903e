package sequence

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-rpc/prism-rpc/schema"
)

var lenient = jsontext.AllowInvalidUTF8(true)

// A head is what a log's rules need of a record.
type head struct {
	schema.RecordHead
	Turn int `json:"turn"`
}

// parseHead finds the head without decoding what follows it: opening a session
// of 10,000 messages would else be twenty times slower. Heads that are spelled
// differently from how schema encodes them are decoded.
func parseHead(record []byte) (head, error) {
	if h, ok := scanHead(record); ok {
		return h, nil
	}
	var h head
	if err := json.Unmarshal(record, &h, lenient); err != nil {
		return h, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	if h.T == "" {
		return h, fmt.Errorf("%w: it has no type", ErrRecord)
	}
	return h, nil
}

// scanHead reads {"v":1,"t":"turn","turn":7 and what stands before it. Other
// records than a turn's and a compaction's may do without their turn: it is 0
// then.
func scanHead(record []byte) (h head, ok bool) {
	rest, ok := bytes.CutPrefix(record, []byte(`{"v":`))
	if !ok {
		return h, false
	}
	if h.V, rest, ok = scanInt(rest); !ok {
		return h, false
	}
	if rest, ok = bytes.CutPrefix(rest, []byte(`,"t":"`)); !ok {
		return h, false
	}
	end := bytes.IndexFunc(rest, func(r rune) bool { return r < 'a' || r > 'z' })
	if end <= 0 || rest[end] != '"' {
		return h, false
	}
	h.T, rest = schema.RecordWord(rest[:end]), rest[end+1:]
	h.Turn, ok = scanTurn(rest)
	return h, ok || h.T != schema.RecordTurn && h.T != schema.RecordCompaction
}

// scanTurn reads ,"turn":7 where that is a member whole.
func scanTurn(rest []byte) (turn int, ok bool) {
	if rest, ok = bytes.CutPrefix(rest, []byte(`,"turn":`)); !ok {
		return 0, false
	}
	turn, rest, ok = scanInt(rest)
	if !ok || len(rest) == 0 || rest[0] != ',' && rest[0] != '}' {
		return 0, false
	}
	return turn, true
}

// scanInt reads up to nine digits without a leading zero.
func scanInt(b []byte) (n int, rest []byte, ok bool) {
	i := 0
	for ; i < len(b) && i < 9 && b[i] >= '0' && b[i] <= '9'; i++ {
		n = n*10 + int(b[i]-'0')
	}
	return n, b[i:], i > 0 && (b[0] != '0' || i == 1)
}
