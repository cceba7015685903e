package sse

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type read struct{ name, data string }

func readAll(in io.Reader, max int) ([]read, error) {
	r := NewReader(in, max)
	var events []read
	for {
		e, err := r.Next()
		if err != nil {
			return events, err
		}
		events = append(events, read{e.Name, string(e.Data)})
	}
}

func TestReader(t *testing.T) {
	big := strings.Repeat("x", 3<<20)
	for name, row := range map[string]struct {
		in   string
		want []read
	}{
		"an empty stream holds nothing":          {"", nil},
		"one event":                              {"data: a\n\n", []read{{"", "a"}}},
		"lines end in CRLF":                      {"data: a\r\n\r\ndata: b\r\n\r\n", []read{{"", "a"}, {"", "b"}}},
		"lines end in CR":                        {"data: a\r\rdata: b\r\r", []read{{"", "a"}, {"", "b"}}},
		"line ends of three kinds":               {"data: a\r\n\ndata: b\n\rdata: c\r\r\n", []read{{"", "a"}, {"", "b"}, {"", "c"}}},
		"comments are no events":                 {": keep-alive\n\n:\n\ndata: a\n: inside\n\n", []read{{"", "a"}}},
		"data of several lines":                  {"data: a\ndata:\ndata: b\n\n", []read{{"", "a\n\nb"}}},
		"an empty data line is an event":         {"data:\n\n", []read{{"", ""}}},
		"one space after the colon is dropped":   {"data:a\n\ndata:  b\n\n", []read{{"", "a"}, {"", " b"}}},
		"a name is of its event alone":           {"event: error\ndata: a\n\ndata: b\n\nevent: lost\n\ndata: c\n\n", []read{{"error", "a"}, {"", "b"}, {"", "c"}}},
		"a byte order mark at the start":         {"\xEF\xBB\xBFdata: a\n\n", []read{{"", "a"}}},
		"a byte order mark later is not dropped": {"data: a\n\n\xEF\xBB\xBFdata: b\n\n", []read{{"", "a"}}},
		"other fields":                           {"id: 1\nretry: 10\nfoo\ndata: a\n\n", []read{{"", "a"}}},
		"no blank line at the end":               {"data: a\n\ndata: b", []read{{"", "a"}, {"", "b"}}},
		"many blank lines":                       {"\n\n\r\n\ndata: a\n\n\n\n\n", []read{{"", "a"}}},
		"3 MB in one event":                      {"data: " + big + "\n\n", []read{{"", big}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readAll(strings.NewReader(row.in), 8<<20)
			assert.ErrorIs(t, err, io.EOF)
			assert.Equal(t, row.want, got)
			if len(row.in) < 1000 {
				got, err = readAll(iotest.OneByteReader(strings.NewReader(row.in)), 8<<20)
				assert.ErrorIs(t, err, io.EOF)
				assert.Equal(t, row.want, got, "one byte at a time (T5)")
			}
		})
	}
}

func TestAnEventPastTheBoundIsRefused(t *testing.T) {
	for name, in := range map[string]string{
		"in one line":              "data: " + strings.Repeat("x", 101) + "\n\n",
		"in a line without an end": strings.Repeat("x", 10_000),
		"in many lines":            strings.Repeat("data: 123456789\n", 11) + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readAll(strings.NewReader(in), 100)
			assert.ErrorIs(t, err, ErrTooLong)
		})
	}
	got, err := readAll(strings.NewReader("data: "+strings.Repeat("x", 99)+"\n\n"), 100)
	require.ErrorIs(t, err, io.EOF)
	assert.Len(t, got, 1)
}

func TestAnEventThatAnErrorCutIsDropped(t *testing.T) {
	broken := errors.New("reset")
	in := io.MultiReader(strings.NewReader("data: a\n\ndata: b\nda"), iotest.ErrReader(broken))
	got, err := readAll(in, 100)
	assert.ErrorIs(t, err, broken)
	assert.Equal(t, []read{{"", "a"}}, got)
}

// An event is out before the stream says anything more: the source here blocks
// for ever after its first one.
func TestAnEventDoesNotWaitForTheNext(t *testing.T) {
	for _, end := range []string{"\n\n", "\r\n\r\n", "\r\r"} {
		in, out := io.Pipe()
		go func() { _, _ = io.WriteString(out, "data: a"+end) }() // ends with the read of its bytes
		e, err := NewReader(in, 100).Next()
		require.NoError(t, err)
		assert.Equal(t, "a", string(e.Data))
	}
}

func FuzzSSE(f *testing.F) {
	for _, seed := range []string{
		"", "data: a\n\n", "data: a\r\n\r\n", "data: a\r\rdata: b\r\n\n", "\xEF\xBB\xBFdata:x\n\n", ":\n\n", "data\n\n", "event: e\ndata: \xe2\x82\n\n",
		"data: a\r", "\r\n\r\n", "data: a\ndata: b", "\xEF\xBB", "data: a\n\xEF\xBB\xBF\n", "data:\x00\n\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		whole, errWhole := readAll(strings.NewReader(in), 64)
		bytewise, errBytewise := readAll(iotest.OneByteReader(strings.NewReader(in)), 64)
		if errors.Is(errWhole, ErrTooLong) || errors.Is(errBytewise, ErrTooLong) {
			return // where a line without an end is given up depends on how it arrives
		}
		assert.Equal(t, whole, bytewise)
		for _, e := range whole {
			assert.LessOrEqual(t, len(e.data), 64)
		}
	})
}
