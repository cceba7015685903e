package rpc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/prism-rpc/prism-rpc/redact"
)

// tracedLine is one line of a trace.
type tracedLine struct {
	At      time.Time      `json:"at"`
	Dir     string         `json:"dir"`
	Bytes   int            `json:"bytes"`
	Msg     jsontext.Value `json:"msg"`
	Dropped int            `json:"dropped"`
}

// traceOf is what input leaves in the trace, as "in MSG" and "out MSG".
func traceOf(t *testing.T, o connOptions, input string) (short []string, lines []tracedLine) {
	t.Helper()
	var trace bytes.Buffer
	o.trace = &trace
	talk(t, o, input)
	return readTrace(t, trace.String())
}

func readTrace(t *testing.T, trace string) (short []string, lines []tracedLine) {
	t.Helper()
	for _, raw := range splitLines(t, trace) {
		var line tracedLine
		require.NoError(t, json.Unmarshal([]byte(raw), &line), raw)
		short, lines = append(short, line.Dir+" "+string(line.Msg)), append(lines, line)
	}
	return short, lines
}

func secrets(t *testing.T, values ...string) *redact.Redactor {
	t.Helper()
	var known []redact.Value
	for _, v := range values {
		known = append(known, redact.Value{Secret: redact.NewSecret(v)})
	}
	red, err := redact.New(known...)
	require.NoError(t, err)
	return red
}

func TestTrace_HasEachMessageBothWays(t *testing.T) {
	o := testOptions()
	o.methods["say"] = func(*call, []byte) (reply, error) { return reply{result: 1}, nil }
	for name, tc := range map[string]struct{ input, framing string }{
		"lines":   {input: ping1 + "\r\n\n" + array(ping2, ping3) + "\nnonsense\n"},
		"headers": {input: headed(ping1) + headed(array(ping2, ping3)) + headed("nonsense")},
	} {
		t.Run(name, func(t *testing.T) {
			short, lines := traceOf(t, o, tc.input)
			assert.ElementsMatch(t, []string{
				"in " + ping1, "out " + result("1", "{}"),
				"in " + array(ping2, ping3), "out " + array(result("2", "{}"), result("3", "{}")),
				`in "nonsense"`, "out " + string(lines[len(lines)-1].Msg),
			}, short)
			for _, l := range lines {
				assert.NotZero(t, l.At)
				if l.Dir == "out" {
					assert.Equal(t, len(l.Msg), l.Bytes)
				}
			}
		})
	}
}

func TestTrace_DeltasAreAsTheyWereWritten(t *testing.T) {
	var trace bytes.Buffer
	tr := startTracer(&trace, nil, zap.NewNop())
	got := sendQueued(t, FramingHeaders, func(s *events, w *writer) {
		w.trace = tr
		require.NoError(t, s.send(delta("a", "1", "x")))
		require.NoError(t, s.send(delta("a", "1", "y")))
		require.NoError(t, w.reply([]byte(`{}`)))
		require.NoError(t, w.reply([]byte(`"`+strings.Repeat("l", 2*chunkSize)+`"`)))
	})
	tr.stop()
	short, lines := readTrace(t, trace.String())
	require.Len(t, lines, len(got))
	assert.Equal(t, "out "+got[0], short[0])
	assert.Equal(t, "out {}", short[1])
	assert.Equal(t, 2*chunkSize+2, lines[2].Bytes)
}

func TestTrace_MessagesOfSeveralLinesAreOnOne(t *testing.T) {
	short, _ := traceOf(t, testOptions(), headed("{\n \"jsonrpc\": \"2.0\",\r\n \"id\": 1.50,\n \"method\": \"pi\\u006eg\"\n}\n"))
	assert.Equal(t, `in {"jsonrpc":"2.0","id":1.50,"method":"pi\u006eg"}`, short[0])
}

func TestTrace_LongStringsAreCut(t *testing.T) {
	long := strings.Repeat("é", 9000)
	short, lines := traceOf(t, testOptions(), request("1", "echo", `["`+long+`"]`))
	for i, s := range short {
		assert.Contains(t, s, strings.Repeat("é", maxTraceText/2)+"… (18000 bytes)")
		assert.Greater(t, lines[i].Bytes, len(long))
	}
	short, _ = traceOf(t, testOptions(), strings.Repeat("x", 9000))
	assert.Equal(t, `in "`+strings.Repeat("x", maxTraceText)+`… (9000 bytes)"`, short[0])
	short, _ = traceOf(t, testOptions(), strings.Repeat("[", 20_000)+strings.Repeat("]", 20_000))
	assert.Equal(t, `in "`+strings.Repeat("[", maxTraceText)+`… (40000 bytes)"`, short[0])
}

// S2: no secret gets into the trace, wherever it stands.
func TestTrace_S2_IsRedacted(t *testing.T) {
	const known, told = "canary-known-1", "canary-told-22"
	const hidden = "in " + hiddenMessage
	for name, tc := range map[string]struct{ input, want string }{
		"a known value":                 {request("1", "echo", `["`+known+`",{"`+known+`":1}]`), `in ` + request("1", "echo", `["[REDACTED]",{"[REDACTED]":1}]`)},
		"in a line that is no message":  {`{"a":"` + known + `"`, `in "{\"a\":\"[REDACTED]\""`},
		"escaped in such a line":        {`{"a":"canary-\u006bnown-1`, hidden},
		"told in such a line":           {`{"params":{"redact":[{"value":"` + told + `"`, hidden},
		"an escape in such a line":      {`{"a":"\u0061`, `in "{\"a\":\"\\u0061"`},
		"of initialize":                 {request("1", "initialize", `{"clientInfo":"`+told+`","initializationOptions":{"redact":[{"name":"N","value":"`+told+`"}]}}`), `in ` + request("1", "initialize", `{"clientInfo":"[REDACTED:N]","initializationOptions":{"redact":[{"name":"N","value":"[REDACTED:N]"}]}}`)},
		"of initialize, by _meta":       {request("1", "initialize", `{"_meta":{"prism":{"redact":[{"value":"`+told+`"}]}}}`), `in ` + request("1", "initialize", `{"_meta":{"prism":{"redact":[{"value":"[REDACTED]"}]}}}`)},
		"of a prompt":                   {request("1", "prompt", `{"input":"`+told+`","redact":[{"value":"`+told+`"}]}`), `in ` + request("1", "prompt", `{"input":"[REDACTED]","redact":[{"value":"[REDACTED]"}]}`)},
		"of a prompt, by an odd name":   {request("1", "prompt", `{"input":"`+told+`","re\u0064act":[{"value":"`+told+`"}]}`), `in ` + request("1", "prompt", `{"input":"[REDACTED]","re\u0064act":[{"value":"[REDACTED]"}]}`)},
		"in a batch":                    {array(ping1, request("2", "prompt", `{"input":"`+told+`","redact":[{"value":"`+told+`"}]}`)), `in ` + array(ping1, request("2", "prompt", `{"input":"[REDACTED]","redact":[{"value":"[REDACTED]"}]}`))},
		"in a message after that":       {request("1", "prompt", `{"redact":[{"value":"`+told+`"}]}`) + "\n" + request("2", "echo", `["`+told+`"]`), ``},
		"of a wrong shape":              {request("1", "prompt", `{"redact":"`+told+`"}`), hidden},
		"of a wrong field":              {request("1", "prompt", `{"redact":[{"secret":"`+told+`"}]}`), hidden},
		"of a wrong shape of all":       {request("1", "prompt", `[{"redact":[{"value":"`+told+`"}]}]`), hidden},
		"an odd name in such a shape":   {request("1", "prompt", `[{"\u0072edact":[{"value":"`+told+`"}]}]`), hidden},
		"named twice":                   {request("1", "prompt", `{"redact":[{"value":"`+told+`"}],"redact":[]}`), hidden},
		"beside one that is too short":  {request("1", "prompt", `{"redact":[{"value":"`+told+`"},{"value":"x"}]}`), hidden},
		"where redact is no parameter":  {request("1", "echo", `{"metadata":{"redact":"a"}}`), `in ` + request("1", "echo", `{"metadata":{"redact":"a"}}`)},
		"and null is no value":          {request("1", "prompt", `{"redact":null}`), `in ` + request("1", "prompt", `{"redact":null}`)},
		"a value in a longer string":    {request("1", "echo", `["`+strings.Repeat("x", maxTraceText-4)+known+`"]`), ``},
		"a value that params repeat":    {request("1", "echo", `["`+known+known+`"]`), ``},
		"a value in the method's name":  {request("1", known, `{}`), ``},
		"a value in an id":              {request(`"`+known+`"`, "ping", `{}`), ``},
		"a value after the end of JSON": {ping1 + known, ``},
	} {
		t.Run(name, func(t *testing.T) {
			o := testOptions()
			o.methods["initialize"], o.methods["prompt"] = ping, ping
			o.redactor = secrets(t, known)
			o.describe = func(err error) *wireError { return &wireError{Code: -1, Message: "m"} }
			short, _ := traceOf(t, o, tc.input)
			all := strings.Join(short, "\n")
			assert.NotContains(t, all, "canary")
			assert.NotContains(t, all, known[:6])
			if tc.want != "" {
				assert.Equal(t, tc.want, short[0])
			}
		})
	}
}

func TestTrace_ValuesBeyondABoundHideTheirMessages(t *testing.T) {
	tr := &tracer{}
	values := func(from, n int) []byte {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf(`{"value":"secret-%08d"}`, from+i))
		}
		return []byte(`{"params":{"redact":[` + strings.Join(list, ",") + `]}}`)
	}
	for i := range 16 {
		assert.True(t, tr.learn(values(256*i, 256)))
	}
	assert.True(t, tr.learn(values(0, 256)), "known ones cost nothing")
	assert.False(t, tr.learn(values(5000, 1)))
}

type failingWriter struct{ writes int }

func (w *failingWriter) Write([]byte) (int, error) {
	w.writes++
	return 0, errors.New("disk full")
}

func TestTrace_AFailingWriterIsLoggedOnceAndDropped(t *testing.T) {
	core, logs := observer.New(zap.WarnLevel)
	o := testOptions()
	w := new(failingWriter)
	o.trace, o.logger = w, zap.New(core)
	assert.Len(t, lines(t, o, strings.Join(repeated(100), "\n")), 100)
	assert.Equal(t, 1, w.writes)
	assert.Equal(t, 1, logs.Len())
}

func TestTrace_AWriterThatBlocksHoldsUpNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		o := testOptions()
		o.trace = w
		start := time.Now()
		assert.Len(t, lines(t, o, strings.Join(repeated(1000), "\n")), 1000)
		assert.LessOrEqual(t, time.Since(start), traceEnd)
		r.Close() // lets its goroutine end
	})
}

func TestTrace_WhatItCantKeepUpWithIsCounted(t *testing.T) {
	r, w := io.Pipe()
	tr := startTracer(w, nil, zap.NewNop())
	tr.in([]byte("1"))
	line := make([]byte, 1)
	_, err := r.Read(line) // its goroutine is in a write
	require.NoError(t, err)
	large := []byte(`"` + strings.Repeat("x", maxTraceQueue/2) + `"`)
	for range 5 {
		tr.in(large)
	}
	tr.mu.Lock()
	assert.LessOrEqual(t, tr.bytes, maxTraceQueue)
	assert.Equal(t, 4, tr.dropped)
	tr.mu.Unlock()
	var got bytes.Buffer
	var reading sync.WaitGroup
	reading.Go(func() { _, _ = io.Copy(&got, r) })
	for tr.queued() > 0 {
		runtime.Gosched()
	}
	tr.in([]byte("2"))
	tr.stop()
	<-tr.done
	w.Close()
	reading.Wait()
	assert.Contains(t, got.String(), "\n"+`{"dropped":4}`+"\n")
}

func (t *tracer) queued() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.bytes
}

func BenchmarkTrace(b *testing.B) {
	message := []byte(request("1", "echo", `{"text":"`+strings.Repeat("a", 1000)+`"}`))
	b.Run("floor: nil", func(b *testing.B) {
		var t *tracer
		for b.Loop() {
			t.in(message)
		}
	})
	b.Run("line", func(b *testing.B) {
		t := &tracer{}
		b.SetBytes(int64(len(message)))
		b.ReportAllocs()
		for b.Loop() {
			_ = t.line(&traced{in: true, message: message})
		}
	})
}
