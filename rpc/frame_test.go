package rpc

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// headed puts each message into a frame with headers.
func headed(messages ...string) string {
	var b strings.Builder
	for _, m := range messages {
		fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(m), m)
	}
	return b.String()
}

// unframe cuts output with headers into its messages. It is strict.
func unframe(t *testing.T, out string) []string {
	t.Helper()
	var messages []string
	for out != "" {
		head, rest, ok := strings.Cut(out, "\r\n\r\n")
		require.True(t, ok, out)
		digits, ok := strings.CutPrefix(head, "Content-Length: ")
		require.True(t, ok, "the first header: %q", head)
		n, err := strconv.Atoi(digits)
		require.NoError(t, err)
		require.LessOrEqual(t, n, len(rest))
		messages, out = append(messages, rest[:n]), rest[n:]
	}
	return messages
}

// inBothFramings sends one message in each framing.
func inBothFramings(t *testing.T, o connOptions, message string, check func(replies []string)) {
	t.Helper()
	t.Run("lines", func(t *testing.T) { check(lines(t, o, message)) })
	t.Run("headers", func(t *testing.T) { check(unframe(t, talk(t, o, headed(message)))) })
}

const ping1, ping2, ping3 = `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":2,"method":"ping"}`, `{"jsonrpc":"2.0","id":3,"method":"ping"}`

const pong1, pong2, pong3 = `1 {}`, `2 {}`, `3 {}`

// brief shortens replies to id and result, or id, code and kind.
func brief(t *testing.T, replies []string) []string {
	t.Helper()
	var out []string
	for _, r := range replies {
		rest, ok := strings.CutPrefix(r, replyHead)
		require.True(t, ok, r)
		id, body, ok := strings.Cut(rest, ",\"")
		require.True(t, ok, r)
		if value, ok := strings.CutPrefix(body, `result":`); ok {
			out = append(out, id+" "+strings.TrimSuffix(value, "}"))
			continue
		}
		_, code, _ := strings.Cut(body, `"code":`)
		code, _, _ = strings.Cut(code, ",")
		_, kind, _ := strings.Cut(body, `"kind":"`)
		kind, _, _ = strings.Cut(kind, `"`)
		out = append(out, id+" "+code+" "+kind)
	}
	return out
}

const (
	unparsed = "null -32700 parse_error"
	invalid  = "null -32600 invalid_request"
)

func TestLines(t *testing.T) {
	cases := map[string]struct {
		input string
		want  []string
	}{
		"T3: CRLF":                            {ping1 + "\r\n" + ping2 + "\r\n", []string{pong1, pong2}},
		"T3: blank lines":                     {"\n\r\n \t\n" + ping1 + "\n\n\n" + ping2, []string{pong1, pong2}},
		"T3: blanks around":                   {" \t" + ping1 + "\t \n", []string{pong1}},
		"T3: a byte order mark":               {"\uFEFF" + ping1 + "\n", []string{pong1}},
		"a byte order mark and a blank line":  {"\uFEFF\r\n" + ping1 + "\n", []string{pong1}},
		"a second byte order mark":            {"\uFEFF\uFEFF" + ping1 + "\n" + ping2, []string{unparsed, pong2}},
		"half a byte order mark":              {"\xEF\xBB", []string{unparsed}},
		"no newline at the end":               {ping1 + "\n" + ping2, []string{pong1, pong2}},
		"nothing":                             {"", nil},
		"only blanks":                         {" \r\n\t", nil},
		"T2: a cut line":                      {ping1[:30] + "\n" + ping2 + "\n", []string{unparsed, pong2}},
		"T2: a line cut at a comma":           {`{"jsonrpc":"2.0",` + "\n" + ping2 + "\n", []string{unparsed, pong2}},
		"T2: a line cut in a string":          {`{"jsonrpc":"2.` + "\n" + ping2 + "\n", []string{unparsed, pong2}},
		"half a line at the end":              {ping1 + "\n" + ping2[:20], []string{pong1, unparsed}},
		"two values on a line":                {ping1 + ping2 + "\n" + ping3, []string{unparsed, pong3}},
		"a value over three lines":            {"{\"jsonrpc\":\"2.0\",\n\"id\":1,\n\"method\":\"ping\"}\n" + ping3, []string{unparsed, unparsed, unparsed, pong3}},
		"a CR inside a line is a blank":       {strings.ReplaceAll(ping1, ",", ",\r") + "\n", []string{pong1}},
		"a raw newline in a string":           {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pi\nng\"}\n", []string{unparsed, unparsed}},
		"NUL":                                 {"\x00\n" + ping1, []string{unparsed, pong1}},
		"bytes that are not UTF-8":            {strings.Replace(ping1, "ping", "p\xffng", 1) + "\n" + ping2, []string{unparsed, pong2}},
		"a surrogate in UTF-8":                {strings.Replace(ping1, "ping", "p\xed\xa0\x80ng", 1) + "\n" + ping2, []string{unparsed, pong2}},
		"a scalar":                            {"1\n\"x\"\nnull\n" + ping1, []string{invalid, invalid, invalid, pong1}},
		"a header once lines have begun":      {ping1 + "\nContent-Length: 3\n" + ping2, []string{pong1, unparsed, pong2}},
		"lines that begin with another C are": {"42\n" + ping1, []string{invalid, pong1}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, brief(t, lines(t, testOptions(), tc.input)))
		})
		t.Run(name+", byte by byte (T5)", func(t *testing.T) {
			out := talkFrom(t, testOptions(), iotest.OneByteReader(strings.NewReader(tc.input)))
			assert.Equal(t, tc.want, brief(t, splitLines(t, out)))
		})
	}
}

func TestHeaders(t *testing.T) {
	odd := func(head, body string) string { return head + "\r\n\r\n" + body }
	n := strconv.Itoa(len(ping1))
	const tooLarge = "null -32600 frame_too_large"
	cases := map[string]struct {
		input string
		want  []string
	}{
		"two frames":                        {headed(ping1, ping2), []string{pong1, pong2}},
		"lower case":                        {odd("content-length: "+n, ping1), []string{pong1}},
		"no blank behind the colon":         {odd("Content-Length:"+n, ping1), []string{pong1}},
		"other headers":                     {odd("Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: "+n, ping1), []string{pong1}},
		"LF alone":                          {"Content-Length: " + n + "\n\n" + ping1, []string{pong1}},
		"a newline behind a frame":          {headed(ping1) + "\r\n\n" + headed(ping2), []string{pong1, pong2}},
		"a newline that was counted":        {headed(ping1+"\n", ping2), []string{pong1, pong2}},
		"a value over lines":                {headed("{\n\"jsonrpc\":\"2.0\",\r\n\"id\":1,\"method\":\"ping\"}", ping2), []string{pong1, pong2}},
		"a byte order mark":                 {"\uFEFF" + headed(ping1), []string{pong1}},
		"an empty frame":                    {headed("", ping2), []string{unparsed, pong2}},
		"a blank frame":                     {headed(" \n", ping2), []string{unparsed, pong2}},
		"two values in a frame":             {headed(ping1+ping2, ping3), []string{unparsed, pong3}},
		"bad JSON":                          {headed(ping1[:20], ping2), []string{unparsed, pong2}},
		"no length":                         {odd("Content-Type: x", ping1) + headed(ping2), []string{unparsed, pong2}},
		"no length, and a newline":          {odd("Content-Type: x", ping1) + "\n" + headed(ping2), []string{unparsed, pong2}},
		"a bad length":                      {odd("Content-Length: 4x", ping1) + headed(ping2), []string{unparsed, pong2}},
		"a negative length":                 {odd("Content-Length: -1", ping1) + headed(ping2), []string{unparsed, pong2}},
		"a signed length":                   {odd("Content-Length: +"+n, ping1) + headed(ping2), []string{unparsed, pong2}},
		"a length beyond 64 bits":           {odd("Content-Length: 99999999999999999999", ping1) + headed(ping2), []string{unparsed, pong2}},
		"two lengths":                       {odd("Content-Length: 3\r\nContent-Length: "+n, ping1) + headed(ping2), []string{unparsed, pong2}},
		"the same length twice":             {odd("Content-Length: "+n+"\r\nContent-Length: "+n, ping1) + headed(ping2), []string{pong1, pong2}},
		"a line between frames":             {headed(ping1) + ping2 + "\n" + headed(ping3), []string{pong1, unparsed, pong3}},
		"junk longer than any buffer":       {headed(ping1) + strings.Repeat("junk ", 50000) + headed(ping3), []string{pong1, "null -32600 header_too_large", pong3}},
		"a length inside another header":    {odd("Content-Type: Content-Length: 3\r\nContent-Length: "+n, ping1), []string{pong1}},
		"headers that never end":            {"Content-Length: 5\r\n" + strings.Repeat("X-Pad: "+strings.Repeat("x", 100)+"\r\n", 200) + headed(ping2), []string{"null -32600 header_too_large", pong2}},
		"one header that never ends":        {"Content-Type: " + strings.Repeat("x", 1<<20) + "\r\n" + headed(ping2), []string{"null -32600 header_too_large", pong2}},
		"half a frame at the end":           {headed(ping1) + headed(ping2)[:50], []string{pong1, unparsed}},
		"half the headers at the end":       {headed(ping1) + "Content-Length: 7", []string{pong1, unparsed}},
		"headers and nothing else":          {"Content-Length: 7\r\n\r\n", []string{unparsed}},
		"a huge length and nothing else":    {"Content-Length: 60000000\r\n\r\n{", []string{unparsed}},
		"a frame over the limit":            {headed(strings.Repeat("x", 65<<20), ping2), []string{tooLarge, pong2}},
		"a frame over the limit, and a cut": {"Content-Length: 70000000\r\n\r\nxxx", []string{tooLarge}},
		"only a C":                          {"C", []string{unparsed}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out := talk(t, testOptions(), tc.input)
			assert.Equal(t, tc.want, brief(t, unframe(t, out)))
		})
		if len(tc.input) > 1<<16 {
			continue
		}
		t.Run(name+", byte by byte (T5)", func(t *testing.T) {
			out := talkFrom(t, testOptions(), iotest.OneByteReader(strings.NewReader(tc.input)))
			assert.Equal(t, tc.want, brief(t, unframe(t, out)))
		})
	}
}

func TestFraming_CanBeSaidBeforehand(t *testing.T) {
	o := testOptions()
	o.framing = FramingHeaders
	assert.Equal(t, []string{unparsed, pong2}, brief(t, unframe(t, talk(t, o, ping1+"\n"+headed(ping2)))))
	o.framing = FramingLines
	assert.Equal(t, []string{unparsed, pong2}, brief(t, lines(t, o, "Content-Length: 3\n"+ping2)))
}

func TestFraming_IsKnownOnceInputHasShownIt(t *testing.T) {
	o := testOptions()
	var shown Framing
	var c *conn
	o.methods["framing"] = func(*call, []byte) (reply, error) { shown = c.framing(); return reply{}, nil }
	c = newConn(strings.NewReader(headed(`{"jsonrpc":"2.0","id":1,"method":"framing"}`)), io.Discard, o)
	require.NoError(t, c.serve(t.Context()))
	assert.Equal(t, FramingHeaders, shown)
}

func TestFrameLimit_IsExact(t *testing.T) {
	o := testOptions()
	o.limits.maxFrame = 200
	fits := request("1", "ping", `["`+strings.Repeat("x", 200-len(request("1", "ping", `[""]`)))+`"]`)
	require.Len(t, fits, 200)
	over := strings.Replace(fits, "xx", "xxx", 1)
	const limited = `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid request: the message has more than 200 bytes","data":{"kind":"frame_too_large","limit":200}}}`
	assert.Equal(t, []string{result("1", "{}"), limited, result("1", "{}"), limited},
		lines(t, o, fits+"\n"+over+"\n"+fits+"\r\n"+over))
	assert.Equal(t, []string{result("1", "{}"), limited, result("1", "{}")}, unframe(t, talk(t, o, headed(fits, over, fits))))
}

// repeating yields a line of n times x between head and tail without holding it.
func repeating(head string, n int64, tail string) io.Reader {
	return io.MultiReader(strings.NewReader(head), io.LimitReader(endless{}, n), strings.NewReader(tail))
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// T7: what is too large is dropped as it comes, not held.
func TestT7_FrameOverTheLimitTakesNoMemory(t *testing.T) {
	const size = 50 << 20
	for name, in := range map[string]io.Reader{
		"a line":  repeating(`{"jsonrpc":"2.0","id":1,"method":"`, size, "\"}\n"+ping2+"\n"),
		"a frame": repeating("Content-Length: "+strconv.Itoa(size)+"\r\n\r\n", size, headed(ping2)),
	} {
		t.Run(name, func(t *testing.T) {
			o := testOptions()
			o.limits.maxFrame = 1 << 20
			var out bytes.Buffer
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			require.NoError(t, newConn(in, &out, o).serve(t.Context()))
			runtime.ReadMemStats(&after)
			assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(40<<20))
			assert.Contains(t, out.String(), `"kind":"frame_too_large","limit":1048576`)
			assert.Contains(t, out.String(), result("2", "{}"))
			assert.Less(t, out.Len(), 1000, "it is not echoed")
		})
	}
}

func TestT7_LargeFramesAreServed(t *testing.T) {
	for _, size := range []int{64 << 10, 64<<10 + 1, 1 << 20, 8 << 20, 50 << 20} {
		value := `["` + strings.Repeat("x", size) + `"]`
		o := testOptions()
		o.limits.maxMessage = 1 << 30
		inBothFramings(t, o, request("1", "echo", value), func(replies []string) {
			require.Len(t, replies, 1)
			assert.True(t, replies[0] == result("1", value), "%d bytes", size)
		})
	}
}

func FuzzFraming(f *testing.F) {
	for _, seed := range []string{"Content-Length: 3\r\n\r\n", "C", "{", "\xEF\xBB\xBF", "\xEF", "\r\n\r\n", "content-length:", "Content-Length: 9007199254740993\r\n\r\n", "[[[[", "\n\x00\n"} {
		f.Add([]byte(seed), uint8(3))
	}
	f.Fuzz(func(t *testing.T, input []byte, step uint8) {
		whole, wholeEnd := cut(bytes.NewReader(input))
		parts, partsEnd := cut(iotest.OneByteReader(bytes.NewReader(input)))
		assert.Equal(t, whole, parts, "how the bytes arrive changes nothing")
		assert.Equal(t, wholeEnd, partsEnd)
		assert.ErrorIs(t, wholeEnd, io.EOF)
	})
}

// cut lists the frames of r, bad ones by the kind of their answer.
func cut(r io.Reader) (found []string, end error) {
	fr := newFrames(r, FramingAuto, 100, func(Framing) {})
	for {
		frame, err := fr.next()
		if bad, ok := err.(*wireError); ok {
			found = append(found, bad.Data.(errorData).Kind)
			continue
		}
		if err != nil {
			return found, err
		}
		found = append(found, "="+string(frame))
	}
}
