package session

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/schema"
)

// Opening a session reads each of its turns, but wants little of them: the
// scan below finds that without decoding the rest. What it finds is checked.

var errShape = errors.New("a record is not of its shape")

// kindOf is a record's type.
func kindOf(record []byte) (string, error) {
	var kind string
	err := eachMember(record, func(name, value []byte) error {
		if string(name) == "t" {
			kind = word(value)
			return errFound
		}
		return nil
	})
	if err != nil && !errors.Is(err, errFound) {
		return "", err
	}
	return kind, nil
}

var errFound = errors.New("found")

// memberText is the text of an object's member; empty when there is none.
func memberText(record []byte, member string) (found string) {
	err := eachMember(record, func(name, value []byte) error {
		if string(name) == member {
			found = text(value)
		}
		return nil
	})
	if err != nil {
		return ""
	}
	return found
}

// scanTurn reads into t, of a turn's record, what a session keeps of a turn
// without a request key. The messages are the record's own bytes.
func scanTurn(t *schema.TurnRecord, record []byte) error {
	*t = schema.TurnRecord{Messages: t.Messages[:0]}
	keyed := false
	err := eachMember(record, func(name, value []byte) (err error) {
		switch string(name) {
		case "turn":
			t.Turn, err = strconv.Atoi(string(value))
		case "at":
			t.At = text(value)
		case "stopReason":
			if t.StopReason = schema.StopEndTurn; string(value) != endTurn {
				t.StopReason = schema.StopReason(text(value))
			}
		case "usage":
			err = scanUsage(&t.Usage, value)
		case "messages":
			err = scanMessages(t, value)
		case "spent":
			err = json.Unmarshal(value, &t.Spent)
		case "reminded":
			err = json.Unmarshal(value, &t.Reminded)
		case "key":
			keyed = true
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("%w: %w", errShape, err)
	}
	if keyed {
		return json.Unmarshal(record, t)
	}
	return nil
}

func scanUsage(u *schema.Usage, object []byte) error {
	return eachMember(object, func(name, value []byte) error {
		count := countOf(u, name)
		if count == nil {
			return nil
		}
		n, err := strconv.ParseInt(string(value), 10, 64)
		*count = &n
		return err
	})
}

func countOf(u *schema.Usage, name []byte) **int64 {
	switch string(name) {
	case "inputTokens":
		return &u.InputTokens
	case "outputTokens":
		return &u.OutputTokens
	case "cacheReadTokens":
		return &u.CacheReadTokens
	case "cacheWriteTokens":
		return &u.CacheWriteTokens
	case "reasoningTokens":
		return &u.ReasoningTokens
	case "totalTokens":
		return &u.TotalTokens
	}
	return nil
}

// endTurn is how nearly all turns end.
const endTurn = `"` + string(schema.StopEndTurn) + `"`

func scanMessages(t *schema.TurnRecord, list []byte) error {
	t.Messages = t.Messages[:0]
	return eachElement(list, func(m []byte) error {
		if err := provider.CheckMessage(m); err != nil {
			return err
		}
		t.Messages = append(t.Messages, m)
		return nil
	})
}

// word is text for a record's type.
func word(value []byte) string {
	if n := len(value); n >= 2 && value[0] == '"' && bytes.IndexByte(value, '\\') < 0 {
		return schema.RecordWord(value[1 : n-1])
	}
	return text(value)
}

// text is a JSON string's text; empty if it is none.
func text(value []byte) string {
	if n := len(value); n >= 2 && value[0] == '"' && bytes.IndexByte(value, '\\') < 0 {
		return string(value[1 : n-1])
	}
	var s string
	if json.Unmarshal(value, &s) != nil {
		return ""
	}
	return s
}

// eachMember visits an object's members. It finds where they begin and end;
// that they are valid is for those to check who use them.
func eachMember(object []byte, visit func(name, value []byte) error) error {
	return eachItem(object, '{', '}', func(b []byte) ([]byte, error) {
		nameEnd := valueEnd(b)
		if nameEnd < 2 || b[0] != '"' || nameEnd >= len(b) || b[nameEnd] != ':' {
			return nil, errShape
		}
		rest := b[nameEnd+1:]
		end := valueEnd(rest)
		if end == 0 {
			return nil, errShape
		}
		return rest[end:], visit(b[1:nameEnd-1], rest[:end:end])
	})
}

// eachElement visits an array's elements.
func eachElement(array []byte, visit func(value []byte) error) error {
	return eachItem(array, '[', ']', func(b []byte) ([]byte, error) {
		end := valueEnd(b)
		if end == 0 {
			return nil, errShape
		}
		return b[end:], visit(b[:end:end])
	})
}

// eachItem goes through what stands between two brackets, parted by commas,
// without white space. One takes an item and returns what stands behind it.
func eachItem(b []byte, opening, closing byte, one func([]byte) ([]byte, error)) error {
	if len(b) < 2 || b[0] != opening || b[len(b)-1] != closing {
		return errShape
	}
	b = b[1 : len(b)-1]
	for len(b) > 0 {
		rest, err := one(b)
		switch {
		case err != nil:
			return err
		case len(rest) == 0:
			return nil
		case rest[0] != ',' || len(rest) == 1:
			return errShape
		}
		b = rest[1:]
	}
	return nil
}

// valueEnd is how many bytes the value takes with which b begins; 0 when it
// doesn't end in b.
func valueEnd(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	switch b[0] {
	case '"':
		return stringEnd(b)
	case '{', '[':
		return nestedEnd(b)
	}
	if end := bytes.IndexAny(b, ",}]"); end >= 0 {
		return end
	}
	return len(b)
}

func stringEnd(b []byte) int {
	for i := 1; ; {
		at := bytes.IndexByte(b[i:], '"')
		if at < 0 {
			return 0
		}
		i += at
		escapes := 0
		for b[i-1-escapes] == '\\' {
			escapes++
		}
		i++
		if escapes%2 == 0 {
			return i
		}
	}
}

func nestedEnd(b []byte) int {
	depth := 0
	for i := 0; i < len(b); {
		switch b[i] {
		case '"':
			end := stringEnd(b[i:])
			if end == 0 {
				return 0
			}
			i += end
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return 0
}
